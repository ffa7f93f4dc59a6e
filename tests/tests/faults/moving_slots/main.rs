//! One lock under load while its slot moves to and fro between two masters, held open for a while each time.
//!
//! `DLOCK_MOVES` and `DLOCK_OPEN_MS` make it longer; `scripts/moves` does, and prints the figures.

mod atomic;
mod held;
mod load;
mod migrations;
mod observer;
mod patience;
mod pauses;
mod rounds;
mod shapes;
mod standing;
mod write_pauses;

use dlock_tests::Mode;

use self::{
    load::{READER, Use, WRITER},
    rounds::survives,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_and_five_readers_keep_to_a_lock_whose_slot_moves() {
    survives([WRITER, READER, READER, READER, READER, READER]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn six_writers_keep_to_a_lock_whose_slot_moves() {
    survives([WRITER; 6]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_and_others_keep_to_a_lock_whose_slot_moves() {
    let owned = |mode| Use { mode, owned: true };
    survives([
        owned(Mode::Write),
        owned(Mode::Read),
        owned(Mode::Read),
        WRITER,
        READER,
        READER,
    ])
    .await;
}
