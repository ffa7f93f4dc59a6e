//! The job that every process starts and one of them does.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dlock::distributed_lock;
use metrics::counter;
use tokio::time::sleep;

use super::app_error::AppError;
use super::catalogue::SKUS;
use super::stock::Stock;

const PERIOD: Duration = Duration::from_secs(2);
const DELIVERY: i64 = 60;
/// What unloading one article takes; all together longer than a renewal of the lock.
const UNLOADING: Duration = Duration::from_millis(110);

/// What became of one period's job in this process.
#[derive(Debug, Clone, Copy)]
enum Restock {
    Done,
    /// Another process is at it.
    Elsewhere,
    /// Another process has done it.
    DoneElsewhere,
}

/// Restocks at the beginning of each period, at the same moment in all processes.
pub(crate) async fn for_ever(stock: Stock) {
    loop {
        let period = next_period().await;
        let outcome = match stock.restock(period).await {
            Ok(Restock::Done) => "done",
            Ok(Restock::Elsewhere) => "elsewhere",
            Ok(Restock::DoneElsewhere) => "done_elsewhere",
            Err(error) => {
                eprintln!("restock: {error}");
                "failed"
            }
        };
        counter!("orders_restocks_total", "outcome" => outcome).increment(1);
    }
}

impl Stock {
    #[distributed_lock(
        key = "restock",
        mode = "write",
        wait = "none",
        on_busy = Ok(Restock::Elsewhere),
        when = self.locking
    )]
    async fn restock(&self, period: i64) -> Result<Restock, AppError> {
        // A process whose clock is late comes after the lock is free again.
        if self.database.last_restock().await? >= Some(period) {
            return Ok(Restock::DoneElsewhere);
        }
        sleep(UNLOADING).await;
        self.database.note_restock(period).await?;
        for sku in SKUS {
            self.deliver(sku, DELIVERY).await?;
            sleep(UNLOADING).await;
        }
        Ok(Restock::Done)
    }
}

/// Waits for the next period to begin; its number.
async fn next_period() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let number = now.as_secs() / PERIOD.as_secs() + 1;
    sleep((PERIOD * u32::try_from(number).unwrap_or(u32::MAX)).saturating_sub(now)).await;
    i64::try_from(number).unwrap_or(i64::MAX)
}
