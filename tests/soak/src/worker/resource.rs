//! What locks guard, as a worker sees it: numbers that are read, and written one higher, at a service that outlives all
//! faults. One of each pair takes any write; the other refuses tokens that are smaller than one it has seen.

use std::rc::Rc;

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Mutex,
    task::spawn_local,
};

type Connection = (BufReader<OwnedReadHalf>, OwnedWriteHalf);

/// The connection to the service.
#[derive(Debug)]
pub(crate) struct Resource(Rc<Mutex<Connection>>);

/// What was read: the number that is not fenced, and the one that is, unless that was refused.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read(u64, Option<u64>);

impl Resource {
    pub(crate) async fn connect(path: &str) -> Self {
        let stream = UnixStream::connect(path).await;
        let (read, write) = stream.expect("the service is there").into_split();
        Self(Rc::new(Mutex::new((BufReader::new(read), write))))
    }

    /// Reads under a token, if there are any.
    pub(crate) async fn read(&self, lock: usize, token: Option<u64>) -> Read {
        let answer = self.ask(format!("r {lock} {}\n", text(token))).await;
        let mut words = answer.split_whitespace();
        let plain = words.next().and_then(|word| word.parse().ok());
        let fenced = words.next().and_then(|word| word.parse().ok());
        Read(plain.expect("the service answers with numbers"), fenced)
    }

    /// Writes one more than was read.
    pub(crate) async fn write(&self, lock: usize, token: Option<u64>, read: Read) {
        let Read(plain, fenced) = read;
        let (token, fenced) = (text(token), text(fenced));
        self.ask(format!("w {lock} {token} {plain} {fenced}\n"))
            .await;
    }

    /// The answer to one line, for one task after the other. What has been sent is sent: a caller that is dropped does not
    /// leave its answer to the next.
    async fn ask(&self, line: String) -> String {
        let connection = Rc::clone(&self.0);
        let asking = spawn_local(async move {
            let mut connection = connection.lock().await;
            let (from, to) = &mut *connection;
            let mut answer = String::new();
            let written = to.write_all(line.as_bytes()).await;
            written.expect("the service outlives workers");
            let read = from.read_line(&mut answer).await;
            read.expect("the service outlives workers");
            answer
        });
        asking.await.expect("nobody stops it")
    }
}

fn text(number: Option<u64>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}
