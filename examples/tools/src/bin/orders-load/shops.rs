//! Which shop to go to.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use reqwest::{Client, Response};

use super::Failure;
use super::buyer::Errand;

/// Longer than any wait for a lock.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long a shop that did not answer is left alone.
const AVOIDED: Duration = Duration::from_secs(2);

/// The shops, some of which may be closed.
#[derive(Debug)]
pub(crate) struct Shops {
    http: Client,
    shops: Vec<Shop>,
}

#[derive(Debug)]
struct Shop {
    url: String,
    avoid_until: Mutex<Instant>,
}

impl Shops {
    pub(crate) fn new(urls: Vec<String>) -> Result<Self, Failure> {
        let shop = |url| Shop {
            url,
            avoid_until: Mutex::new(Instant::now()),
        };
        Ok(Self {
            http: Client::builder().timeout(PATIENCE).build()?,
            shops: urls.into_iter().map(shop).collect(),
        })
    }

    pub(crate) async fn skus(&self) -> Result<Vec<String>, Failure> {
        let url = format!("{}/items", self.any().url);
        Ok(self.http.get(url).send().await?.json().await?)
    }

    /// Asks any shop that is open, or any at all if none is.
    pub(crate) async fn ask(&self, errand: Errand, sku: &str) -> reqwest::Result<Response> {
        let shop = self.any();
        let url = &shop.url;
        let request = match errand {
            Errand::Order => self.http.post(format!("{url}/orders/{sku}")),
            Errand::Quote => self.http.get(format!("{url}/quotes/{sku}")),
        };
        let answer = request.send().await;
        if answer.is_err() {
            *shop
                .avoid_until
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Instant::now() + AVOIDED;
        }
        answer
    }

    fn any(&self) -> &Shop {
        let now = Instant::now();
        let open: Vec<&Shop> = self.shops.iter().filter(|shop| shop.is_open(now)).collect();
        if open.is_empty() {
            &self.shops[fastrand::usize(..self.shops.len())]
        } else {
            open[fastrand::usize(..open.len())]
        }
    }
}

impl Shop {
    fn is_open(&self, now: Instant) -> bool {
        *self
            .avoid_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            <= now
    }
}
