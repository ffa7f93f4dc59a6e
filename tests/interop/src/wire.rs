//! A connection between the checker and a process, which send each other lines.

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

/// One end of it.
#[derive(Debug)]
pub(crate) struct Wire(BufReader<TcpStream>);

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("loopback takes that");
        Self(BufReader::new(stream))
    }

    /// `None` when the peer is gone.
    pub(crate) async fn send(&mut self, words: &str) -> Option<()> {
        let line = format!("{words}\n");
        self.0.write_all(line.as_bytes()).await.ok()
    }

    /// `None` when the peer is gone.
    pub(crate) async fn receive(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.0.read_line(&mut line).await.ok()?;
        (length > 0).then(|| line.trim_end().to_owned())
    }
}
