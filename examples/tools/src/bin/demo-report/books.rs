//! What the database says in the end.

use std::path::Path;

use rusqlite::Connection;

/// Sums over all articles and orders.
#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) supplied: i64,
    pub(crate) orders: i64,
    /// Orders of a unit that another order has, or that was never delivered.
    pub(crate) oversold: i64,
    /// Deliveries whose units another delivery has.
    pub(crate) lost: i64,
    pub(crate) restocks: i64,
    /// How often the restocking job ran again in a period.
    pub(crate) repeated: i64,
    pub(crate) fenced: i64,
    /// Orders whose token is not larger than that of the article's order before.
    pub(crate) unordered: i64,
}

const QUERY: &str = "
    WITH good AS (
        SELECT DISTINCT sku, unit FROM orders JOIN items USING (sku) WHERE unit <= supplied
    ), in_order AS (
        SELECT token, lag(token) OVER (PARTITION BY sku ORDER BY id) AS previous FROM orders
    )
    SELECT
        (SELECT sum(supplied) FROM items),
        (SELECT count(*) FROM orders),
        (SELECT count(*) FROM orders) - (SELECT count(*) FROM good),
        (SELECT count(*) FROM deliveries)
            - (SELECT count(*) FROM (SELECT DISTINCT sku, unit FROM deliveries)),
        (SELECT count(*) FROM restocks),
        (SELECT count(*) - count(DISTINCT period) FROM restocks),
        (SELECT count(token) FROM orders),
        (SELECT count(*) FROM in_order WHERE token <= previous)
";

impl Books {
    pub(crate) fn read(path: &Path) -> rusqlite::Result<Self> {
        Connection::open(path)?.query_row(QUERY, [], |row| {
            Ok(Self {
                supplied: row.get(0)?,
                orders: row.get(1)?,
                oversold: row.get(2)?,
                lost: row.get(3)?,
                restocks: row.get(4)?,
                repeated: row.get(5)?,
                fenced: row.get(6)?,
                unordered: row.get(7)?,
            })
        })
    }
}
