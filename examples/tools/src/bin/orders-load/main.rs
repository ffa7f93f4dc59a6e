//! Buyers for the shops of `orders`: a bounded load, every request of it written down.

mod args;
mod buyer;
mod record;
mod shops;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use tokio::task::JoinSet;

use self::args::Args;
use self::buyer::{Buyer, Errand};
use self::record::Record;
use self::shops::Shops;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let shops = Arc::new(Shops::new(args.shops)?);
    let record = Arc::new(Record::create(&args.log)?);
    let until = Instant::now() + Duration::from_secs(args.seconds);
    let mut buyers = JoinSet::new();
    for sku in shops.skus().await? {
        // Each article has buyers of its own, so that a lock that hangs delays no other's.
        let errands = [(Errand::Order, args.buyers), (Errand::Quote, args.askers)];
        for (errand, number) in errands {
            for _ in 0..number {
                let buyer = Buyer {
                    shops: Arc::clone(&shops),
                    record: Arc::clone(&record),
                    sku: sku.clone(),
                    errand,
                };
                buyers.spawn(buyer.shop_until(until));
            }
        }
    }
    while let Some(ended) = buyers.join_next().await {
        ended??;
    }
    println!("{} requests", record.finish()?);
    Ok(())
}
