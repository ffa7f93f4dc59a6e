//! `dlock force-release`.

use std::io::{self, IsTerminal, Write as _};

use dlock::{HoldInfo, LockInfo};
use serde_json::json;

use crate::args::{Common, ForceRelease};
use crate::connect::connect;
use crate::duration::short;
use crate::exit::{Exit, Failure};
use crate::hidden::plain;
use crate::lock::{self, Lock};
use crate::{output, who};

pub(crate) async fn force_release(common: &Common, args: ForceRelease) -> Result<Exit, Failure> {
    let client = connect(common).await?;
    let lock = Lock::new(&client, lock::kind(args.mutex, false), &args.key)?;
    let info = lock.inspect().await?;
    let Some(hold) = find(&info, &args.hold) else {
        tell(common, &args, false)?;
        return Ok(Exit::NO_SUCH_HOLD);
    };
    if !args.yes && !confirmed(&args.key, hold)? {
        return Err(Failure::usage("nothing was released"));
    }
    let released = lock.force_release(&hold.id).await?;
    tell(common, &args, released)?;
    Ok(if released {
        Exit::DONE
    } else {
        Exit::NO_SUCH_HOLD
    })
}

fn find<'i>(info: &'i LockInfo, id: &str) -> Option<&'i HoldInfo> {
    info.holders.iter().find(|hold| hold.id == id)
}

fn confirmed(key: &str, hold: &HoldInfo) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(
            "no terminal for a confirmation; add --yes if you are sure",
        ));
    }
    eprint!(
        "{} has held {} for {} for {} and renews itself while it lives ({} of its lease left).\n\
         Taking the hold away lets others in while it may still work. Release it? [y/N] ",
        plain(&hold.id),
        plain(key),
        match hold.mode {
            dlock::LockMode::Read => "reading",
            dlock::LockMode::Write => "writing",
        },
        who::time(hold.held_for),
        short(hold.remaining),
    );
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(
        answer.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}

fn tell(common: &Common, args: &ForceRelease, released: bool) -> io::Result<()> {
    let (key, hold) = (&args.key, &args.hold);
    if common.json {
        return output::print_json(&json!({"key": key, "hold": hold, "released": released}));
    }
    let (key, hold) = (plain(key), plain(hold));
    output::print(&if released {
        format!("{key}: released {hold}\n")
    } else {
        format!("{key}: no holder is called {hold}\n")
    })
}
