//! The client of the command line.

use std::time::Duration;

use dlock::{Client, ClientBuilder};

use crate::args::{Common, KEY};
use crate::exit::{Exit, Failure};

/// Settings from the options that all commands have.
pub(crate) fn builder(common: &Common) -> Result<ClientBuilder, Failure> {
    if common.url.is_empty() {
        // A server on this machine may be there, and not be the one that the services use.
        let within = if std::env::var_os(KEY).is_some() {
            "; this is the command of a `dlock run`, which passes DLOCK_URL on only with --keep-url"
        } else {
            ""
        };
        return Err(Failure::new(
            Exit::CONFIG,
            format!(
                "no server is named; give --url or set DLOCK_URL, for example to redis://127.0.0.1:6379{within}"
            ),
        ));
    }
    if common
        .url
        .iter()
        .any(|url| url.trim().starts_with("memory://"))
    {
        return Err(Failure::new(
            Exit::CONFIG,
            "memory:// is a store inside one process, so nobody else would see its locks; \
             name a server in --url or DLOCK_URL, such as redis://127.0.0.1:6379",
        ));
    }
    for (texts, what) in [
        (&common.url, "--url (DLOCK_URL) has an empty URL"),
        (
            &common.trusted_hosts,
            "--trusted-hosts (DLOCK_TRUSTED_HOSTS) has an empty host",
        ),
    ] {
        if texts.iter().any(|text| text.trim().is_empty()) {
            return Err(Failure::new(
                Exit::CONFIG,
                format!("{what}; give it a value, or remove the variable"),
            ));
        }
    }
    let mut builder = match &common.url[..] {
        [url] => Client::builder().url(url),
        urls => Client::builder().quorum(urls),
    };
    if !common.trusted_hosts.is_empty() {
        builder = builder.trusted_hosts(&common.trusted_hosts);
    }
    if let Some(file) = &common.tls_ca_file {
        builder = builder.tls_ca_file(file);
    }
    match (&common.tls_cert_file, &common.tls_key_file) {
        (Some(certificate), Some(key)) => builder = builder.tls_client_files(certificate, key),
        (None, None) => {}
        _ => {
            return Err(Failure::new(
                Exit::CONFIG,
                "a certificate and its key are two files; name both or none",
            ));
        }
    }
    let builder = builder.prefix(&common.prefix).retry_for(common.retry_for);
    // A short patience means short answers too.
    let one = Duration::from_secs(1);
    Ok(builder.response_timeout(one.min(common.retry_for)))
}

/// Connects with these settings alone.
pub(crate) async fn connect(common: &Common) -> Result<Client, Failure> {
    Ok(builder(common)?.build().await?)
}

/// Where the locks live, without users and passwords.
pub(crate) fn places(common: &Common) -> String {
    let places: Vec<_> = common.url.iter().map(|url| without_login(url)).collect();
    places.join(" ")
}

/// The URL without user and password.
fn without_login(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://{place}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_login;

    #[test]
    fn passwords_are_not_shown() {
        for (url, seen) in [
            ("redis://u:p@ss@h:1,i:2", "redis://h:1,i:2"),
            ("redis://h:1", "redis://h:1"),
            ("memory://", "memory://"),
        ] {
            assert_eq!(without_login(url), seen);
        }
    }
}
