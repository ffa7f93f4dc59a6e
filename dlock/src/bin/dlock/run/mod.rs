//! `dlock run`: a command under a lock.

mod child;
mod events;
mod held;
mod signals;
mod supervise;

use std::time::Duration;

use dlock::Client;
use tokio::time::{Instant, timeout};

use crate::args::{Common, Run};
use crate::connect::builder;
use crate::exit::{Exit, Failure};
use crate::json::millis;

use child::{Child, exit_of};
use events::Events;
use held::Held;
use signals::Signals;
use supervise::supervise;

/// How long giving back may take when nobody waits for it any more.
const LAST_MOMENT: Duration = Duration::from_secs(1);

pub(crate) async fn run(common: &Common, args: Run) -> Result<Exit, Failure> {
    let mut signals = Signals::listen()?;
    let client = builder(common).lease(args.lease);
    // A signal while there is no command yet is for dlock itself.
    let client = tokio::select! {
        client = client.build() => client?,
        came = signals.next() => return Ok(came.exit()),
    };
    let exit = with_client(common, &args, &client, &mut signals).await;
    // What cannot be given back soon has a lease that ends by itself.
    let _ = timeout(LAST_MOMENT, client.shutdown()).await;
    exit
}

async fn with_client(
    common: &Common,
    args: &Run,
    client: &Client,
    signals: &mut Signals,
) -> Result<Exit, Failure> {
    let lock = client.rw_lock(&args.key)?;
    let began = Instant::now();
    let held = tokio::select! {
        held = Held::acquire(&lock, args) => held?,
        came = signals.next() => return Ok(came.exit()),
    };
    let events = Events::new(&args.key, common.json);
    events.held(held.token(), millis(began.elapsed()));

    let grace = args.grace.min(args.lease / 3);
    held.confirmed(grace).await;
    let mut child = Child::spawn(&args.command, &args.key, held.token())?;
    let end = supervise(&mut child, &held, grace, signals, &events).await?;

    let exit = if end.lost {
        // Dropping the guard gives back what there is to give back.
        Exit::LOST
    } else {
        match held.release().await {
            Err(error) => {
                events.release_failed(&error);
                if error.is_lost() {
                    Exit::LOST
                } else {
                    exit_of(end.status)
                }
            }
            Ok(()) => exit_of(end.status),
        }
    };
    events.ended(exit.0);
    Ok(exit)
}
