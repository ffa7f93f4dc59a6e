//! What the database says in the end.

use std::path::Path;

use rusqlite::Connection;

/// Sums over all articles and orders.
#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) supplied: i64,
    pub(crate) sold: i64,
    /// Units that were sold and never delivered.
    pub(crate) oversold: i64,
    /// Articles whose stock is not what was delivered less what was sold.
    pub(crate) wrong: i64,
    pub(crate) restocks: i64,
    /// How often the restocking job ran again in a period.
    pub(crate) repeated: i64,
    pub(crate) fenced: i64,
    /// Orders whose token is not larger than that of the order before.
    pub(crate) unordered: i64,
}

const QUERY: &str = "
    WITH of_item AS (
        SELECT items.sku, stock, supplied, sum(ifnull(quantity, 0)) AS sold
        FROM items LEFT JOIN orders USING (sku) GROUP BY items.sku
    ), in_order AS (
        SELECT token, lag(token) OVER (PARTITION BY sku ORDER BY id) AS previous FROM orders
    )
    SELECT
        (SELECT sum(supplied) FROM of_item),
        (SELECT sum(sold) FROM of_item),
        (SELECT sum(max(sold - supplied, 0)) FROM of_item),
        (SELECT count(*) FROM of_item WHERE stock <> supplied - sold),
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
                sold: row.get(1)?,
                oversold: row.get(2)?,
                wrong: row.get(3)?,
                restocks: row.get(4)?,
                repeated: row.get(5)?,
                fenced: row.get(6)?,
                unordered: row.get(7)?,
            })
        })
    }
}
