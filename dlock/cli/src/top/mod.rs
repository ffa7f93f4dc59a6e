//! `dlock top`: the locks, live.

mod model;
mod rates;
mod sampler;
mod screen;
mod view;

use std::io::{self, IsTerminal};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use crate::args::{Common, Top};
use crate::connect::{connect, places};
use crate::exit::{Exit, Failure};
use crate::hidden::plain;
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

/// Such as `09:05:00 UTC`.
fn time_of_day(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{hour:02}:{minute:02}:{:02} UTC", seconds % 60)
}

/// Prints pictures one after the other, with the time if there are several.
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
            let table = list::text(picture.rows.iter().map(|row| &row.lock));
            if count == Some(1) {
                output::print(&table)?;
            } else {
                output::print(&format!("{}\n{table}", time_of_day(SystemTime::now())))?;
            }
        }
        printed += 1;
    }
    Ok(())
}
