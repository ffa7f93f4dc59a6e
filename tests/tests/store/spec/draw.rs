//! Random plans, each from a seed.

use std::ops::Range;
use std::time::Duration;

use dlock::__internals::Keys;
use dlock::{LockKind, LockMode};
use dlock_tests::Pieces;
use fastrand::Rng;

use crate::spec::plan::{
    ACTORS, Act, Actor, CLIENTS, Family, Foreign, Index, Place, Plan, Publish, Step, Stray, Who,
};

pub(crate) fn plan(of: Family, seed: u64) -> Plan {
    let mut draw = Draw(Rng::with_seed(seed), of);
    let steps = draw.0.usize(1..=120);
    Plan {
        of,
        actors: (0..ACTORS).map(|_| draw.actor()).collect(),
        pieces: draw.one(&[(1, Pieces::Whole), (1, Pieces::OfTwo)]),
        sharded: draw.0.bool(),
        steps: (0..steps).map(|_| draw.step()).collect(),
    }
}

struct Draw(Rng, Family);

impl Draw {
    /// One of several, each with a weight.
    fn one<T: Clone>(&mut self, of: &[(u32, T)]) -> T {
        let total = of.iter().map(|(weight, _)| weight).sum();
        let mut left = self.0.u32(0..total);
        for (weight, thing) in of {
            if left < *weight {
                return thing.clone();
            }
            left -= weight;
        }
        unreachable!("the weights add up to the total")
    }

    fn actor(&mut self) -> Actor {
        if self.1 == Family::Mutex {
            return Actor {
                client: self.0.usize(0..CLIENTS),
                kind: self.one(&[(1, LockKind::Mutex), (1, LockKind::FencedMutex)]),
                mode: LockMode::Write,
                owner: None,
                longest: Duration::from_secs(self.one(&[(4, 10), (1, 3600)])),
                lingers: false,
            };
        }
        // An owner may contain what the records are separated by, and may be called like somebody's hold.
        let owners = [
            (6, None),
            (2, Some("a")),
            (1, Some("b 1\n\0")),
            (1, Some("client-0/0000000000000000/0")),
            (1, Some("0 0")),
        ];
        Actor {
            client: self.0.usize(0..CLIENTS),
            kind: LockKind::Rw,
            mode: self.one(&[(1, LockMode::Read), (1, LockMode::Write)]),
            owner: self.one(&owners),
            longest: Duration::from_secs(self.one(&[(4, 10), (1, 3600)])),
            lingers: self.0.u32(0..4) == 0,
        }
    }

    fn step(&mut self) -> Step {
        if self.1 == Family::Mutex && self.0.u32(0..10) == 0 {
            return Step::Foreign(self.foreign());
        }
        match self.0.u32(0..64) {
            0..40 => {
                let act = self.act();
                let who = match self.0.u32(0..8) {
                    _ if matches!(act, Act::Acquire { .. }) => Who::Actor(self.0.usize(0..ACTORS)),
                    0..2 => Who::Actor(self.0.usize(0..ACTORS)),
                    2..7 => Who::Holder(self.index()),
                    _ => Who::Waiter(self.index()),
                };
                Step::Send {
                    who,
                    act,
                    publish: self.publish(),
                    plain: self.0.bool(),
                    keys: self.keys(),
                }
            }
            40..45 => Step::Resend {
                sent: self.index(),
                publish: self.publish(),
                plain: self.1 == Family::Mutex && self.0.bool(),
            },
            45..48 => Step::Hear {
                client: self.0.usize(0..CLIENTS),
                hears: self.0.bool(),
            },
            48..57 => Step::Forward(self.span()),
            57..62 => Step::ForwardTo {
                deadline: self.index(),
                past: self.past(),
            },
            _ => Step::Back(self.back()),
        }
    }

    fn foreign(&mut self) -> Foreign {
        // What redis-py and node-redlock write, what looks nearly like a hold of dlock's, and arbitrary bytes.
        let values = [
            (4, "5f3ecdf2b8c011efa1b20242ac120002"),
            (4, "92f3e4c0a1b2d3e4f5061728394a5b6c7d8e9fab"),
            (1, ""),
            (1, "client-0/0000000000000000"),
            (1, "client 0/0000000000000000/1"),
            (1, "client-0/0g/1"),
            (1, "a/b/c/d"),
            (1, "ä 1\n\0"),
        ];
        match self.0.u32(0..16) {
            0..8 => Foreign::Take {
                value: self.one(&values),
                lease: (self.0.u32(0..6) > 0).then(|| self.lease()),
            },
            8..15 => Foreign::Free,
            _ => Foreign::Remove,
        }
    }

