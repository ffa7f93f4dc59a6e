//! A small client of Redis: one request at a time, which goes where the cluster sends it.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use dlock::sim::{Stream, timeout};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::reply::{Reply, parse};
use crate::engine::Nanos;

/// A server's host and port.
type Address = (String, u16);

/// How often one request is sent elsewhere.
const REDIRECTS: u32 = 5;

/// Connections to servers, and which of them has which mutex.
#[derive(Debug)]
pub(super) struct Redis {
    /// Servers to start from; the first of them is asked next.
    seeds: Vec<Address>,
    connections: BTreeMap<Address, Stream>,
    homes: BTreeMap<usize, Address>,
    patience: Duration,
}

impl Redis {
    pub(super) fn new(seeds: Vec<Address>, patience: Nanos) -> Self {
        Self {
            seeds,
            connections: BTreeMap::new(),
            homes: BTreeMap::new(),
            patience: Duration::from_nanos(patience),
        }
    }

    /// Asks the master that has this mutex; what goes wrong, as text, otherwise.
    pub(super) async fn ask(&mut self, lock: usize, words: &[&str]) -> Result<Reply, String> {
        let mut to = self.homes.get(&lock).unwrap_or(&self.seeds[0]).clone();
        let mut asking = false;
        for _ in 0..REDIRECTS {
            let answer = timeout(self.patience, self.exchange(&to, asking, words)).await;
            let reply = match answer {
                Ok(Ok(reply)) => reply,
                failed => {
                    // What comes late on this connection would be taken for another answer.
                    self.connections.remove(&to);
                    self.homes.remove(&lock);
                    self.seeds.rotate_left(1);
                    return Err(format!("{failed:?}"));
                }
            };
            let Reply::Error(line) = &reply else {
                return Ok(reply);
            };
            let mut line = line.split(' ');
            let (code, address) = (line.next(), line.nth(1).and_then(address));
            match (code, address) {
                (Some("MOVED"), Some(address)) => {
                    self.homes.insert(lock, address.clone());
                    (to, asking) = (address, false);
                }
                (Some("ASK"), Some(address)) => (to, asking) = (address, true),
                _ => return Ok(reply),
            }
        }
        Err("sent elsewhere again and again".into())
    }

    async fn exchange(
        &mut self,
        to: &Address,
        asking: bool,
        words: &[&str],
    ) -> std::io::Result<Reply> {
        if !self.connections.contains_key(to) {
            let stream = Stream::open(&to.0, to.1).await?;
            self.connections.insert(to.clone(), stream);
        }
        let Some(stream) = self.connections.get_mut(to) else {
            return Err(std::io::ErrorKind::NotConnected.into());
        };
        if asking {
            call(stream, &["ASKING"]).await?;
        }
        call(stream, words).await
    }
}

fn address(text: &str) -> Option<Address> {
    let (host, port) = text.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}

async fn call(stream: &mut Stream, words: &[&str]) -> std::io::Result<Reply> {
    let request: Vec<String> = words
        .iter()
        .map(|word| format!("${}\r\n{word}\r\n", word.len()))
        .collect();
    let request = format!("*{}\r\n{}", words.len(), request.concat());
    poll_fn(|cx| Pin::new(&mut *stream).poll_write(cx, request.as_bytes())).await?;
    let (mut bytes, mut space) = (Vec::new(), [0; 512]);
    loop {
        if let Some((reply, _)) = parse(&bytes) {
            return Ok(reply);
        }
        let mut buffer = ReadBuf::new(&mut space);
        poll_fn(|cx| -> Poll<std::io::Result<()>> {
            Pin::new(&mut *stream).poll_read(cx, &mut buffer)
        })
        .await?;
        if buffer.filled().is_empty() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(buffer.filled());
    }
}
