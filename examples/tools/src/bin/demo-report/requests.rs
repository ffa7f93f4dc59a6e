//! The record of `orders-load`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::Failure;

/// One line.
#[derive(Debug)]
struct Request {
    /// Milliseconds since 1970.
    answered: u64,
    order: bool,
    sku: String,
    answer: String,
}

/// All of them, in the order of their answers.
#[derive(Debug)]
pub(crate) struct Requests(Vec<Request>);

impl Requests {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path)?;
        let mut requests = text
            .lines()
            .map(|line| Request::parse(line).ok_or_else(|| format!("{}: {line}", path.display())))
            .collect::<Result<Vec<_>, _>>()?;
        requests.sort_by_key(|request| request.answered);
        Ok(Self(requests))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// How often which answer was given.
    pub(crate) fn answers(&self) -> BTreeMap<&str, usize> {
        let mut answers = BTreeMap::new();
        for request in &self.0 {
            *answers.entry(request.answer.as_str()).or_default() += 1;
        }
        answers
    }

    pub(crate) fn count(&self, answer: &str) -> usize {
        self.answers().get(answer).copied().unwrap_or_default()
    }

    /// Requests that got what a shop in good order gives.
    pub(crate) fn served(&self) -> usize {
        self.0.iter().filter(|request| request.is_served()).count()
    }

    /// The longest time without an order decided, for each article, within a span of time.
    pub(crate) fn pauses(&self, from: u64, to: u64) -> BTreeMap<&str, Duration> {
        let end = self.0.last().map_or(to, |last| last.answered).min(to);
        let mut times: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for request in &self.0 {
            let decided = times.entry(&request.sku).or_default();
            if request.order && request.is_served() {
                decided.push(request.answered);
            }
        }
        times
            .into_iter()
            .map(|(sku, times)| {
                let inside = times.into_iter().filter(|time| (from..end).contains(time));
                let mut pause = 0;
                let mut last = from;
                for time in inside.chain([end]) {
                    pause = pause.max(time.saturating_sub(last));
                    last = time;
                }
                (sku, Duration::from_millis(pause))
            })
            .collect()
    }
}

impl Request {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ');
        let began: u64 = fields.next()?.parse().ok()?;
        let took: u64 = fields.next()?.parse().ok()?;
        Some(Self {
            answered: began + took / 1000,
            order: fields.next()? == "order",
            sku: fields.next()?.to_owned(),
            answer: fields.next()?.to_owned(),
        })
    }

    fn is_served(&self) -> bool {
        matches!(self.answer.as_str(), "ok" | "sold_out")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(lines: &[&str]) -> Requests {
        Requests(
            lines
                .iter()
                .filter_map(|line| Request::parse(line))
                .collect(),
        )
    }

    #[test]
    fn a_pause_lasts_from_decision_to_decision() {
        let requests = requests(&[
            "1000 0 order apron ok",
            "1100 900000 order apron sold_out",
            "3000 0 quote apron ok",
            "4000 0 order apron unreachable",
            "5000 0 order apron ok",
            "5500 0 order basket ok",
        ]);
        let pauses = requests.pauses(1000, u64::MAX);
        assert_eq!(pauses["apron"], Duration::from_secs(3));
        assert_eq!(pauses["basket"], Duration::from_millis(4500));
        assert_eq!(requests.pauses(1000, 2000)["apron"], Duration::from_secs(1));
        assert_eq!((requests.served(), requests.count("unreachable")), (5, 1));
    }

    #[test]
    fn an_article_that_never_comes_back_pauses_to_the_end() {
        let requests = requests(&["1000 0 order apron ok", "9000 0 order basket ok"]);
        assert_eq!(
            requests.pauses(2000, u64::MAX)["apron"],
            Duration::from_secs(7)
        );
    }
}
