//! Questions to Prometheus.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Failure;

/// A server.
#[derive(Debug)]
pub(crate) struct Prometheus {
    http: reqwest::Client,
    url: String,
}

/// One element of an answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Sample {
    #[serde(rename = "metric")]
    pub(crate) labels: BTreeMap<String, String>,
    value: (f64, String),
}

/// A rule, as loaded.
#[derive(Debug, Deserialize)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) health: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

#[derive(Deserialize)]
struct Reply<T> {
    data: Option<T>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Answer<T> {
    result: Vec<T>,
}

#[derive(Deserialize)]
struct Groups {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    rules: Vec<Rule>,
}

impl Sample {
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    /// Not a number where the text is none.
    pub(crate) fn value(&self) -> f64 {
        self.value.1.parse().unwrap_or(f64::NAN)
    }
}

impl Prometheus {
    pub(crate) fn at(url: &str) -> Result<Self, Failure> {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(10));
        Ok(Self {
            http: http.build()?,
            url: url.to_owned(),
        })
    }

    /// What an expression is now.
    pub(crate) async fn query(&self, expression: &str) -> Result<Vec<Sample>, Failure> {
        let vector: Answer<Sample> = self.get("query", &[("query", expression)]).await?;
        Ok(vector.result)
    }

    pub(crate) async fn rules(&self) -> Result<Vec<Rule>, Failure> {
        let groups: Groups = self.get("rules", &[]).await?;
        Ok(groups
            .groups
            .into_iter()
            .flat_map(|group| group.rules)
            .collect())
    }

    async fn get<T: DeserializeOwned>(
        &self,
        what: &str,
        arguments: &[(&str, &str)],
    ) -> Result<T, Failure> {
        let request = self.http.get(format!("{}/api/v1/{what}", self.url));
        let reply: Reply<T> = request.query(arguments).send().await?.json().await?;
        let refusal = || reply.error.unwrap_or_else(|| "an empty answer".into());
        reply.data.ok_or_else(|| refusal().into())
    }
}
