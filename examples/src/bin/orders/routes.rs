//! What the service answers.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use dlock::Client;
use metrics_exporter_prometheus::PrometheusHandle;

use super::app_error::AppError;
use super::catalogue::SKUS;
use super::stock::{Order, Quote, Stock};
use super::{health, telemetry};

/// What the handlers work with.
#[derive(Debug, Clone)]
pub(crate) struct Shop {
    pub(crate) stock: Stock,
    pub(crate) client: Client,
    pub(crate) metrics: PrometheusHandle,
}

pub(crate) fn router(shop: Shop) -> Router {
    Router::new()
        .route("/orders/{sku}", post(order))
        .route("/quotes/{sku}", get(quote))
        .route_layer(middleware::from_fn(telemetry::measure))
        .route("/items", get(Json(SKUS)))
        .route("/health", get(health::health))
        .route("/metrics", get(scrape))
        .with_state(shop)
}

async fn order(
    State(shop): State<Shop>,
    Path(sku): Path<String>,
) -> Result<(StatusCode, Json<Order>), AppError> {
    let order = shop.stock.reserve(&sku).await?;
    Ok((StatusCode::CREATED, Json(order)))
}

async fn quote(State(shop): State<Shop>, Path(sku): Path<String>) -> Result<Json<Quote>, AppError> {
    shop.stock.quote(&sku).await.map(Json)
}

async fn scrape(State(shop): State<Shop>) -> String {
    shop.metrics.render()
}
