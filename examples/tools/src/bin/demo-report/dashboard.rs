//! Whether every panel of a dashboard has something to show.

use serde_json::Value;

use super::Failure;
use super::args::DashboardArgs;
use super::prometheus::Prometheus;
use super::verdict::Verdict;

/// Long enough for whatever happened at all.
const RATES_OVER: &str = "30s";

pub(crate) async fn check(args: &DashboardArgs, verdict: &mut Verdict) -> Result<(), Failure> {
    let prometheus = Prometheus::at(&args.prometheus)?;
    let dashboard: Value = serde_json::from_slice(&std::fs::read(&args.dashboard)?)?;

    let queries = queries(&dashboard);
    let mut answered = 0;
    for (panel, expression) in &queries {
        let trouble = match prometheus.query(expression).await {
            Ok(samples) if samples.iter().any(|sample| !sample.value().is_nan()) => None,
            Ok(samples) if samples.is_empty() => Some("no data".to_owned()),
            Ok(_) => Some("nothing but NaN".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        match trouble {
            None => answered += 1,
            Some(trouble) => println!("        {panel}: {trouble}: {expression}"),
        }
    }
    let seen = format!("{answered} of {}", queries.len());
    let all = answered == queries.len() && answered > 0;
    verdict.check("dashboard queries that return data", all, seen);

    let (mut rules, mut healthy) = (0, 0);
    for rule in prometheus.rules().await? {
        rules += 1;
        // An alert that does not fire has no data; what is recorded has to have some.
        let fine = rule.health == "ok"
            && (rule.kind == "alerting" || !prometheus.query(&rule.name).await?.is_empty());
        if fine {
            healthy += 1;
        } else {
            println!("        rule {}: {}, or no data", rule.name, rule.health);
        }
    }
    let seen = format!("{healthy} of {rules}");
    verdict.check("rules that work", healthy == rules && rules > 0, seen);
    Ok(())
}

/// The queries of panels, also of those inside rows, and of variables; each with a title.
fn queries(dashboard: &Value) -> Vec<(String, String)> {
    let mut queries = Vec::new();
    let mut panels: Vec<&Value> = items(&dashboard["panels"]).collect();
    while let Some(panel) = panels.pop() {
        panels.extend(items(&panel["panels"]));
        let title = panel["title"].as_str().unwrap_or_default();
        for target in items(&panel["targets"]) {
            let expression = target["expr"].as_str().unwrap_or_default();
            queries.push((title.to_owned(), filled_in(expression)));
        }
    }
    for variable in items(&dashboard["templating"]["list"]) {
        let name = variable["name"].as_str().unwrap_or_default();
        let definition = variable["definition"].as_str().unwrap_or_default();
        // `label_values(series, label)`: not PromQL, but there have to be such series.
        if let Some((series, _)) = definition
            .strip_prefix("label_values(")
            .and_then(|rest| rest.rsplit_once(','))
        {
            queries.push((format!("variable {name}"), filled_in(series)));
        }
    }
    queries
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// With what Grafana puts in for its variables when everything is selected.
fn filled_in(expression: &str) -> String {
    expression
        .replace("$__rate_interval", RATES_OVER)
        .replace("$__range", "2m")
        .replace("$job", ".*")
        .replace("$lock", ".*")
}
