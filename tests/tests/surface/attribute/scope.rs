//! The scope for users' tests.

use dlock::testing::Scope;
use dlock::{Error, Mode, distributed_lock};

#[distributed_lock(key = "order:{order_id}", wait = "none")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    tokio::task::yield_now().await;
    look(order_id).await
}

#[distributed_lock(key = "order:{order_id}", mode = "read")]
async fn look(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[tokio::test]
async fn scopes_side_by_side_do_not_interfere() -> Result<(), Error> {
    let (one, two) = (Scope::memory().await?, Scope::memory().await?);
    let held = one.client().rw_lock("order:1")?.write().await?;
    let (refused, shipped) = tokio::join!(one.run(ship(1)), two.run(ship(1)));
    assert!(refused.expect_err("held in this scope").is_contended());
    assert_eq!(shipped?, 1);
    held.release().await
}

#[tokio::test]
async fn a_scope_tells_what_was_locked() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope.run(ship(7)).await?;
    scope.assert_took("order:7", Mode::Write);
    let taken: Vec<String> = scope.taken().iter().map(ToString::to_string).collect();
    assert_eq!(taken, ["`order:7` for writing", "`order:7` for reading"]);
    assert_eq!(scope.taken()[0].label, "order:{order_id}");
    scope.clear();
    assert!(scope.taken().is_empty());
    Ok(())
}

#[tokio::test]
#[should_panic(
    expected = "no annotated function took `order:8` for writing; taken were: `order:7` for reading"
)]
async fn an_assertion_that_fails_lists_what_was_taken() {
    let scope = Scope::memory().await.expect("memory is there");
    scope.run(look(7)).await.expect("free");
    scope.assert_took("order:8", Mode::Write);
}

#[tokio::test]
async fn a_scope_can_be_carried_into_a_spawned_task() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    let inner = scope.clone();
    let spawned = tokio::spawn(async move { inner.run(look(1)).await });
    spawned.await.expect("no panic")?;
    scope.assert_took("order:1", Mode::Read);
    Ok(())
}
