//! A shop: one of several processes that sell from one stock.
//!
//! `cargo run -p dlock-examples --bin orders -- --help`; `scripts/demo` runs three of them on a
//! cluster while things break.

mod app_error;
mod args;
mod catalogue;
mod database;
mod health;
mod restock;
mod routes;
mod stock;
mod telemetry;

use clap::Parser;
use dlock::Client;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use self::args::Args;
use self::database::Database;
use self::routes::Shop;
use self::stock::Stock;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let metrics = telemetry::install()?;
    let mut client = Client::builder().url(&args.url).lease(args.lease);
    if let Some(name) = &args.name {
        client = client.client_name(name);
    }
    let client = client.build().await?;
    dlock::install(client.clone());
    let stock = Stock::new(Database::open(&args.db)?, !args.without_lock);

    let listener = TcpListener::bind(("127.0.0.1", args.port)).await?;
    let mut terminated = signal(SignalKind::terminate())?;
    let ended = async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    };
    println!("listening on http://{}", listener.local_addr()?);

    let restocking = tokio::spawn(restock::for_ever(stock.clone()));
    let shop = Shop {
        stock,
        client: client.clone(),
        metrics,
    };
    axum::serve(listener, routes::router(shop))
        .with_graceful_shutdown(ended)
        .await?;

    // Requests are answered. The job may finish what it is at, and takes no new lock.
    client.drain(args.lease).await?;
    restocking.abort();
    println!("ended; all locks are released");
    Ok(())
}
