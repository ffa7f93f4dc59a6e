//! Nothing outlives a run, whatever is killed when.
//!
//! There are three processes, each of which started the next: the one that was called, the keeper, and the core, which does
//! everything else and starts servers and workers. The first two adopt what is orphaned below them (`PR_SET_CHILD_SUBREAPER`),
//! and each that loses its neighbour kills all that it has and removes the run's folder: the keeper when the first is gone
//! (its input ends), the first when the keeper is gone. If both go at once, the core does what it can.

use std::{
    fs,
    io::{self, Read as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::Path,
    process::{Command, ExitCode, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rustix::{
    io::Errno,
    process::{
        Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
        set_parent_process_death_signal, wait,
    },
};
use tokio::{
    runtime,
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

use crate::{cli::Options, figures::Figures};

/// The program that opens it: also when another has been built in its place.
pub(crate) const PROGRAM: &str = "/proc/self/exe";
const PAUSE: Duration = Duration::from_millis(2);
const REMOVALS: usize = 500;

/// The process that was called.
pub(crate) fn front(words: &[&str]) -> ExitCode {
    let options = match Options::parse(words) {
        Ok(options) => options,
        Err(message) => {
            eprint!("{message}");
            return ExitCode::from(2);
        }
    };
    if let Some(parent) = options.parent {
        set_parent_process_death_signal(Some(Signal::TERM)).expect("Linux tells of a parent's end");
        if getppid() != Pid::from_raw(parent) {
            return ExitCode::FAILURE;
        }
    }
    let name = format!(
        "dlock-soak-{}-{:08x}",
        std::process::id(),
        fastrand::u32(..)
    );
    let folder = std::env::temp_dir().join(name);
    let folder = folder
        .to_str()
        .expect("the temporary folder's name is text");
    let code = runtime().block_on(async {
        let mut signals = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ]
        .map(|kind| signal(kind).expect("a handler can be set"));
        let [interrupt, terminate, hangup] = &mut signals;
        let told = async {
            tokio::select! {
                _ = interrupt.recv() => 130,
                _ = terminate.recv() => 143,
                _ = hangup.recv() => 129,
            }
        };
        stand_over("keeper", folder, words, told).await
    });
    Figures::tidy(&options);
    code
}

/// The process between that and the core.
pub(crate) fn keeper(folder: &str, words: &[&str]) -> ExitCode {
    let code = runtime().block_on(stand_over("core", folder, words, input_ends()));
    if let Ok(options) = Options::parse(words) {
        Figures::tidy(&options);
    }
    code
}

/// For the core: ends it, and what it has started, when the keeper is gone.
pub(crate) fn end_with_keeper(folder: &str) -> Tether {
    let (folder, is_cut) = (folder.to_owned(), Arc::new(AtomicBool::new(false)));
    let tether = Tether {
        is_cut: Arc::clone(&is_cut),
    };
    std::thread::spawn(move || {
        read_input();
        is_cut.store(true, Ordering::SeqCst);
        end_all(&folder);
        std::process::exit(1);
    });
    tether
}

/// What ties the core to the keeper.
#[must_use = "dropped too early, the core ends while it still has to remove the run's folder"]
pub(crate) struct Tether {
    is_cut: Arc<AtomicBool>,
}

impl Drop for Tether {
    /// The core may come to its end, as all that it has started is killed: before the folder is gone.
    fn drop(&mut self) {
        while self.is_cut.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }
}

fn runtime() -> runtime::Runtime {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts")
}

/// The exit code for when the input has ended.
async fn input_ends() -> u8 {
    let (end, ended) = oneshot::channel();
    // Not one of the runtime's: those are waited for.
    std::thread::spawn(move || {
        read_input();
        let _ = end.send(());
    });
    let _ = ended.await;
    1
}

fn read_input() {
    let mut bytes = [0; 64];
    while io::stdin().read(&mut bytes).is_ok_and(|length| length > 0) {}
}

/// Starts the next process, and sees to it that nothing is left when it or `told` ends.
async fn stand_over(
    next: &str,
    folder: &str,
    words: &[&str],
    told: impl Future<Output = u8>,
) -> ExitCode {
    set_child_subreaper(Some(getpid())).expect("Linux lets a process adopt orphans");
    let mut command = Command::new(PROGRAM);
    command
        .arg(next)
        .arg(folder)
        .args(words)
        .env("TMPDIR", folder)
        .stdin(Stdio::piped())
        // A terminal's ctrl-C is for the first process only.
        .process_group(0);
    let mut child = tokio::process::Command::from(command)
        .spawn()
        .expect("the program starts again");
    let tether = child.stdin.take();
    let code = tokio::select! {
        status = child.wait() => code(status.ok()),
        code = told => code,
    };
    end_all(folder);
    drop(tether);
    ExitCode::from(code)
}

fn code(status: Option<ExitStatus>) -> u8 {
    let killed = |status: ExitStatus| status.signal().map(|signal| 128 + signal);
    let code = status.and_then(|status| status.code().or_else(|| killed(status)));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Kills all children until there are none: those of a child that dies are ours then.
fn end_all(folder: &str) {
    loop {
        for pid in children() {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) | Err(Errno::INTR) => std::thread::sleep(PAUSE),
            Err(_) => break,
        }
    }
    // Threads of the core may still use it, and another process may remove it at the same time.
    for _ in 0..REMOVALS {
        if !Path::new(folder).exists() || fs::remove_dir_all(folder).is_ok() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The processes that this one would have to wait for.
fn children() -> Vec<Pid> {
    let me = std::process::id().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_mine = |name: &String| {
        let stat = fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
        // The name of the program, in parentheses, may have any characters; state and parent follow.
        let rest = stat.rsplit(')').next().unwrap_or_default();
        rest.split_whitespace().nth(1) == Some(&me)
    };
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(is_mine)
        .filter_map(|name| Pid::from_raw(name.parse().ok()?))
        .collect()
}
