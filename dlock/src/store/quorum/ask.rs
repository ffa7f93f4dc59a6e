//! Questions to all members.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::count::Count;
use super::member::{Asking, Member};
use super::members::majority;
use super::quorum::Quorum;
use super::tries::Tries;
use crate::clock::{Instant, timeout_at};
use crate::error::Error;
use crate::slot::Slot;

/// How long to wait for the others once a majority has answered.
const OTHERS: Duration = Duration::from_millis(50);

impl Quorum {
    /// What the members answer, about one slot or all: those of a majority at least, and of the others who do not take long.
    pub(super) async fn poll<T: Send + 'static, F>(
        &self,
        slot: Option<Slot>,
        deadline: Instant,
        ask: impl Fn(Arc<Member>, Instant) -> F,
    ) -> Result<Vec<T>, Error>
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut tries = Tries::new(self.response_timeout, deadline);
        loop {
            tries.begin();
            let (answers, count) = self.poll_once(slot, deadline, &ask).await;
            if count.is_answered() {
                return Ok(answers);
            }
            let (error, hopeless) = count.into_error();
            tries.again(error, hopeless).await?;
        }
    }

    async fn poll_once<T: Send + 'static, F>(
        &self,
        slot: Option<Slot>,
        deadline: Instant,
        ask: impl Fn(Arc<Member>, Instant) -> F,
    ) -> (Vec<T>, Count)
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut until = deadline.min(Instant::now() + self.response_timeout);
        let mut count = Count::of(self.members.len());
        let mut asking = FuturesUnordered::<Asking<Result<T, Error>>>::new();
        for member in &self.members {
            if slot.map_or(member.server().is_some(), |slot| member.is_fit(slot)) {
                let (number, answer) = (member.number, ask(Arc::clone(member), until));
                asking.push(Box::pin(async move { (number, answer.await) }));
            } else {
                count.failed(member.excuse());
            }
        }
        let mut answers = Vec::new();
        while let Ok(Some((_, outcome))) = timeout_at(until, asking.next()).await {
            match outcome {
                Ok(answer) => {
                    answers.push(answer);
                    count.yes += 1;
                    if answers.len() == majority(self.members.len()) {
                        until = until.min(Instant::now() + OTHERS);
                    }
                }
                Err(error) => count.failed(error),
            }
        }
        (answers, count)
    }
}
