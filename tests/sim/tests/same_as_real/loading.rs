//! Sequences of every command on one server that loads its data.

use std::ops::Range;
use std::time::Duration;

use dlock_sim::server::{Fleet, FleetConfig, NodeId, Output};
use fastrand::Rng;

use crate::commands::{self, KeyNames, words};
use crate::conf::Shape;
use crate::every;
use crate::real::{Real, RealConn};
use crate::side::{Decoder, Link as _, packed};
use crate::value::Value;

const KEYS: KeyNames<'_> = KeyNames { stems: &["k"] };

pub(crate) fn compare(seeds: Range<u64>) {
    let real = Real::start(Shape::SINGLE);
    let mut admin = real.connect(0);
    fill(&mut admin);
    let mut load = Load {
        admin,
        waits: false,
    };
    let count = seeds.end - seeds.start;
    for seed in seeds {
        sequence(&real, &mut load, seed);
    }
    load.end();
    let flavour = real.flavour;
    println!("{count} sequences on one {flavour:?} that loads: equal replies");
}

/// So much that loading it takes a second or two, with clients being answered every few keys.
fn fill(admin: &mut RealConn) {
    let config = [
        ["rdbcompression", "no"],
        ["key-load-delay", "500"],
        ["loading-process-events-interval-bytes", "65536"],
    ];
    for [name, value] in config {
        // Redis 6.2 does not have the last one.
        admin.ask(&[b"CONFIG", b"SET", name.as_bytes(), value.as_bytes()]);
    }
    admin.must(&[b"DEBUG", b"POPULATE", b"2000", b"much", b"65536"]);
    admin.must(&[b"SAVE"]);
}

/// The loading that is under way, or is over.
struct Load {
    admin: RealConn,
    waits: bool,
}

impl Load {
    fn begin(&mut self, real: &Real) {
        self.end();
        self.admin.write(&packed(&["DEBUG", "RELOAD", "NOSAVE"]));
        self.waits = true;
        let mut probe = real.connect(0);
        while !is_refused(&probe.ask(&[b"GET", b"probe"])) {}
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.admin.replies(1);
        }
    }
}

fn sequence(real: &Real, load: &mut Load, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut requests = vec![words(&["GET", "first"])];
    for _ in 0..rng.usize(5..15) {
        requests.push(match rng.u8(0..6) {
            0 => every::in_script(&mut rng, KEYS),
            1 => commands::draw_other(&mut rng),
            2 => commands::draw(&mut rng, KEYS),
            _ => every::draw(&mut rng, KEYS),
        });
    }
    requests.push(words(&["GET", "last"]));
    let bytes: Vec<u8> = requests.iter().flat_map(|words| packed(words)).collect();
    let mut model = Fleet::single(real.flavour, FleetConfig::default());
    model.set_loading(NodeId(0), true);
    let conn = model.accept(NodeId(0)).expect("the model runs");
    model.feed(Duration::ZERO, conn, &bytes);
    let mut decoder = Decoder::default();
    for (_, output) in model.take_output() {
        match output {
            Output::Bytes(bytes) => decoder.add(&bytes),
            Output::Close => panic!("seed {seed}: the model closes the connection"),
        }
    }
    let replies: Vec<Value> = std::iter::from_fn(|| decoder.next()).collect();
    let real_replies = loop {
        let mut conn = real.connect(0);
        conn.write(&bytes);
        let replies = conn.replies(replies.len());
        // Otherwise the loading was over before the sequence was.
        if [&replies[0], &replies[replies.len() - 1]]
            .into_iter()
            .all(is_refused)
        {
            break replies;
        }
        load.begin(real);
    };
    let texts = requests.iter().map(|request| {
        let words = request.iter().map(|word| String::from_utf8_lossy(word));
        words.collect::<Vec<_>>().join(" · ")
    });
    assert_eq!(
        real_replies,
        replies,
        "seed {seed}: real and model differ\n{}",
        texts.collect::<Vec<_>>().join("\n")
    );
}

fn is_refused(reply: &Value) -> bool {
    matches!(reply, Value::Line('-', line) if line.starts_with("LOADING"))
}
