//! Watching the command, the lease and the time.

use std::future::pending;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, sleep_until, timeout};

use super::child::Child;
use super::events::Events;
use super::held::Held;
use super::signals::Signals;

/// How long all that a command started may take to be gone after SIGKILL.
const MOMENT: Duration = Duration::from_secs(1);

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How long the command may take to end when dlock was told to.
    pub(super) grace: Duration,
    /// How long it may take when the lease ends, and how long before the end it is told so.
    pub(super) notice: Duration,
    /// When the lock will have been held for long enough.
    pub(super) over: Option<Instant>,
}

/// How the command ended.
pub(super) struct End {
    pub(super) status: ExitStatus,
    /// Whether it had to be stopped because of the lease.
    pub(super) lost: bool,
}

/// Waits for the command's end, and sees to it when it has to come.
pub(super) async fn supervise(
    child: &mut Child,
    held: &Held,
    limits: Limits,
    signals: &mut Signals,
    events: &Events,
) -> io::Result<End> {
    let (mut lost, mut kill_at) = (false, None);
    let over = limits.over.map(|over| over - limits.notice);
    loop {
        let within = tokio::select! {
            // A command that was told to end is gone when all the processes that it started are.
            status = child.ended(kill_at.is_some()) => return Ok(End { status: status?, lost }),
            came = signals.next() => {
                child.forward(came);
                (came.0 == Signal::TERM).then_some(limits.grace)
            }
            () = held.nearly_lost(limits.notice), if !lost => {
                lost = true;
                child.signal(Signal::TERM);
                events.lost();
                Some(limits.notice)
            }
            () = at(over), if !lost => {
                lost = true;
                child.signal(Signal::TERM);
                events.time_is_up();
                Some(limits.notice)
            }
            () = at(kill_at) => break,
        };
        let end = within.and_then(|within| Instant::now().checked_add(within));
        kill_at = kill_at.into_iter().chain(end).min();
    }
    child.signal(Signal::KILL);
    events.killed();
    // What has got SIGKILL is gone in a moment, unless the kernel keeps it.
    let _ = timeout(MOMENT, child.ended(true)).await;
    let status = child.ended(false).await?;
    Ok(End { status, lost })
}

/// Completes at that time, or never.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}
