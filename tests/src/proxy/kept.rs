//! A request that the client has given up and the server is yet to see.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::tcp::{OwnedReadHalf, OwnedWriteHalf},
};

/// What the server says last, after its answer.
const END: &[u8] = b"that-was-all";

/// The request, and the connection on which it travels.
#[derive(Debug)]
pub(crate) struct Kept {
    from_server: OwnedReadHalf,
    to_server: OwnedWriteHalf,
    request: Vec<u8>,
}

impl Kept {
    pub(crate) fn new(
        from_server: OwnedReadHalf,
        to_server: OwnedWriteHalf,
        request: Vec<u8>,
    ) -> Self {
        Self {
            from_server,
            to_server,
            request,
        }
    }

    /// Delivers it, and returns what the server answers to it and to requests before it. The server has executed
    /// it on return; an answer that breaks off is returned as far as it came.
    pub(crate) async fn deliver(mut self) -> String {
        self.request
            .extend(format!("*2\r\n$4\r\nECHO\r\n${}\r\n", END.len()).as_bytes());
        self.request.extend(END);
        self.request.extend(b"\r\n");
        let mut answer = Vec::new();
        if self.to_server.write_all(&self.request).await.is_ok() {
            while !contains_end(&answer)
                && self
                    .from_server
                    .read_buf(&mut answer)
                    .await
                    .is_ok_and(|len| len > 0)
            {}
        }
        String::from_utf8_lossy(&answer).into_owned()
    }
}

fn contains_end(answer: &[u8]) -> bool {
    answer.windows(END.len()).any(|part| part == END)
}
