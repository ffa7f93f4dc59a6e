//! Slots that servers move in one step (`CLUSTER MIGRATESLOTS`, `CLUSTER MIGRATION IMPORT`), under loads of five shapes.
//! Some migrations are called off, and some have a failover beside them.
//!
//! `DLOCK_ATOMIC_MOVES` makes it longer; `scripts/moves --atomic` does, and prints the figures.

use crate::{load::Shape, migrations::survives};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quiet_holds_outlast_atomic_migrations() {
    survives(Shape::Quiet).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_outlast_atomic_migrations() {
    survives(Shape::Writers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_and_writers_outlast_atomic_migrations() {
    survives(Shape::Readers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mutexes_outlast_atomic_migrations() {
    survives(Shape::Mutexes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_waiters_on_many_locks_outlast_atomic_migrations() {
    survives(Shape::Crowd).await;
}
