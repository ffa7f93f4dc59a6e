//! A run, and what there is of it: everything that it starts has its folder in the environment.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    fmt, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_dlock-soak");
/// How long what is left may take to notice that it is.
const GONE: Duration = Duration::from_secs(10);

/// The process that is killed.
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
    /// The ports that were open at the last look.
    sockets: RefCell<BTreeSet<u64>>,
}

/// What there is of a run at a moment.
pub(crate) struct Seen {
    processes: usize,
    sockets: usize,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processes, sockets } = self;
        write!(f, "{processes} processes and {sockets} sockets that listen")
    }
}

impl Run {
    pub(crate) fn start(number: u64, servers: [&str; 2]) -> Self {
        let name = format!("soak-interrupted-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).expect("the temporary folder is writable");
        let mut script = Command::new("sh");
        // The second command keeps the shell from turning into the program.
        script
            .args(["-c", "\"$0\" --parent $$ \"$@\"; exit $?", PROGRAM])
            .args(["--quick", "--minutes", "2"])
            .args(servers)
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
            sockets: RefCell::default(),
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
            // Servers write over theirs.
            let works_in = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            environment.split('\0').any(|word| word.starts_with(&sign))
                || works_in.starts_with(&self.folder)
        };
        let words = |pid: i32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            let words = words.split('\0').map(str::to_owned).collect();
            Some((Pid::from_raw(pid)?, words))
        };
        pids.filter(is_own).filter_map(words).collect()
    }

    /// Looks at what there is.
    pub(crate) fn seen(&self) -> Seen {
        let processes = self.processes();
        let all = processes.iter().flat_map(|(pid, _)| sockets(*pid));
        let own: BTreeSet<u64> = all.collect();
        let listening: BTreeSet<u64> = listening().intersection(&own).copied().collect();
        let seen = Seen {
            processes: processes.len(),
            sockets: listening.len(),
        };
        self.sockets.replace(listening);
        seen
    }

    /// Kills a process, if there yet.
    pub(crate) fn strike(&self, whom: Whom) {
        let role = |role: &str| {
            let mut own = self.processes().into_iter();
            let found = own.find(|(_, words)| words[0] != "sh" && words[1] == role);
            found.map(|(pid, _)| pid)
        };
        let script = Pid::from_child(&self.script.borrow());
        let front = role("--parent");
        let keeper = role("keeper");
        let struck = match whom {
            Whom::Interrupt => vec![(front, Signal::INT)],
            Whom::Terminate => vec![(front, Signal::TERM)],
            Whom::Front => vec![(front, Signal::KILL)],
            Whom::Keeper => vec![(keeper, Signal::KILL)],
            Whom::Core => vec![(role("core"), Signal::KILL)],
            Whom::Script => vec![(Some(script), Signal::KILL)],
            // Both at once: a keeper that is not stopped before would notice, begin to end the core, and die in the middle of it.
            Whom::FrontAndKeeper => vec![
                (keeper, Signal::STOP),
                (front, Signal::KILL),
                (keeper, Signal::KILL),
            ],
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
        if let Some(socket) = listening().intersection(&self.sockets.borrow()).next() {
            return Some(format!("a socket that listens, inode {socket}"));
        }
        let unfinished = |path: &PathBuf| path.extension().is_some_and(|name| name == "new");
        let mut files = files_in(&self.folder.join("tmp"));
        files.extend(
            files_in(&self.folder.join("output"))
                .into_iter()
                .filter(unfinished),
        );
        files.first().map(|file| format!("file {}", file.display()))
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The inodes of all sockets of this machine that listen.
fn listening() -> BTreeSet<u64> {
    let table = |path: &str| fs::read_to_string(path).expect("Linux has it");
    let (tcp, unix) = (table("/proc/net/tcp"), table("/proc/net/unix"));
    let of_tcp = tcp.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let listens = words.get(3) == Some(&"0A");
        listens.then(|| words.get(9)?.parse().ok())?
    });
    let of_unix = unix.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let listens = words.get(3) == Some(&"00010000");
        listens.then(|| words.get(6)?.parse().ok())?
    });
    of_tcp.chain(of_unix).collect()
}

/// The inodes of a process's sockets.
fn sockets(pid: Pid) -> Vec<u64> {
    let folder = format!("/proc/{}/fd", pid.as_raw_nonzero());
    let links = files_in(Path::new(&folder)).into_iter();
    let links = links.filter_map(|link| fs::read_link(link).ok()?.to_str().map(str::to_owned));
    links
        .filter_map(|link| {
            let inode = link.strip_prefix("socket:[")?.strip_suffix(']')?;
            inode.parse().ok()
        })
        .collect()
}