    fn keys(&mut self) -> Keys {
        if self.1 == Family::Mutex && self.0.u32(0..8) == 0 {
            Keys::First
        } else {
            Keys::All
        }
    }

    fn act(&mut self) -> Act {
        // Mutexes are not yielded.
        let acts = if self.1 == Family::Mutex { 39 } else { 44 };
        match self.0.u32(0..acts) {
            0..20 => Act::Acquire {
                lease: self.lease(),
                place: (self.0.u32(0..4) > 0).then(|| self.place()),
                valid: self.valid(),
            },
            20..29 => Act::Release {
                stray: self.stray(),
                spent: self.spent(),
            },
            29..33 => Act::Renew {
                lease: self.lease(),
                end: (self.0.u32(0..4) == 0).then(|| self.stray()),
            },
            33..36 => Act::Abandon {
                stray: self.stray(),
            },
            36..39 => Act::Raise {
                ahead: self.ahead(),
            },
            _ => Act::Yield {
                lease: self.lease(),
                stale: self.span_of(&[(4, 0..1), (1, 1..10_000)]),
                stray: self.stray(),
                spent: self.spent(),
            },
        }
    }

    fn index(&mut self) -> Index {
        Index(self.0.usize(..))
    }

    fn publish(&mut self) -> Publish {
        self.one(&[
            (6, Publish::Counted),
            (3, Publish::OneChannel),
            (1, Publish::Uncounted),
            (1, Publish::Noted),
            (1, Publish::Off),
        ])
    }

    fn stray(&mut self) -> Stray {
        let odd = self.0.i64(-1_000..5_000_000);
        self.one(&[(5, Stray::None), (2, Stray::Possible), (1, Stray::Odd(odd))])
    }

    fn spent(&mut self) -> Option<i64> {
        let ahead = self.0.i64(-1_000_000..100_000);
        let far = self.0.i64(900_000..3_000_000);
        self.one(&[(2, None), (3, Some(ahead)), (1, Some(far))])
    }

    fn valid(&mut self) -> i64 {
        let (late, usual) = (self.0.i64(-2_000_000..0), self.0.i64(1_000_000..3_000_000));
        self.one(&[(1, late), (1, 0), (1, 1), (20, usual), (2, 50_000_000)])
    }

    /// Of servers whose clocks differ by little, or by an hour.
    fn ahead(&mut self) -> i64 {
        let (near, far) = (
            self.0.i64(-1_000..300_000),
            self.0.i64(1_000_000..5_000_000),
        );
        let step = self.0.i64(999_998..=1_000_002);
        self.one(&[(6, near), (2, step), (2, far), (1, 3_600_000_000)])
    }

    fn past(&mut self) -> i64 {
        let near = self.0.i64(-1..=1);
        let far = self.0.i64(999_999..=1_001_000);
        self.one(&[(4, near), (1, far), (1, 10_000_000 + far)])
    }

    /// Clients that may ask for more do so now and then.
    fn lease(&mut self) -> Duration {
        let hour = 3_600_000_000;
        self.span_in(&[
            (6, 1..1_000_000),
            (6, 1_000_000..10_000_000),
            (1, hour..hour + 1),
        ])
    }

    fn place(&mut self) -> Place {
        Place {
            lease: self.span_in(&[(1, 1..300_000), (1, 300_000..5_000_000)]),
            subscribed: self.0.bool(),
            // 0 without a subscription.
            nonce: if self.0.bool() { self.0.u64(..) } else { 0 },
        }
    }

    fn span(&mut self) -> Duration {
        self.span_in(&[
            (3, 1..1_000),
            (5, 1_000..300_000),
            (2, 300_000..3_000_000),
            (1, 3_000_000..15_000_000),
        ])
    }

    /// Up to a second a lock's time stands still; for a larger step it goes on.
    fn back(&mut self) -> Duration {
        let hour = 3_600_000_000;
        self.span_in(&[
            (4, 1..1_000_000),
            (1, 999_998..1_000_003),
            (4, 1_000_000..5_000_000),
            (1, hour..hour + 1),
        ])
    }

    fn span_in(&mut self, ranges: &[(u32, Range<u64>)]) -> Duration {
        Duration::from_micros(self.span_of(ranges))
    }

    fn span_of(&mut self, ranges: &[(u32, Range<u64>)]) -> u64 {
        let range = self.one(ranges);
        self.0.u64(range)
    }
}
