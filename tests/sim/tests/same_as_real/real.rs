//! Real servers on loopback. They end with the value.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dlock_sim::server::Flavour;

use crate::side::{Decoder, Link, packed};
use crate::value::Value;

/// One server, or the masters of a cluster on ports in a row.
pub(crate) struct Real {
    children: Vec<Child>,
    folder: PathBuf,
    pub(crate) first_port: u16,
    pub(crate) flavour: Flavour,
}

impl Real {
    pub(crate) fn start(masters: usize) -> Self {
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
        let (first_port, held) = free_ports(masters);
        let folder =
            std::env::temp_dir().join(format!("dlock-sim-{}-{first_port}", std::process::id()));
        let mut real = Self {
            children: Vec::new(),
            folder,
            first_port,
            flavour,
        };
        drop(held);
        for number in 0..masters {
            let child = real.launch(&program, number, masters);
            real.children.push(child);
        }
        for number in 0..masters {
            real.wait_ready(number, masters > 1);
        }
        real
    }

    fn port(&self, number: usize) -> u16 {
        self.first_port + u16::try_from(number).expect("few servers")
    }

    fn launch(&self, program: &str, number: usize, masters: usize) -> Child {
        let folder = self.folder.join(number.to_string());
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let mut config = format!(
            "bind 127.0.0.1\nport {}\nsave \"\"\nappendonly no\n",
            self.port(number)
        );
        if masters > 1 {
            config +=
                "cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-node-timeout 15000\n";
            std::fs::write(folder.join("nodes.conf"), self.nodes_conf(number, masters))
                .expect("the folder is writable");
        }
        std::fs::write(folder.join("redis.conf"), config).expect("the folder is writable");
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

    /// What each server knows of the others at the start.
    fn nodes_conf(&self, myself: usize, masters: usize) -> String {
        let mut text = String::new();
        for number in 0..masters {
            let me = if number == myself { "myself," } else { "" };
            let port = self.port(number);
            // Servers that know of shards want to see them here.
            let shard = match self.flavour {
                Flavour::Redis62 | Flavour::Redis70 => String::new(),
                _ => format!(",,tls-port=0,shard-id={}", name(number)),
            };
            let (first, end) = (16384 * number / masters, 16384 * (number + 1) / masters);
            let (id, bus, epoch) = (name(number), port + 10000, number + 1);
            writeln!(
                text,
                "{id} 127.0.0.1:{port}@{bus}{shard} {me}master - 0 0 {epoch} connected {first}-{}",
                end - 1
            )
            .expect("a text takes everything");
        }
        writeln!(text, "vars currentEpoch {masters} lastVoteEpoch 0")
            .expect("a text takes everything");
        text
    }

    fn wait_ready(&self, number: usize, in_cluster: bool) {
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
            if !in_cluster {
                return;
            }
            let state = conn.ask(&[b"CLUSTER", b"INFO"]);
            if matches!(&state, Value::Bulk(text) if text.starts_with(b"cluster_state:ok")) {
                return;
            }
        }
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

/// The name of a server of a cluster, which is that of a simulated one.
pub(crate) fn name(number: usize) -> String {
    format!("{:040x}", number + 1)
}

/// Ports in a row that nobody has, with those of the bus; held until they are used.
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
        loop {
            if let Some(value) = self.decoder.next() {
                return value;
            }
            self.read_more();
        }
    }

    /// The same, for what must not fail.
    pub(crate) fn must(&mut self, args: &[&[u8]]) -> Value {
        let reply = self.ask(args);
        assert!(!reply.is_error(), "{args:?}: {reply:?}");
        reply
    }

    fn read_more(&mut self) {
        let mut buffer = [0; 16384];
        let length = self
            .stream
            .read(&mut buffer)
            .expect("the server answers in time");
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
