//! One lock under load while its slot moves to and fro between two masters, held open for a while each time.
//!
//! `DLOCK_MOVES` and `DLOCK_OPEN_MS` make it longer; `scripts/moves` does, and prints the figures.

mod atomic;
mod load;
mod migrations;
mod observer;
mod patience;
mod pauses;
mod rounds;
mod standing;
mod write_pauses;

use self::{load::Shape, rounds::survives};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_and_five_readers_keep_to_a_lock_whose_slot_moves() {
    survives(Shape::OneWriter).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn six_writers_keep_to_a_lock_whose_slot_moves() {
    survives(Shape::Writers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_pass_a_lock_on_inside_keep_to_it_while_its_slot_moves() {
    survives(Shape::Processes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_and_others_keep_to_a_lock_whose_slot_moves() {
    survives(Shape::Owners).await;
}
