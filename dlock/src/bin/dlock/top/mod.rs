//! `dlock top`: the locks, live.

mod model;
mod rates;
mod sampler;
mod screen;
mod view;

use std::io::{self, IsTerminal};

use dlock::__internals::plain;
use tokio::sync::watch;

use crate::args::{Common, Top};
use crate::connect::{connect, places};
use crate::exit::{Exit, Failure};
use crate::{list, output};

use model::Picture;
use sampler::Sampler;

pub(crate) async fn top(common: &Common, args: Top) -> Result<Exit, Failure> {
    if args.interval < std::time::Duration::from_millis(100) {
        return Err(Failure::usage("--interval must be at least 100ms"));
    }
    let client = connect(common).await?;
    let place = format!("{}  prefix {}", places(common), common.prefix);
    let place = plain(&place).into_owned();
    let sampler = Sampler::new(client.clone(), args.pattern, args.interval);
    let interactive = args.count.is_none() && !common.json && io::stdout().is_terminal();
    let (sender, mut pictures) = watch::channel(Picture::default());
    let sampling = tokio::spawn(sampler.run(sender));
    let outcome = if interactive {
        screen::show(place, &mut pictures).await
    } else {
        // A pipe that names no count gets one table, or JSON for as long as it reads.
        let count = args.count.or((!common.json).then_some(1));
        print(common.json, count, &mut pictures).await
    };
    sampling.abort();
    outcome.map(|()| Exit::DONE)
}

/// Prints pictures one after the other.
async fn print(
    as_json: bool,
    count: Option<usize>,
    pictures: &mut watch::Receiver<Picture>,
) -> Result<(), Failure> {
    let mut printed = 0;
    let mut seen = 0;
    while count.is_none_or(|count| printed < count) {
        if pictures.changed().await.is_err() {
            break;
        }
        let picture = pictures.borrow_and_update().clone();
        if picture.scans == seen {
            continue;
        }
        seen = picture.scans;
        if let Some(trouble) = picture.trouble {
            return Err(trouble.into());
        }
        if as_json {
            output::print_json(&picture.to_json())?;
        } else {
            output::print(&list::text(picture.rows.iter().map(|row| &row.lock)))?;
        }
        printed += 1;
    }
    Ok(())
}
