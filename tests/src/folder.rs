//! A temporary folder and the watchdog that cleans up after a killed test.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::prefix::unique_prefix;

/// Reads process ids from its input, one a line, an empty line for "it has ended". When the input ends,
/// so has the test: kill what still runs and remove the folder. An input pipe works however the test
/// process dies; a parent-death signal would fire as soon as the *thread* that started a server ends.
const WATCHDOG: &str = r#"
trap '' INT TERM HUP
pid=
while read -r line; do pid=$line; done
[ -z "$pid" ] || kill -KILL "$pid"
rm -rf "$1"
"#;

/// A folder for one server's files, with a watchdog process.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    watchdog: Child,
}

impl Folder {
    pub(crate) fn create() -> Self {
        let path = std::env::temp_dir().join(format!("dlock-{}", unique_prefix()));
        std::fs::create_dir(&path).expect("the temporary folder can be created");
        let watchdog = Command::new("sh")
            .args(["-c", WATCHDOG, "dlock-watchdog"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A terminal's ctrl-C goes to the whole group; the watchdog must outlive the test.
            .process_group(0)
            .spawn()
            .expect("sh starts");
        Self { path, watchdog }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// From now on, `pid` dies with the test process.
    pub(crate) fn watch(&mut self, pid: u32) {
        self.tell(&pid.to_string());
    }

    /// To be called before the watched process is reaped: after that, its id may belong to another.
    pub(crate) fn unwatch(&mut self) {
        self.tell("");
    }

    fn tell(&mut self, line: &str) {
        let input = self
            .watchdog
            .stdin
            .as_mut()
            .expect("the watchdog has an input");
        writeln!(input, "{line}").expect("the watchdog listens");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        // Nothing to do about a failure here: the folder stays behind.
        let _ = self.watchdog.wait();
    }
}
