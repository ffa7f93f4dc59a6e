//! What is told while a command runs.

use serde_json::{Value, json};

/// Tells what happens, on stderr: everything as JSON, only trouble as text.
#[derive(Debug, Clone)]
pub(super) struct Events {
    key: String,
    json: bool,
}

impl Events {
    pub(super) fn new(key: &str, json: bool) -> Self {
        Self {
            key: key.to_owned(),
            json,
        }
    }

    pub(super) fn held(&self, token: u64, waited_ms: u64) {
        if self.json {
            self.print("held", &json!({"token": token, "waited_ms": waited_ms}));
        }
    }

    pub(super) fn lost(&self) {
        self.trouble(
            "lost",
            "the lease was lost or cannot be renewed; stopping the command",
        );
    }

    pub(super) fn killed(&self) {
        self.trouble("killed", "the command did not end in time and was killed");
    }

    pub(super) fn release_failed(&self, error: &dlock::Error) {
        self.trouble("release_failed", &error.to_string());
    }

    pub(super) fn ended(&self, exit: u8) {
        if self.json {
            self.print("ended", &json!({"exit": exit}));
        }
    }

    fn trouble(&self, event: &str, message: &str) {
        if self.json {
            self.print(event, &json!({"message": message}));
        } else {
            eprintln!("dlock: {}: {message}", self.key);
        }
    }

    fn print(&self, event: &str, more: &Value) {
        let mut line = json!({"event": event, "key": self.key});
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        eprintln!("{line}");
    }
}
