//! Settings from the environment of the process.

use std::ffi::OsString;
use std::time::Duration;

use super::ClientBuilder;
use super::builder::Config;
use crate::duration;
use crate::error::Quoted;
use crate::lease::Millis;
use crate::store::{Pem, Trust};

const URL: &str = "DLOCK_URL";
const PREFIX: &str = "DLOCK_PREFIX";
const CLIENT_NAME: &str = "DLOCK_CLIENT_NAME";
const LEASE: &str = "DLOCK_LEASE";
const MAX_HOLD: &str = "DLOCK_MAX_HOLD";
const LINGER: &str = "DLOCK_LINGER";
const RETRY_FOR: &str = "DLOCK_RETRY_FOR";
const CONNECT_TIMEOUT: &str = "DLOCK_CONNECT_TIMEOUT";
const RESPONSE_TIMEOUT: &str = "DLOCK_RESPONSE_TIMEOUT";
const TLS_CA_FILE: &str = "DLOCK_TLS_CA_FILE";
const TLS_CERT_FILE: &str = "DLOCK_TLS_CERT_FILE";
const TLS_KEY_FILE: &str = "DLOCK_TLS_KEY_FILE";
const TRUSTED_HOSTS: &str = "DLOCK_TRUSTED_HOSTS";

impl ClientBuilder {
    /// Takes settings from the environment of the process. A variable that is absent leaves its setting as it is, and a setter that is
    /// called later replaces it. [`build`](Self::build) fails if a value is empty or cannot be read, and names the variable.
    ///
    /// The URLs of `DLOCK_URL` may replace the builder's one URL by another, but not one URL by a quorum, nor the reverse.
    /// `build` also fails if neither the environment nor the builder says where the locks are: on `memory://`, the default of a
    /// builder, a service would exclude no other process.
    ///
    /// | variable | setting | example |
    /// |---|---|---|
    /// | `DLOCK_URL` | [`url`](Self::url), or [`quorum`](Self::quorum) if it has several URLs with spaces between them | `redis://10.0.0.1:6379` |
    /// | `DLOCK_PREFIX` | [`prefix`](Self::prefix) | `shop` |
    /// | `DLOCK_CLIENT_NAME` | [`client_name`](Self::client_name) | `orders-7` |
    /// | `DLOCK_LEASE` | [`lease`](Self::lease) | `30s` |
    /// | `DLOCK_MAX_HOLD` | [`max_hold`](Self::max_hold) | `10m` |
    /// | `DLOCK_LINGER` | [`linger`](Self::linger) | `500ms` |
    /// | `DLOCK_RETRY_FOR` | [`retry_for`](Self::retry_for) | `10s` |
    /// | `DLOCK_CONNECT_TIMEOUT` | [`connect_timeout`](Self::connect_timeout) | `500ms` |
    /// | `DLOCK_RESPONSE_TIMEOUT` | [`response_timeout`](Self::response_timeout) | `1s` |
    /// | `DLOCK_TLS_CA_FILE` | [`tls_ca_file`](Self::tls_ca_file) | `/etc/dlock/ca.pem` |
    /// | `DLOCK_TLS_CERT_FILE` and `DLOCK_TLS_KEY_FILE` | [`tls_client_files`](Self::tls_client_files) | `/etc/dlock/client.pem` |
    /// | `DLOCK_TRUSTED_HOSTS` | [`trusted_hosts`](Self::trusted_hosts), with commas between them | `10.0.*,*.redis.internal` |
    ///
    /// Durations have a unit: `ms`, `s`, `m` or `h`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dlock::Error> {
    /// # if std::env::var_os("DLOCK_URL").is_none() {
    /// #     assert!(dlock::Client::builder().settings_from_env().build().await.is_err());
    /// #     return Ok(());
    /// # }
    /// // DLOCK_URL is redis://10.0.0.1:6379 in production, and memory:// on a laptop.
    /// let client = dlock::Client::builder().settings_from_env().build().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn settings_from_env(self) -> Self {
        self.settings_from(|name| std::env::var_os(name))
    }

    /// `variable` is the environment, or what a test has instead.
    fn settings_from(mut self, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        if let Err(why) = self.take(&Variables(&variable)) {
            self.unreadable = Some(why);
        }
        self.asks_for_servers = true;
        self
    }

    fn take(&mut self, variables: &Variables<'_>) -> Result<(), String> {
        if let Some(urls) = variables.text(URL)? {
            self.take_urls(urls.split_whitespace().map(str::to_owned).collect())?;
        }
        self.name = variables.text(CLIENT_NAME)?.or(self.name.take());
        let Config {
            prefix,
            lease,
            max_hold,
            linger,
            timeouts,
            trust,
        } = &mut self.config;
        set(prefix, variables.text(PREFIX)?);
        set(lease, variables.duration(LEASE)?);
        *max_hold = variables.duration(MAX_HOLD)?.or(*max_hold);
        if let Some(span) = variables.duration(LINGER)? {
            *linger = Millis::of(span);
        }
        set(&mut timeouts.retry_for, variables.duration(RETRY_FOR)?);
        set(&mut timeouts.connect, variables.duration(CONNECT_TIMEOUT)?);
        set(
            &mut timeouts.response,
            variables.duration(RESPONSE_TIMEOUT)?,
        );
        let file = |text: String| Pem::File(text.into());
        trust.authorities = variables
            .text(TLS_CA_FILE)?
            .map(file)
            .or(trust.authorities.take());
        match (
            variables.text(TLS_CERT_FILE)?,
            variables.text(TLS_KEY_FILE)?,
        ) {
            (Some(certificate), Some(key)) => trust.identity = Some((file(certificate), file(key))),
            (None, None) => {}
            _ => {
                return Err(format!(
                    "only one of {TLS_CERT_FILE} and {TLS_KEY_FILE} is set; set both"
                ));
            }
        }
        if let Some(hosts) = variables.text(TRUSTED_HOSTS)? {
            let hosts = Trust::hosts(hosts.split(','));
            if hosts.iter().any(String::is_empty) {
                return Err(format!("the variable {TRUSTED_HOSTS} has an empty host"));
            }
            trust.hosts = hosts;
        }
        Ok(())
    }

    /// A process that takes one server where others take a quorum, or the reverse, would exclude none of them.
    fn take_urls(&mut self, urls: Vec<String>) -> Result<(), String> {
        if !urls.iter().all(|url| url.contains("://")) {
            // The text may be a part of a password.
            return Err(format!(
                "the variable {URL} has a part that is no URL; write a space in a password as %20"
            ));
        }
        match &urls[..] {
            [_] if self.quorum.is_some() => Err(format!(
                "the variable {URL} has one URL, and the builder has a `quorum`; leave one out"
            )),
            [url] => {
                self.url = Some(url.clone());
                Ok(())
            }
            _ if self.url.is_some() => Err(format!(
                "the variable {URL} has several URLs, which are a quorum, and the builder has a `url`; leave one out"
            )),
            _ => {
                self.quorum = Some(urls);
                Ok(())
            }
        }
    }
}

fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

struct Variables<'v>(&'v dyn Fn(&str) -> Option<OsString>);

impl Variables<'_> {
    /// The value of a variable. An empty one is refused: it is mostly a secret that was not filled in.
    fn text(&self, name: &str) -> Result<Option<String>, String> {
        let Some(value) = (self.0)(name) else {
            return Ok(None);
        };
        match value.to_str().map(str::trim) {
            None => Err(format!("the variable {name} is not UTF-8")),
            Some("") => Err(format!(
                "the variable {name} is empty; give it a value, or remove it"
            )),
            Some(value) => Ok(Some(value.to_owned())),
        }
    }

    fn duration(&self, name: &str) -> Result<Option<Duration>, String> {
        let Some(value) = self.text(name)? else {
            return Ok(None);
        };
        let read = duration::parse_with_unit(&value);
        read.map(Some)
            .map_err(|why| format!("the variable {name} is `{}`: {why}", Quoted(&value)))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::time::Duration;

    use crate::{Client, ClientBuilder};

    fn built(variables: &[(&str, &str)]) -> ClientBuilder {
        let builder = Client::builder()
            .url("memory://before")
            .lease(Duration::from_secs(7));
        builder.settings_from(|name| {
            let variable = variables.iter().find(|(of, _)| *of == name);
            variable.map(|(_, value)| OsString::from(value))
        })
    }

    fn refused(variables: &[(&str, &str)]) -> String {
        built(variables).unreadable.expect("refused")
    }

    #[test]
    fn a_variable_replaces_its_setting_and_an_absent_one_does_not() {
        let builder = built(&[]);
        assert_eq!(builder.url.as_deref(), Some("memory://before"));
        assert_eq!(builder.config.lease, Duration::from_secs(7));
        let builder = built(&[
            ("DLOCK_URL", "redis://a:1"),
            ("DLOCK_PREFIX", "shop"),
            ("DLOCK_CLIENT_NAME", "orders-7"),
            ("DLOCK_LEASE", "1500ms"),
            ("DLOCK_MAX_HOLD", "2h"),
            ("DLOCK_LINGER", "400ms"),
            ("DLOCK_RETRY_FOR", "20s"),
            ("DLOCK_CONNECT_TIMEOUT", "250ms"),
            ("DLOCK_RESPONSE_TIMEOUT", "2s"),
            ("DLOCK_TLS_CA_FILE", "ca.pem"),
            ("DLOCK_TLS_CERT_FILE", "client.pem"),
            ("DLOCK_TLS_KEY_FILE", "client.key"),
            ("DLOCK_TRUSTED_HOSTS", "10.0.*, *.internal"),
        ]);
        let by_hand = Client::builder()
            .url("redis://a:1")
            .prefix("shop")
            .client_name("orders-7")
            .lease(Duration::from_millis(1500))
            .max_hold(Duration::from_hours(2))
            .linger(Duration::from_millis(400))
            .retry_for(Duration::from_secs(20))
            .connect_timeout(Duration::from_millis(250))
            .response_timeout(Duration::from_secs(2))
            .tls_ca_file("ca.pem")
            .tls_client_files("client.pem", "client.key")
            .trusted_hosts(["10.0.*", " *.internal "]);
        assert_eq!(format!("{builder:?}"), format!("{by_hand:?}"));
    }

    #[test]
    fn several_urls_are_a_quorum_and_do_not_replace_one_url_nor_the_reverse() {
        let several = ("DLOCK_URL", "redis://a redis://b  redis://c");
        let from = |builder: ClientBuilder, (_, value): (&str, &str)| {
            let value = OsString::from(value);
            builder.settings_from(|name| (name == "DLOCK_URL").then(|| value.clone()))
        };
        let urls = from(Client::builder(), several).quorum.expect("a quorum");
        assert_eq!(urls, ["redis://a", "redis://b", "redis://c"]);
        let text = refused(&[several]);
        assert!(text.contains("several URLs"), "{text}");
        let builder = from(Client::builder().quorum(urls), ("DLOCK_URL", "redis://a"));
        let text = builder.unreadable.expect("refused");
        assert!(text.contains("has one URL"), "{text}");
    }

    #[test]
    fn a_password_with_a_space_is_refused_and_not_shown() {
        for url in ["redis://:my secret pass@h", "redis://u:sec ret@h"] {
            let builder = Client::builder()
                .settings_from(|name| (name == "DLOCK_URL").then(|| OsString::from(url)));
            let shown = format!("{builder:?} {:?}", builder.unreadable);
            assert!(shown.contains("%20"), "{shown}");
            assert!(!shown.contains("sec") && !shown.contains("my"), "{shown}");
        }
    }

    #[tokio::test]
    async fn a_service_whose_environment_names_no_servers_does_not_start() {
        let builder = Client::builder().settings_from(|_| None);
        let error = builder.build().await.expect_err("refused");
        assert!(error.to_string().contains("DLOCK_URL is absent"), "{error}");
    }

    #[test]
    fn a_value_that_cannot_be_read_is_named() {
        for (name, value, why) in [
            ("DLOCK_URL", "", "DLOCK_URL is empty"),
            (
                "DLOCK_LEASE",
                "10",
                "DLOCK_LEASE is `10`: the unit is missing",
            ),
            ("DLOCK_MAX_HOLD", "1 day", "unknown unit"),
            (
                "DLOCK_TLS_KEY_FILE",
                "k.pem",
                "only one of DLOCK_TLS_CERT_FILE",
            ),
        ] {
            let text = refused(&[(name, value)]);
            assert!(text.contains(why), "{text}");
        }
    }
}
