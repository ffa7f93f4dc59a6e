//! A buyer that wants one article again and again.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde::Deserialize;

use super::Failure;
use super::record::Record;
use super::shops::Shops;

/// Buyers think about this long between requests.
const THINKS_MS: std::ops::Range<u64> = 10..40;

/// The purpose of a visit to a shop.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Errand {
    Order,
    Quote,
}

/// One at a time.
#[derive(Debug)]
pub(crate) struct Buyer {
    pub(crate) shops: Arc<Shops>,
    pub(crate) record: Arc<Record>,
    pub(crate) sku: String,
    pub(crate) errand: Errand,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Buyer {
    pub(crate) async fn shop_until(self, until: Instant) -> Result<(), Failure> {
        while Instant::now() < until {
            let (at, began) = (SystemTime::now(), Instant::now());
            let answer = self.ask().await;
            self.record
                .write(at, began.elapsed(), self.errand, &self.sku, &answer)?;
            tokio::time::sleep(Duration::from_millis(fastrand::u64(THINKS_MS))).await;
        }
        Ok(())
    }

    async fn ask(&self) -> String {
        let answer = match self.shops.ask(self.errand, &self.sku).await {
            Ok(answer) => answer,
            Err(error) if error.is_timeout() => return "no_answer".into(),
            Err(_) => return "unreachable".into(),
        };
        if answer.status().is_success() {
            return "ok".into();
        }
        let status = answer.status();
        match answer.json::<Refusal>().await {
            Ok(refusal) => refusal.error,
            Err(_) => format!("status_{}", status.as_u16()),
        }
    }
}
