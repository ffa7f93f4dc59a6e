//! Random sequences of operations.

use std::time::Duration;

use dlock::Mode;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// What is done to one lock, and by whom.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) actors: Vec<Actor>,
    pub(crate) steps: Vec<Step>,
}

/// One acquisition: it always asks for the same.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    pub(crate) client: u8,
    pub(crate) mode: Mode,
    pub(crate) owner: Option<&'static str>,
}

/// Whose operation it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    Actor(usize),
    /// One of those who hold the lock at that moment, if anybody does.
    Holder(prop::sample::Index),
}

/// An operation, or something that happens to the clock or the network.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Acquire {
        actor: usize,
        lease: Duration,
        queue: Option<Duration>,
    },
    /// `handed`: how many tokens the client handed out itself since the last grant.
    Release {
        who: Who,
        handed: u64,
        lease: Duration,
    },
    Renew {
        who: Who,
        lease: Duration,
    },
    Abandon {
        who: Who,
    },
    Yield {
        who: Who,
        handed: u64,
        lease: Duration,
    },
    /// An earlier operation arrives once more.
    Resend {
        sent: prop::sample::Index,
    },
    Forward(Duration),
    /// To a moment around one of the deadlines ahead, or around the second of grace after it.
    ForwardTo {
        deadline: prop::sample::Index,
        past: i64,
    },
    Back(Duration),
}

const ACTORS: usize = 8;

pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    (vec(actor(), ACTORS), vec(step(), 1..=90)).prop_map(|(actors, steps)| Plan { actors, steps })
}

fn actor() -> impl Strategy<Value = Actor> {
    let mode = prop_oneof![Just(Mode::Read), Just(Mode::Write)];
    // An owner may contain what the records are separated by.
    let owner = prop_oneof![3 => Just(None), 1 => Just(Some("a")), 1 => Just(Some("b 1\n\0"))];
    (0..3_u8, mode, owner).prop_map(|(client, mode, owner)| Actor {
        client,
        mode,
        owner,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let who = || {
        prop_oneof![
            1 => (0..ACTORS).prop_map(Who::Actor),
            3 => any::<prop::sample::Index>().prop_map(Who::Holder),
        ]
    };
    prop_oneof![
        20 => (0..ACTORS, lease(), option::weighted(0.7, place())).prop_map(
            |(actor, lease, queue)| Step::Acquire { actor, lease, queue }
        ),
        8 => (who(), handed(), released_lease()).prop_map(
            |(who, handed, lease)| Step::Release { who, handed, lease }
        ),
        4 => (who(), lease()).prop_map(|(who, lease)| Step::Renew { who, lease }),
        3 => who().prop_map(|who| Step::Abandon { who }),
        5 => (who(), handed(), lease()).prop_map(
            |(who, handed, lease)| Step::Yield { who, handed, lease }
        ),
        4 => any::<prop::sample::Index>().prop_map(|sent| Step::Resend { sent }),
        9 => span().prop_map(Step::Forward),
        4 => (any::<prop::sample::Index>(), past())
            .prop_map(|(deadline, past)| Step::ForwardTo { deadline, past }),
        2 => micros(1..3_000_000).prop_map(Step::Back),
    ]
}

/// Mostly a few; now and then so many that they are ahead of the clock.
fn handed() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..4_u64, 1 => 0..3_000_000_u64]
}

fn past() -> impl Strategy<Value = i64> {
    prop_oneof![2 => -1..=1_i64, 1 => 999_999..=1_001_000_i64]
}

fn lease() -> impl Strategy<Value = Duration> {
    prop_oneof![micros(1..1_000_000), micros(1_000_000..10_000_000)]
}

/// Now and then one so long that the lock is forgotten earlier.
fn released_lease() -> impl Strategy<Value = Duration> {
    prop_oneof![4 => lease(), 1 => Just(Duration::from_secs(3600))]
}

fn place() -> impl Strategy<Value = Duration> {
    prop_oneof![micros(1..300_000), micros(300_000..5_000_000)]
}

fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![
        3 => micros(1..1_000),
        5 => micros(1_000..300_000),
        2 => micros(300_000..3_000_000),
        1 => micros(3_000_000..15_000_000),
    ]
}

fn micros(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_micros)
}
