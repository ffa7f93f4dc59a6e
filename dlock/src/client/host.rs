//! What this process is called when nobody named it.

/// `<host name>:<process id>`, the host name cut to 16 characters.
pub(crate) fn name_and_pid() -> String {
    let uname = rustix::system::uname();
    let host: String = uname
        .nodename()
        .to_string_lossy()
        .chars()
        .take(16)
        .collect();
    format!("{host}:{}", std::process::id())
}
