//! What can go wrong, and how it is told to the caller.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dlock::ErrorKind;
use serde_json::json;

/// Why a request was not served.
#[derive(Debug)]
pub(crate) enum AppError {
    /// The lock was not had, or was lost. All the attribute needs is `From<dlock::Error>`.
    Lock(dlock::Error),
    Database(rusqlite::Error),
    UnknownItem,
    SoldOut,
    /// A writer with a larger token has written since: this process held a lock it had lost.
    Stale,
    /// Two reads under one lock did not fit together.
    Torn,
}

impl AppError {
    fn code(&self) -> &'static str {
        match self {
            Self::Lock(error) => match error.kind() {
                ErrorKind::Timeout(_) => "lock_timeout",
                ErrorKind::Lost(_) => "lock_lost",
                _ => "lock_failed",
            },
            Self::Database(_) => "database",
            Self::UnknownItem => "unknown_item",
            Self::SoldOut => "sold_out",
            Self::Stale => "stale",
            Self::Torn => "torn",
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Lock(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Database(_) | Self::Torn => StatusCode::INTERNAL_SERVER_ERROR,
            Self::UnknownItem => StatusCode::NOT_FOUND,
            Self::SoldOut | Self::Stale => StatusCode::CONFLICT,
        }
    }
}

impl std::fmt::Display for AppError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lock(error) => error.fmt(f),
            Self::Database(error) => error.fmt(f),
            Self::UnknownItem => f.write_str("there is no such article"),
            Self::SoldOut => f.write_str("there is none left"),
            Self::Stale => f.write_str("somebody with a newer lock has written meanwhile"),
            Self::Torn => f.write_str("it changed while it was read"),
        }
    }
}

impl std::error::Error for AppError {}

impl From<dlock::Error> for AppError {
    fn from(error: dlock::Error) -> Self {
        Self::Lock(error)
    }
}

impl From<rusqlite::Error> for AppError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::QueryReturnedNoRows => Self::UnknownItem,
            error => Self::Database(error),
        }
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.code(), "detail": self.to_string() });
        (self.status(), Json(body)).into_response()
    }
}
