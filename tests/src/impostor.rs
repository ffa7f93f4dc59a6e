//! A server that does not say what it ought to.

use std::{
    net::{SocketAddr, TcpListener},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::{AbortHandle, JoinSet},
};

use crate::port::listen;
use crate::proxy::{frame_len, runtime, words};

/// What an impostor does with a request.
#[derive(Clone, Debug)]
pub enum Lie {
    /// Answers this, as it stands.
    Say(String),
    /// Begins an answer with this, and goes on for ever with that.
    Endless(String, String),
    /// Does not answer any more.
    Silence,
    /// Ends the connection.
    HangUp,
}

impl Lie {
    /// An error.
    #[must_use]
    pub fn error(text: &str) -> Self {
        Self::Say(format!("-{text}\r\n"))
    }
}

/// A request to an impostor.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its words.
    pub words: Vec<String>,
    /// The port of the impostor.
    pub port: u16,
}

impl Asked {
    /// Whether it begins with these words.
    #[must_use]
    pub fn is(&self, start: &[&str]) -> bool {
        self.words.len() >= start.len() && self.words.iter().zip(start).all(|(a, b)| a == b)
    }

    /// Whether it is to run a script.
    #[must_use]
    pub fn is_script(&self) -> bool {
        self.is(&["EVAL"]) || self.is(&["EVALSHA"])
    }
}

type Answer = dyn Fn(&Asked) -> Option<Lie> + Send + Sync;

/// Stands before a real server: passes on what it has no lie for. Knows what it was told.
pub struct Impostor {
    addr: SocketAddr,
    notes: Arc<Notes>,
    acceptor: AbortHandle,
}

/// What came of it so far.
#[derive(Default)]
struct Notes {
    heard: Mutex<Vec<Vec<String>>>,
    /// The most bytes of an endless answer that a client took, and how many clients took no more.
    most: AtomicUsize,
    gone: AtomicUsize,
}

impl Impostor {
    /// Starts one before `server`. `answer` gets each request.
    pub fn start(
        server: SocketAddr,
        answer: impl Fn(&Asked) -> Option<Lie> + Send + Sync + 'static,
    ) -> Self {
        let (listener, addr) = listen();
        let notes = Arc::default();
        let accept = accept(listener, server, Arc::new(answer), Arc::clone(&notes));
        let acceptor = runtime().spawn(accept).abort_handle();
        Self {
            addr,
            notes,
            acceptor,
        }
    }

    /// Where clients connect.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `redis://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}", self.addr)
    }

    /// All requests so far, as words.
    #[must_use]
    pub fn heard(&self) -> Vec<Vec<String>> {
        let heard = self.notes.heard.lock();
        heard.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many bytes of an endless answer one client has taken at most, and how many clients have hung up on one.
    #[must_use]
    pub fn endless(&self) -> (usize, usize) {
        let read = |number: &AtomicUsize| number.load(Ordering::SeqCst);
        (read(&self.notes.most), read(&self.notes.gone))
    }

    /// How many requests so far begin with this word.
    #[must_use]
    pub fn count(&self, name: &str) -> usize {
        let heard = self.heard();
        let of_name = heard.iter().filter(|words| words[0] == name);
        of_name.count()
    }
}

impl std::fmt::Debug for Impostor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Impostor")
            .field("addr", &self.addr)
            .finish_non_exhaustive()
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, answer: Arc<Answer>, notes: Arc<Notes>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("the runtime has I/O");
    // Its connections end with this task.
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let (answer, notes) = (Arc::clone(&answer), Arc::clone(&notes));
        connections.spawn(async move {
            // A client that goes ends it.
            let _ = serve(client, server, &*answer, &notes).await;
        });
    }
}

async fn serve(
    mut client: TcpStream,
    server: SocketAddr,
    answer: &Answer,
    notes: &Notes,
) -> std::io::Result<()> {
    let port = client.local_addr()?.port();
    let mut server = TcpStream::connect(server).await?;
    let (mut asked, mut told) = (Vec::new(), Vec::new());
    loop {
        let request = next_frame(&mut client, &mut asked).await?;
        let words = words(&request, usize::MAX)
            .into_iter()
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        let this = Asked { words, port };
        notes
            .heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(this.words.clone());
        match answer(&this) {
            Some(Lie::Silence) => std::future::pending().await,
            Some(Lie::HangUp) => return Ok(()),
            Some(Lie::Say(text)) => client.write_all(text.as_bytes()).await?,
            Some(Lie::Endless(first, more)) => {
                client.write_all(first.as_bytes()).await?;
                let more = more.repeat((1 << 16) / more.len());
                let mut taken = 0;
                while client.write_all(more.as_bytes()).await.is_ok() {
                    taken += more.len();
                    notes.most.fetch_max(taken, Ordering::SeqCst);
                }
                notes.gone.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
            None => {
                server.write_all(&request).await?;
                let reply = next_frame(&mut server, &mut told).await?;
                client.write_all(&reply).await?;
            }
        }
    }
}

/// The next whole frame of a stream.
async fn next_frame(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Vec<u8>> {
    loop {
        match frame_len(buffer) {
            Ok(Some(length)) => return Ok(buffer.drain(..length).collect()),
            Ok(None) => {}
            Err(_) => return Err(std::io::ErrorKind::InvalidData.into()),
        }
        if stream.read_buf(buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
