//! Whether a lock's history is that of a read/write lock with owners at all: whether there is an order of all grants and releases
//! in which each happened between its call and its return, no grant conflicts with a hold, and tokens grow from a writer to the
//! next holder. The order is searched for as Wing and Gong, and Lowe, do it.

mod list;
mod lock;
mod search;
mod times;
mod tokens;

use dlock_tests::history::Call;

use self::{
    lock::{Event, Step},
    search::{Found, search},
};
use super::{Round, Verdict, excuses::Excuses};

pub(super) fn judge(round: Round<'_>, excuses: &Excuses, verdict: &mut Verdict) {
    for lock in (0..round.locks).filter(|lock| !excuses.touch(*lock)) {
        let calls: Vec<&Call> = round
            .story
            .calls
            .iter()
            .filter(|call| call.lock == lock && call.believed().is_some())
            .collect();
        let events = events(&calls, |call| round.token(call));
        verdict.ordered += events.len() as u64;
        match search(&events) {
            Found::Order => {}
            Found::Nothing(stuck) => {
                let call = calls[stuck / 2];
                verdict.object("linearizability", format!("there is no place for {call}"));
            }
            Found::TooLong => verdict.undecided += 1,
        }
    }
}

/// Each call's grant, and after it its release. A hold that was lost, or whose release had no waiting caller, ends at some time.
fn events(calls: &[&Call], token: impl Fn(&Call) -> Option<u64>) -> Vec<Event> {
    let mut events = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let Some((since, last)) = call.believed() else {
            continue;
        };
        events.push(Event {
            called: call.asked,
            returned: since,
            step: Step::Acquire {
                hold: number,
                write: call.write,
                owner: call.owner,
                token: token(call),
            },
        });
        let released = call.got().and_then(|got| got.released.as_ref());
        let returned = released
            .filter(|(_, outcome)| outcome == "ok")
            .map(|(at, _)| *at);
        events.push(Event {
            called: last,
            returned: returned.unwrap_or(u64::MAX),
            step: Step::Release { hold: number },
        });
    }
    events
}
