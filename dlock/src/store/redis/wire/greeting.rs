//! What a new connection is told and asked.

use redis::{Pipeline, Value};

use super::value::text;

/// Names the connection and asks for the time.
pub(crate) fn greeting(client: &str) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(2);
    pipeline.cmd("CLIENT").arg("SETNAME").arg(client);
    pipeline.cmd("TIME");
    pipeline
}

/// The server's time in what it answers to that, in microseconds.
pub(crate) fn time(answers: &[Value]) -> Option<u64> {
    let Value::Array(parts) = answers.get(1)? else {
        return None;
    };
    let mut numbers = parts.iter().map(|part| text(part)?.parse::<u64>().ok());
    let (seconds, micros) = (numbers.next()??, numbers.next()??);
    seconds.checked_mul(1_000_000)?.checked_add(micros)
}
