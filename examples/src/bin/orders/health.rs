//! Whether a load balancer should send requests here.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::catalogue::SKUS;
use super::routes::Shop;

/// Less than load balancers wait.
const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) async fn health(State(shop): State<Shop>) -> (StatusCode, Json<Value>) {
    let locks = async {
        shop.client.rw_lock("health")?.inspect().await?;
        Ok::<_, dlock::Error>(())
    };
    let locks = match timeout(PATIENCE, locks).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {PATIENCE:?}")),
    };
    let database = match shop.stock.database.item(SKUS[0]).await {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    let status = if locks.is_ok() && database.is_ok() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let word = |state: Result<(), String>| state.err().unwrap_or_else(|| "ok".into());
    let body = json!({ "locks": word(locks), "database": word(database) });
    (status, Json(body))
}
