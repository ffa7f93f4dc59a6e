//! Random plans, each from a seed.

use std::ops::Range;
use std::time::Duration;

use dlock::Mode;
use dlock_tests::Pieces;
use fastrand::Rng;

use crate::plan::{ACTORS, Act, Actor, CLIENTS, Index, Place, Plan, Publish, Step, Stray, Who};

pub(crate) fn plan(seed: u64) -> Plan {
    let mut draw = Draw(Rng::with_seed(seed));
    let steps = draw.0.usize(1..=120);
    Plan {
        actors: (0..ACTORS).map(|_| draw.actor()).collect(),
        pieces: draw.one(&[(1, Pieces::Whole), (1, Pieces::OfTwo)]),
        sharded: draw.0.bool(),
        steps: (0..steps).map(|_| draw.step()).collect(),
    }
}

struct Draw(Rng);

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
        // An owner may contain what the records are separated by, and may be called like somebody's hold.
        let owners = [
            (6, None),
            (2, Some("a")),
            (1, Some("b 1\n\0")),
            (1, Some("client-0/00/0")),
            (1, Some("0 0")),
        ];
        Actor {
            client: self.0.usize(0..CLIENTS),
            mode: self.one(&[(1, Mode::Read), (1, Mode::Write)]),
            owner: self.one(&owners),
            longest: Duration::from_secs(self.one(&[(4, 10), (1, 3600)])),
        }
    }

    fn step(&mut self) -> Step {
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
                }
            }
            40..45 => Step::Resend {
                sent: self.index(),
                publish: self.publish(),
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

    fn act(&mut self) -> Act {
        match self.0.u32(0..44) {
            0..20 => Act::Acquire {
                lease: self.lease(),
                place: (self.0.u32(0..4) > 0).then(|| self.place()),
                valid: self.valid(),
            },
            20..29 => Act::Release {
                stray: self.stray(),
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
            },
        }
    }

    fn index(&mut self) -> Index {
        Index(self.0.usize(..))
    }

    fn publish(&mut self) -> Publish {
        self.one(&[
            (8, Publish::Counted),
            (1, Publish::Uncounted),
            (1, Publish::Noted),
            (1, Publish::Off),
        ])
    }

    fn stray(&mut self) -> Stray {
        let odd = self.0.i64(-1_000..5_000_000);
        self.one(&[(5, Stray::None), (2, Stray::Possible), (1, Stray::Odd(odd))])
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

    /// Those who may ask for more do so now and then.
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
            // 0 while nobody listens.
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
