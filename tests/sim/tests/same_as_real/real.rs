//! Real servers on loopback. They end with the value.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dlock_sim::server::Flavour;

use crate::conf::Shape;
use crate::side::{Decoder, Link, packed};
use crate::value::Value;

/// One server, or those of a cluster on ports in a row: masters first, then their replicas in turn.
pub(crate) struct Real {
    children: Vec<Child>,
    folder: PathBuf,
    pub(crate) first_port: u16,
    pub(crate) flavour: Flavour,
    shape: Shape,
}

impl Real {
    pub(crate) fn start(shape: Shape) -> Self {
        let program = std::env::var("DLOCK_REDIS_SERVER").unwrap_or_else(|_| "redis-server".into());
        let version = Command::new(&program)
            .arg("--version")
            .output()
            .expect("the server can be started");
        let version = String::from_utf8_lossy(&version.stdout).into_owned();
        let flavour = Flavour::ALL
            .into_iter()
            .find(|flavour| version.contains(&format!("v={} ", flavour.version())));
        let flavour = flavour.unwrap_or_else(|| panic!("{version} is not simulated"));
        let (first_port, held) = free_ports(shape.count());
        let folder =
            std::env::temp_dir().join(format!("dlock-sim-{}-{first_port}", std::process::id()));
        let mut real = Self {
            children: Vec::new(),
            folder,
            first_port,
            flavour,
            shape,
        };
        drop(held);
        for number in 0..shape.count() {
            let child = real.launch(&program, number);
            real.children.push(child);
        }
        for number in 0..shape.count() {
            real.wait_ready(number);
        }
        real
    }

    fn launch(&self, program: &str, number: usize) -> Child {
        let folder = self.folder.join(number.to_string());
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let write = |name, text| std::fs::write(folder.join(name), text).expect("it is writable");
        write(
            "redis.conf",
            self.shape.conf(self.flavour, self.port(number)),
        );
        if self.shape.in_cluster() {
            let nodes = self.shape.nodes(self.flavour, self.first_port, number);
            write("nodes.conf", nodes);
        }
        // The shell ends the server when this end of its input is closed, in whatever way this process ends.
        let until_closed =
            "\"$0\" redis.conf > output 2>&1 < /dev/null & read -r _; kill -9 $!; wait";
        let mut command = Command::new("sh");
        command
            .args(["-c", until_closed, program])
            .current_dir(&folder)
            .stdin(Stdio::piped());
        command.spawn().expect("a shell can be started")
    }

    fn wait_ready(&self, number: usize) {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            assert!(
                Instant::now() < until,
                "server {number} is not ready in time"
            );
            std::thread::sleep(Duration::from_millis(20));
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port(number))).is_err() {
                continue;
            }
            let mut conn = self.connect(number);
            if !self.shape.in_cluster() {
                return;
            }
            let is_ok = conn
                .told(&[b"CLUSTER", b"INFO"])
                .contains("cluster_state:ok");
            let mut follows = || {
                conn.told(&[b"INFO", b"replication"])
                    .contains("master_link_status:up")
            };
            if is_ok && (number < self.shape.masters || follows()) {
                return;
            }
        }
    }

    pub(crate) fn port(&self, number: usize) -> u16 {
        self.first_port + u16::try_from(number).expect("few servers")
    }

    pub(crate) fn connect(&self, number: usize) -> RealConn {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port(number)))
            .expect("the server accepts");
        stream.set_nodelay(true).expect("a socket takes options");
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("a socket takes options");
        RealConn {
            stream,
            decoder: Decoder::default(),
        }
    }
}

/// Free ports in a row, with those of the bus; held until they are used.
fn free_ports(count: usize) -> (u16, Vec<TcpListener>) {
    let bind = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok();
    loop {
        let first = fastrand::u16(12000..22000);
        let last = first + u16::try_from(count).expect("few servers");
        let ports = (first..last).chain(first + 10000..last + 10000);
        if let Some(held) = ports.map(bind).collect() {
            return (first, held);
        }
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        for child in &mut self.children {
            drop(child.stdin.take());
            // What remains of it is nobody's concern.
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A connection to a real server.
pub(crate) struct RealConn {
    stream: TcpStream,
    decoder: Decoder,
}

impl RealConn {
    /// One command and its reply.
    pub(crate) fn ask(&mut self, args: &[&[u8]]) -> Value {
        self.write(&packed(args));
        self.reply()
    }

    /// The next reply.
    fn reply(&mut self) -> Value {
        loop {
            if let Some(value) = self.decoder.next() {
                return value;
            }
            self.read_more();
        }
    }

    /// So many replies.
    pub(crate) fn replies(&mut self, count: usize) -> Vec<Value> {
        (0..count).map(|_| self.reply()).collect()
    }

    /// The same, for what must not fail.
    pub(crate) fn must(&mut self, args: &[&[u8]]) -> Value {
        let reply = self.ask(args);
        assert!(!reply.is_error(), "{args:?}: {reply:?}");
        reply
    }

    /// The same, where the reply is a text.
    pub(crate) fn told(&mut self, args: &[&[u8]]) -> String {
        match self.must(args) {
            Value::Bulk(text) => String::from_utf8_lossy(&text).into_owned(),
            other => panic!("{args:?}: {other:?} is no text"),
        }
    }

    /// Ends the connection, and waits until the server has: it ends its subscriptions first.
    pub(crate) fn close(mut self) {
        let end = self.stream.shutdown(Shutdown::Write);
        end.expect("the connection is open");
        let mut rest = Vec::new();
        let read = self.stream.read_to_end(&mut rest);
        read.expect("the server closes the connection in time");
    }

    fn read_more(&mut self) {
        let mut buffer = [0; 16384];
        let length = match self.stream.read(&mut buffer) {
            // Servers of another kind of sequences have ended, and the kernel says so to any thread.
            Err(error) if error.kind() == ErrorKind::Interrupted => return,
            read => read.expect("the server answers in time"),
        };
        assert!(length > 0, "the server has closed the connection");
        self.decoder.add(&buffer[..length]);
    }
}

impl Link for RealConn {
    fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    fn until(&mut self, marker: &str) -> Vec<Value> {
        loop {
            if let Some(values) = self.decoder.until(marker) {
                return values;
            }
            self.read_more();
        }
    }
}
