//! `dlock run`: a command under a lock.

mod child;
mod events;
mod held;
mod signals;
mod supervise;

use dlock::Client;
use tokio::time::Instant;

use crate::args::{Common, Run};
use crate::connect::builder;
use crate::exit::{Exit, Failure};
use crate::json::millis;

use child::{Child, exit_of};
use events::Events;
use held::Held;
use signals::Signals;
use supervise::supervise;

pub(crate) async fn run(common: &Common, args: Run) -> Result<Exit, Failure> {
    let mut signals = Signals::listen()?;
    let client = builder(common).lease(args.lease);
    // A signal while there is no command yet is for dlock itself.
    let client = tokio::select! {
        client = client.build() => client?,
        came = signals.next() => return Ok(came.exit()),
    };
    let exit = with_client(common, &args, &client, &mut signals).await;
    // What is left has a lease that ends by itself.
    let _ = client.shutdown().await;
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

    let mut child = Child::spawn(&args.command, &args.key, held.token())?;
    let grace = args.grace.min(args.lease / 3);
    let end = supervise(&mut child, &held, grace, signals, &events).await?;

    let mut exit = if end.lost {
        Exit::LOST
    } else {
        exit_of(end.status)
    };
    if let Err(error) = held.release().await
        && !end.lost
    {
        events.release_failed(&error);
        if error.is_lost() {
            exit = Exit::LOST;
        }
    }
    events.ended(exit.0);
    Ok(exit)
}
