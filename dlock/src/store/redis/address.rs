//! Where a server listens.

use std::fmt;
use std::sync::Arc;

/// A host name or IP address, and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub(crate) host: Arc<str>,
    pub(crate) port: u16,
}

impl Address {
    pub(crate) fn new(host: &str, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
        }
    }

    /// Reads `host:port` out of a redirect that came from `asked`. A server that does not know its
    /// own address leaves the host empty, which means: the server that was asked. `?` means unknown.
    pub(crate) fn of_redirect(text: &str, asked: &Self) -> Option<Self> {
        // The last colon: IPv6 addresses come without brackets.
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok()?;
        match host {
            "?" => None,
            "" => Some(Self {
                host: Arc::clone(&asked.host),
                port,
            }),
            host => Some(Self::new(host, port)),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn a_redirect_may_leave_the_host_out() {
        let asked = Address::new("10.0.0.1", 7000);
        for (text, address) in [
            ("10.0.0.2:7001", Some("10.0.0.2:7001")),
            (":7001", Some("10.0.0.1:7001")),
            ("::1:7001", Some("[::1]:7001")),
            ("?:7001", None),
            ("10.0.0.2", None),
            ("10.0.0.2:x", None),
        ] {
            let read = Address::of_redirect(text, &asked).map(|address| address.to_string());
            assert_eq!(read.as_deref(), address, "{text}");
        }
    }
}
