//! What the shop does with its stock, each under the lock of the article.

use std::time::Duration;

use dlock::distributed_lock;
use serde::Serialize;
use tokio::time::sleep;

use super::app_error::AppError;
use super::database::Database;

/// What a card payment takes, roughly.
const PAYMENT: Duration = Duration::from_millis(4);
/// What asking the tax service takes.
const TAX: Duration = Duration::from_millis(2);

/// The stock, as this process uses it.
#[derive(Debug, Clone)]
pub(crate) struct Stock {
    pub(super) database: Database,
    /// False only to show what goes wrong.
    pub(super) locking: bool,
}

/// A sale.
#[derive(Debug, Serialize)]
pub(crate) struct Order {
    id: i64,
    unit: i64,
    price: i64,
    token: Option<i64>,
}

/// An offer.
#[derive(Debug, Serialize)]
pub(crate) struct Quote {
    price: i64,
    available: i64,
}

impl Stock {
    pub(crate) fn new(database: Database, locking: bool) -> Self {
        Self { database, locking }
    }

    /// Sells the next unit. Reads which one that is, waits for the payment, writes that it is
    /// gone: two at once would sell it twice.
    #[distributed_lock(
        key = "sku:{sku}",
        mode = "write",
        wait = "5s",
        when = self.locking,
        guard = held
    )]
    pub(crate) async fn reserve(&self, sku: &str) -> Result<Order, AppError> {
        let item = self.database.item(sku).await?;
        if item.sold >= item.supplied {
            return Err(AppError::SoldOut);
        }
        sleep(PAYMENT).await;
        let unit = item.sold + 1;
        let token = held.as_ref().and_then(token);
        let id = self.database.sell(sku, unit, token).await?;
        Ok(Order {
            id,
            unit,
            price: item.price,
            token,
        })
    }

    /// Makes an offer. Looks twice: what was read first still holds at the end, as no process writes while another reads.
    #[distributed_lock(key = "sku:{sku}", mode = "read", wait = "5s", when = self.locking)]
    pub(crate) async fn quote(&self, sku: &str) -> Result<Quote, AppError> {
        let item = self.database.item(sku).await?;
        sleep(TAX).await;
        if self.database.item(sku).await? != item {
            return Err(AppError::Torn);
        }
        Ok(Quote {
            price: item.price,
            available: item.supplied - item.sold,
        })
    }

    /// Adds a delivery to the stock.
    #[distributed_lock(
        key = "sku:{sku}",
        mode = "write",
        wait = "5s",
        when = self.locking,
        guard = held
    )]
    pub(super) async fn deliver(&self, sku: &str, quantity: i64) -> Result<(), AppError> {
        let item = self.database.item(sku).await?;
        let token = held.as_ref().and_then(token);
        let unit = item.supplied + quantity;
        self.database.deliver(sku, unit, token).await.map(|_| ())
    }
}

/// The token as SQL has it; tokens fit.
fn token(held: &dlock::CallGuard) -> Option<i64> {
    i64::try_from(held.fencing_token().as_u64()).ok()
}
