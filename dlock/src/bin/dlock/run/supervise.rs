//! Watching the command and the lease.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, sleep_until};

use super::child::Child;
use super::events::Events;
use super::held::Held;
use super::signals::Signals;

/// How the command ended.
pub(super) struct End {
    pub(super) status: ExitStatus,
    /// Whether it had to be stopped because of the lease.
    pub(super) lost: bool,
}

/// Waits for the command's end, and sees to it when the lease ends first.
pub(super) async fn supervise(
    child: &mut Child,
    held: &Held,
    grace: Duration,
    signals: &mut Signals,
    events: &Events,
) -> io::Result<End> {
    loop {
        tokio::select! {
            status = child.ended() => {
                return Ok(End { status: status?, lost: false });
            }
            came = signals.next() => child.forward(came),
            () = held.nearly_lost(grace) => break,
        }
    }
    events.lost();
    child.signal(Signal::TERM);
    let patience = Instant::now() + grace;
    loop {
        tokio::select! {
            status = child.ended() => {
                return Ok(End { status: status?, lost: true });
            }
            came = signals.next() => child.forward(came),
            () = sleep_until(patience) => break,
        }
    }
    events.killed();
    child.signal(Signal::KILL);
    let status = child.ended().await?;
    Ok(End { status, lost: true })
}
