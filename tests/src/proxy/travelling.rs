//! Bytes that a connection delivers later.

use std::{collections::VecDeque, time::Duration};

use tokio::{
    io::AsyncReadExt,
    net::tcp::OwnedReadHalf,
    select,
    time::{Instant, sleep_until},
};

/// What was read in one direction and is not delivered yet, in order. Bytes that were read while others travel do not
/// start behind them: a delay is a distance, it does not limit how much arrives in a second.
#[derive(Default)]
pub(crate) struct Travelling {
    chunks: VecDeque<(Instant, Vec<u8>)>,
    closed: bool,
}

impl Travelling {
    /// What arrives next; `None` once all has arrived and the sender has closed the connection.
    pub(crate) async fn next(
        &mut self,
        from: &mut OwnedReadHalf,
        delay: impl Fn() -> Duration,
    ) -> Option<Vec<u8>> {
        loop {
            let arrival = self.chunks.front().map(|(arrival, _)| *arrival);
            match arrival {
                Some(arrival) if arrival <= Instant::now() => {
                    return self.chunks.pop_front().map(|(_, bytes)| bytes);
                }
                None if self.closed => return None,
                _ => {}
            }
            let mut bytes = Vec::with_capacity(4096);
            select! {
                () = sleep_until(arrival.unwrap_or_else(Instant::now)), if arrival.is_some() => {}
                read = from.read_buf(&mut bytes), if !self.closed => {
                    if read.is_ok_and(|len| len > 0) {
                        self.chunks.push_back((Instant::now() + delay(), bytes));
                    } else {
                        self.closed = true;
                    }
                }
            }
        }
    }
}
