//! The tool in a terminal.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::unix::fs::OpenOptionsExt,
    process::{Child, Command},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::{
    fs::OFlags,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

/// Columns and rows.
pub(crate) type Size = (u16, u16);

pub(crate) const SMALL: Size = (80, 24);
pub(crate) const LARGE: Size = (120, 40);

/// The tool, and the keyboard and screen that it runs at.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    pub(crate) fn start(arguments: &[&str], (columns, rows): Size) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).expect("it is ours");
        unlockpt(&ours).expect("it is ours");
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&ours, size).expect("it has a size");
        let name = ptsname(&ours, Vec::new()).expect("it has a name");
        let theirs = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlags::NOCTTY.bits().cast_signed())
            .open(name.to_str().expect("a path"))
            .expect("the other end opens");
        let copy = || theirs.try_clone().expect("a file handle can be copied");
        let child = Command::new(dlock_tests::dlock_tool())
            .args(arguments)
            .stdin(copy())
            .stdout(copy())
            .stderr(copy())
            .spawn()
            .expect("it starts");
        let keyboard = File::from(ours);
        let screen = Arc::default();
        let watched = keyboard.try_clone().expect("a file handle can be copied");
        let seen = Arc::clone(&screen);
        std::thread::spawn(move || watch(watched, &seen));
        Self {
            child,
            keyboard,
            screen,
        }
    }

    /// Presses keys; at a terminal that no program has open they go nowhere.
    pub(crate) fn press(&mut self, keys: &str) {
        let _ = self.keyboard.write_all(keys.as_bytes());
    }

    /// What was written to the screen so far.
    pub(crate) fn shown(&self) -> String {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&screen).into_owned()
    }

    /// Whether the tool has ended; it must not fail.
    pub(crate) fn ended(&mut self) -> bool {
        let status = self.child.try_wait().expect("a child can be waited for");
        if let Some(status) = status {
            assert!(status.success(), "{status}: {}", self.shown());
        }
        status.is_some()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended already unless the test fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads until no program has the terminal open any more.
fn watch(mut terminal: File, seen: &Mutex<Vec<u8>>) {
    let mut part = [0; 4096];
    while let Ok(len @ 1..) = terminal.read(&mut part) {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.extend_from_slice(&part[..len]);
    }
}
