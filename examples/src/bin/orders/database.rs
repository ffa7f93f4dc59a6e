//! The stock's file. Only single statements and short transactions are atomic here; what spans
//! several of them is what the locks are for.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use super::app_error::AppError;
use super::catalogue::SKUS;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS items (
        sku      TEXT PRIMARY KEY,
        price    INTEGER NOT NULL,
        stock    INTEGER NOT NULL DEFAULT 0,
        supplied INTEGER NOT NULL DEFAULT 0,
        sold     INTEGER NOT NULL DEFAULT 0,
        fence    INTEGER NOT NULL DEFAULT 0  -- the largest fencing token that has written
    ) STRICT;
    CREATE TABLE IF NOT EXISTS orders (
        id       INTEGER PRIMARY KEY,
        sku      TEXT NOT NULL REFERENCES items,
        quantity INTEGER NOT NULL,
        token    INTEGER
    ) STRICT;
    CREATE TABLE IF NOT EXISTS restocks (
        period   INTEGER NOT NULL,
        process  INTEGER NOT NULL
    ) STRICT;
";

/// A connection that any task may use.
#[derive(Debug, Clone)]
pub(crate) struct Database(Arc<Mutex<Connection>>);

/// An article.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) price: i64,
    pub(crate) stock: i64,
    /// What the books say should be in stock.
    pub(crate) due: i64,
}

impl Database {
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // The demo is about locks, not about power cuts.
        connection.pragma_update(None, "synchronous", "OFF")?;
        let transaction = immediate(&mut connection)?;
        transaction.execute_batch(SCHEMA)?;
        for (sku, price) in SKUS.into_iter().zip(5_i64..) {
            transaction.execute(
                "INSERT OR IGNORE INTO items (sku, price) VALUES (?1, ?2)",
                params![sku, price],
            )?;
        }
        transaction.commit()?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    pub(crate) async fn item(&self, sku: &str) -> Result<Item, AppError> {
        let sku = sku.to_owned();
        self.with(move |connection| {
            connection
                .prepare_cached("SELECT price, stock, supplied - sold FROM items WHERE sku = ?1")?
                .query_row([sku], |row| {
                    Ok(Item {
                        price: row.get(0)?,
                        stock: row.get(1)?,
                        due: row.get(2)?,
                    })
                })
        })
        .await
    }

    /// Writes an order and the stock that remains, unless somebody with a larger token has
    /// written before. Returns the order's number.
    pub(crate) async fn sell(
        &self,
        sku: &str,
        quantity: i64,
        remaining: i64,
        token: Option<i64>,
    ) -> Result<i64, AppError> {
        let sku = sku.to_owned();
        let id = self
            .with(move |connection| {
                let transaction = immediate(connection)?;
                let written = transaction
                    .prepare_cached(
                        "UPDATE items SET stock = ?2, sold = sold + ?3, fence = ifnull(?4, fence)
                         WHERE sku = ?1 AND (?4 IS NULL OR fence < ?4)",
                    )?
                    .execute(params![sku, remaining, quantity, token])?;
                if written == 0 {
                    return Ok(None);
                }
                transaction
                    .prepare_cached(
                        "INSERT INTO orders (sku, quantity, token) VALUES (?1, ?2, ?3)",
                    )?
                    .execute(params![sku, quantity, token])?;
                let id = transaction.last_insert_rowid();
                transaction.commit()?;
                Ok(Some(id))
            })
            .await?;
        id.ok_or(AppError::Stale)
    }

    /// Writes the stock after a delivery, unless somebody with a larger token has written before.
    pub(crate) async fn deliver(
        &self,
        sku: &str,
        quantity: i64,
        stock: i64,
        token: Option<i64>,
    ) -> Result<(), AppError> {
        let sku = sku.to_owned();
        let written = self
            .with(move |connection| {
                connection
                    .prepare_cached(
                        "UPDATE items
                         SET stock = ?2, supplied = supplied + ?3, fence = ifnull(?4, fence)
                         WHERE sku = ?1 AND (?4 IS NULL OR fence < ?4)",
                    )?
                    .execute(params![sku, stock, quantity, token])
            })
            .await?;
        if written == 0 {
            Err(AppError::Stale)
        } else {
            Ok(())
        }
    }

    pub(crate) async fn last_restock(&self) -> Result<Option<i64>, AppError> {
        self.with(|connection| {
            let latest = "SELECT period FROM restocks ORDER BY rowid DESC LIMIT 1";
            connection
                .query_row(latest, [], |row| row.get(0))
                .optional()
        })
        .await
    }

    pub(crate) async fn note_restock(&self, period: i64) -> Result<(), AppError> {
        self.with(move |connection| {
            connection.execute(
                "INSERT INTO restocks (period, process) VALUES (?1, ?2)",
                params![period, std::process::id()],
            )
        })
        .await
        .map(|_| ())
    }

    /// Runs `work` where it may block. A caller that is cancelled does not stop it: what it
    /// writes late is what the fencing tokens keep out.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, AppError> {
        let connection = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || {
            work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))
        });
        match done.await {
            Ok(result) => Ok(result?),
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }
}

/// A transaction that writes: begun as one, it waits for others instead of failing half-way.
fn immediate(connection: &mut Connection) -> rusqlite::Result<rusqlite::Transaction<'_>> {
    connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
}
