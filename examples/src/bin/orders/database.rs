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
        supplied INTEGER NOT NULL DEFAULT 0,  -- units 1 to this one were delivered
        sold     INTEGER NOT NULL DEFAULT 0,  -- units 1 to this one were sold
        fence    INTEGER NOT NULL DEFAULT 0   -- the largest fencing token that has written
    ) STRICT;
    CREATE TABLE IF NOT EXISTS orders (
        id    INTEGER PRIMARY KEY,
        sku   TEXT NOT NULL REFERENCES items,
        unit  INTEGER NOT NULL,
        token INTEGER
    ) STRICT;
    CREATE TABLE IF NOT EXISTS deliveries (
        id    INTEGER PRIMARY KEY,
        sku   TEXT NOT NULL REFERENCES items,
        unit  INTEGER NOT NULL,  -- the last one
        token INTEGER
    ) STRICT;
    CREATE TABLE IF NOT EXISTS restocks (
        period   INTEGER NOT NULL,
        process  INTEGER NOT NULL
    ) STRICT;
";

/// Sets a number of an article, unless a writer with a larger token has written before; and notes it.
struct Write {
    update: &'static str,
    note: &'static str,
}

const SALE: Write = Write {
    update: "UPDATE items SET sold = ?2, fence = ifnull(?3, fence)
             WHERE sku = ?1 AND (?3 IS NULL OR fence < ?3)",
    note: "INSERT INTO orders (sku, unit, token) VALUES (?1, ?2, ?3)",
};

const DELIVERY: Write = Write {
    update: "UPDATE items SET supplied = ?2, fence = ifnull(?3, fence)
             WHERE sku = ?1 AND (?3 IS NULL OR fence < ?3)",
    note: "INSERT INTO deliveries (sku, unit, token) VALUES (?1, ?2, ?3)",
};

/// A connection that any task may use.
#[derive(Debug, Clone)]
pub(crate) struct Database(Arc<Mutex<Connection>>);

/// An article. Its units are numbered; a number sold twice is a customer who gets nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) price: i64,
    pub(crate) supplied: i64,
    pub(crate) sold: i64,
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
                .prepare_cached("SELECT price, supplied, sold FROM items WHERE sku = ?1")?
                .query_row([sku], |row| {
                    Ok(Item {
                        price: row.get(0)?,
                        supplied: row.get(1)?,
                        sold: row.get(2)?,
                    })
                })
        })
        .await
    }

    /// Writes that units up to this one are sold. Returns the number of the order.
    pub(crate) async fn sell(
        &self,
        sku: &str,
        unit: i64,
        token: Option<i64>,
    ) -> Result<i64, AppError> {
        self.write(&SALE, sku, unit, token).await
    }

    /// Writes that units up to this one were delivered.
    pub(crate) async fn deliver(
        &self,
        sku: &str,
        unit: i64,
        token: Option<i64>,
    ) -> Result<i64, AppError> {
        self.write(&DELIVERY, sku, unit, token).await
    }

    async fn write(
        &self,
        write: &'static Write,
        sku: &str,
        unit: i64,
        token: Option<i64>,
    ) -> Result<i64, AppError> {
        let sku = sku.to_owned();
        self.with(move |connection| {
            let values = params![sku, unit, token];
            let transaction = immediate(connection)?;
            if transaction.prepare_cached(write.update)?.execute(values)? == 0 {
                return Ok(Err(AppError::Stale));
            }
            transaction.prepare_cached(write.note)?.execute(values)?;
            let id = transaction.last_insert_rowid();
            transaction.commit()?;
            Ok(Ok(id))
        })
        .await?
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
