//! A run, and what there is of it: everything that it starts has its folder in the environment.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    fmt, fs,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_dlock-soak");
/// How long what is left may take to notice that it is.
const GONE: Duration = Duration::from_secs(10);
const BUS: u16 = 10_000;

/// Who is killed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whom {
    Interrupt,
    Terminate,
    Front,
    Keeper,
    Core,
    /// The script that waits for it.
    Script,
    FrontAndKeeper,
}

impl Whom {
    pub(crate) const ALL: [Self; 7] = [
        Self::Interrupt,
        Self::Keeper,
        Self::Front,
        Self::Core,
        Self::Script,
        Self::FrontAndKeeper,
        Self::Terminate,
    ];
}

/// A run in a temporary folder of its own.
pub(crate) struct Run {
    folder: PathBuf,
    script: RefCell<Child>,
    ports: RefCell<BTreeSet<u16>>,
}

/// What there is of a run at a moment.
pub(crate) struct Seen {
    processes: usize,
    ports: usize,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} processes and {} ports", self.processes, self.ports)
    }
}

impl Run {
    pub(crate) fn start(number: u64, topology: &str) -> Self {
        let name = format!("soak-interrupted-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).expect("the temporary folder is writable");
        let mut script = Command::new("sh");
        // The second command keeps the shell from turning into the program.
        script
            .args(["-c", "\"$0\" --parent $$ \"$@\"; exit $?", PROGRAM])
            .args(["--quick", "--minutes", "2", "--topology", topology])
            .args(["--seed", &number.to_string(), "--output"])
            .arg(folder.join("output"))
            .env("TMPDIR", folder.join("tmp"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        fs::create_dir(folder.join("tmp")).expect("the folder is writable");
        let script = script.spawn().expect("sh starts");
        Self {
            folder,
            script: RefCell::new(script),
            ports: RefCell::default(),
        }
    }

    /// Processes of the run, with the words that started them.
    fn processes(&self) -> Vec<(Pid, Vec<String>)> {
        let sign = format!("TMPDIR={}", self.folder.join("tmp").display());
        let entries = fs::read_dir("/proc").expect("Linux has it").flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let is_own = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let environment = String::from_utf8_lossy(&environment).into_owned();
            environment.split('\0').any(|word| word.starts_with(&sign))
        };
        let words = |pid: i32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            let words = words.split('\0').map(str::to_owned).collect();
            Some((Pid::from_raw(pid)?, words))
        };
        pids.filter(is_own).filter_map(words).collect()
    }

    /// Looks at what there is; its servers' ports are remembered.
    pub(crate) fn seen(&self) -> Seen {
        let mut ports = self.ports.borrow_mut();
        configured(&self.folder.join("tmp"), &mut ports);
        Seen {
            processes: self.processes().len(),
            ports: ports.len(),
        }
    }

    /// Kills somebody, if there yet.
    pub(crate) fn strike(&self, whom: Whom) {
        let role = |role: &str| {
            let mut own = self.processes().into_iter();
            let found = own.find(|(_, words)| words[0] == PROGRAM && words[1] == role);
            found.map(|(pid, _)| pid)
        };
        let script = Pid::from_child(&self.script.borrow());
        let front = role("--parent");
        let struck = match whom {
            Whom::Interrupt => [(front, Signal::INT), (None, Signal::INT)],
            Whom::Terminate => [(front, Signal::TERM), (None, Signal::TERM)],
            Whom::Front => [(front, Signal::KILL), (None, Signal::KILL)],
            Whom::Keeper => [(role("keeper"), Signal::KILL), (None, Signal::KILL)],
            Whom::Core => [(role("core"), Signal::KILL), (None, Signal::KILL)],
            Whom::Script => [(Some(script), Signal::KILL), (None, Signal::KILL)],
            Whom::FrontAndKeeper => [(front, Signal::KILL), (role("keeper"), Signal::KILL)],
        };
        let mut hit = false;
        for (pid, signal) in struck {
            hit |= pid.is_some_and(|pid| kill_process(pid, signal).is_ok());
        }
        if !hit {
            // It has not got that far, or is through.
            let _ = kill_process(script, Signal::KILL);
        }
    }

    /// Waits until nothing is left, which has to be soon.
    pub(crate) fn leaves_nothing(&self, story: &str) {
        let begun = Instant::now();
        loop {
            let left = self.left();
            let Some(left) = left else { break };
            assert!(begun.elapsed() < GONE, "{story}: {left}");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.script.borrow_mut().wait().expect("sh has ended");
        fs::remove_dir_all(&self.folder).expect("it is our own");
    }

    fn left(&self) -> Option<String> {
        // Reaps the shell: its children are others'.
        let _ = self.script.borrow_mut().try_wait();
        let processes = self.processes();
        if !processes.is_empty() {
            return Some(format!("processes {processes:?}"));
        }
        let taken = |port: &u16| {
            TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_err() && !is_reserved(*port)
        };
        if let Some(port) = self.ports.borrow().iter().find(|port| taken(port)) {
            return Some(format!("port {port}"));
        }
        let unfinished = |path: &PathBuf| path.extension().is_some_and(|name| name == "new");
        let mut files = files_in(&self.folder.join("tmp"));
        files.extend(files_in(&self.folder.join("output")).into_iter().filter(unfinished));
        files.first().map(|file| format!("file {}", file.display()))
    }
}

/// Whether another run has this port by now, or the bus's of that.
fn is_reserved(port: u16) -> bool {
    let sockets = fs::read_to_string("/proc/net/unix").expect("Linux has it");
    let name = |port: u16| format!("@dlock-test-port-{port}");
    let names = [name(port), name(port.saturating_sub(BUS))];
    sockets
        .lines()
        .any(|line| names.iter().any(|name| line.ends_with(name)))
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The ports in the configurations of servers below a folder, and those of clusters' buses.
fn configured(folder: &Path, ports: &mut BTreeSet<u16>) {
    for path in files_in(folder) {
        if path.is_dir() {
            configured(&path, ports);
        } else if path.ends_with("redis.conf") {
            let text = fs::read_to_string(path).unwrap_or_default();
            let port = text.lines().find_map(|line| line.strip_prefix("port "));
            let port = port.and_then(|port| port.trim().parse::<u16>().ok());
            ports.extend(port.into_iter().flat_map(|port| [port, port + BUS]));
        }
    }
}
