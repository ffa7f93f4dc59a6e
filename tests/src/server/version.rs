//! Which server the tests run on. The library must not ask that; the harness may.

use std::{process::Command, sync::OnceLock};

/// The executable that `DLOCK_REDIS_SERVER` names, or `redis-server`.
pub(super) fn program() -> std::ffi::OsString {
    std::env::var_os("DLOCK_REDIS_SERVER").unwrap_or_else(|| "redis-server".into())
}

/// Major and minor version. Valkey went on counting where it left Redis, at 7.2, so they can be compared.
pub(crate) fn version() -> (u32, u32) {
    static VERSION: OnceLock<(u32, u32)> = OnceLock::new();
    *VERSION.get_or_init(|| {
        let output = Command::new(program()).arg("--version").output();
        let text = match output {
            Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
            // If no server can be started, the test that starts it says why.
            Err(_) => return (0, 0),
        };
        parse(&text).unwrap_or_else(|| panic!("no version in {text:?}"))
    })
}

/// Of a text such as `Redis server v=7.0.15 sha=…`.
fn parse(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split_once(" v=")?.1.split('.');
    let mut number = || numbers.next()?.parse().ok();
    Some((number()?, number()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_are_read() {
        for (text, version) in [
            ("Redis server v=6.2.14 sha=40305114:0 malloc=libc", (6, 2)),
            ("Valkey server v=8.1.1 sha=00000000:0 bits=64", (8, 1)),
        ] {
            assert_eq!(super::parse(text), Some(version));
        }
        assert_eq!(super::parse("no server"), None);
    }
}
