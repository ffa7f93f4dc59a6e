//! The client of the command line.

use std::time::Duration;

use dlock::{Client, ClientBuilder, Error};

use crate::args::Common;

/// Settings from the options that all commands have.
pub(crate) fn builder(common: &Common) -> ClientBuilder {
    let builder = Client::builder()
        .url(&common.url)
        .prefix(&common.prefix)
        .retry_for(common.retry_for);
    // A short patience means short answers too.
    let one = Duration::from_secs(1);
    builder.response_timeout(one.min(common.retry_for))
}

/// Connects with these settings alone.
pub(crate) async fn connect(common: &Common) -> Result<Client, Error> {
    builder(common).build().await
}

/// The URL without user and password.
pub(crate) fn shown(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://{place}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn passwords_are_not_shown() {
        for (url, seen) in [
            ("redis://u:p@ss@h:1,i:2", "redis://h:1,i:2"),
            ("redis://h:1", "redis://h:1"),
            ("memory://", "memory://"),
        ] {
            assert_eq!(shown(url), seen);
        }
    }
}
