//! Clients of servers that cannot be trusted.

use std::sync::mpsc;
use std::time::Duration;

use dlock::{Client, ClientBuilder, Error};
use dlock_tests::{Lie, builder, scaled, unique_prefix};

pub(crate) const RETRY: Duration = Duration::from_millis(1200);

pub(crate) fn settings(url: &str) -> ClientBuilder {
    builder(url, &unique_prefix())
        .retry_for(scaled(RETRY))
        .response_timeout(scaled(RETRY / 3))
}

/// The outcome of connecting, on a thread of its own: one that never comes back fails the test.
pub(crate) fn connect_in_time(builder: ClientBuilder) -> Result<Client, Error> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let outcome = runtime.expect("a runtime").block_on(builder.build());
        // If it took too long, the test has ended.
        let _ = sender.send(outcome);
    });
    let limit = scaled(RETRY + Duration::from_secs(3));
    receiver.recv_timeout(limit).expect("connecting ends")
}

/// What a server says it is.
pub(crate) fn hello(mode: &str) -> Lie {
    let pairs = [
        "$6\r\nserver\r\n$5\r\nredis\r\n".to_owned(),
        "$7\r\nversion\r\n$6\r\n7.0.15\r\n".to_owned(),
        "$5\r\nproto\r\n:3\r\n".to_owned(),
        format!("$4\r\nmode\r\n${}\r\n{mode}\r\n", mode.len()),
        "$4\r\nrole\r\n$6\r\nmaster\r\n".to_owned(),
    ];
    Lie::Say(format!("%{}\r\n{}", pairs.len(), pairs.concat()))
}

/// An answer to `CLUSTER SLOTS`.
pub(crate) fn slots(ranges: &[(u16, u16, &str, u16)]) -> Lie {
    let range = |(first, last, host, port): &(u16, u16, &str, u16)| {
        let length = host.len();
        format!("*3\r\n:{first}\r\n:{last}\r\n*3\r\n${length}\r\n{host}\r\n:{port}\r\n$2\r\nid\r\n")
    };
    let text: String = ranges.iter().map(range).collect();
    Lie::Say(format!("*{}\r\n{text}", ranges.len()))
}
