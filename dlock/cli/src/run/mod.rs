//! `dlock run`: a command under a lock.

mod child;
mod events;
mod held;
mod signals;
mod supervise;
mod teller;
mod waiting;

use std::time::Duration;

use dlock::Client;
use tokio::time::{Instant, timeout};

use crate::args::{Common, Run};
use crate::connect::builder;
use crate::exit::{Exit, Failure};
use crate::json::millis;
use crate::lock::{self, Lock};

use child::{Child, exit_of};
use events::Events;
use held::Held;
use signals::Signals;
use supervise::{Limits, supervise};

/// How long a release may take when the command has ended.
const LAST_MOMENT: Duration = Duration::from_secs(1);

pub(crate) async fn run(common: &Common, mut args: Run) -> Result<Exit, Failure> {
    let mut signals = Signals::listen()?;
    let mut client = builder(common)?;
    if let Some(max_hold) = args.max_hold {
        args.lease = args.lease.min(max_hold);
        client = client.max_hold(max_hold);
    }
    let client = client.lease(args.lease);
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
    let kind = lock::kind(args.mutex, args.fenced);
    let mut lock = Lock::new(client, kind, &args.key)?;
    if let Some(min_hold) = args.min_hold {
        lock = lock.min_hold(min_hold);
    }
    let events = Events::new(&args.key, kind, common.json, args.quiet);
    let notice = args.grace.min(args.lease / 3);
    let began = Instant::now();
    let taken = async {
        let held = Held::acquire(&lock, args).await?;
        let since = Instant::now();
        held.confirmed(notice).await?;
        Ok::<_, Failure>((held, since))
    };
    let (held, since) = tokio::select! {
        taken = taken => taken?,
        never = waiting::tell(&lock, &events) => match never {},
        came = signals.next() => return Ok(came.exit()),
    };
    events.held(held.token(), millis(began.elapsed()));

    let mut child = Child::spawn(args, held.token())?;
    let limits = Limits {
        grace: args.grace,
        notice,
        over: args
            .max_hold
            .and_then(|max_hold| since.checked_add(max_hold)),
    };
    let end = supervise(&mut child, &held, limits, signals, &events).await?;

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
