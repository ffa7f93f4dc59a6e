//! The scope for users' tests.

use dlock::testing::{Scope, carry};
use dlock::{Error, ErrorKind, LockMode, distributed_lock};

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
    assert_eq!(
        refused.expect_err("held in this scope").kind(),
        ErrorKind::Busy
    );
    assert_eq!(shipped?, 1);
    held.release().await
}

#[tokio::test]
async fn a_scope_tells_what_was_locked() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope.run(ship(7)).await?;
    scope.assert_took("order:7", LockMode::Write);
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
    scope.assert_took("order:8", LockMode::Write);
}

#[tokio::test]
async fn a_scope_can_be_carried_into_a_spawned_task() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    let inner = scope.clone();
    let spawned = tokio::spawn(async move { inner.run(look(1)).await });
    spawned.await.expect("no panic")?;
    scope.assert_took("order:1", LockMode::Read);
    Ok(())
}

/// Code under test that spawns.
async fn look_at_all(orders: [u64; 3]) -> Result<(), Error> {
    let tasks = orders.map(|order_id| tokio::spawn(carry(async move { look(order_id).await })));
    for task in tasks {
        task.await.expect("no panic")?;
    }
    Ok(())
}

#[tokio::test]
async fn tasks_that_a_body_spawns_join_its_scope() -> Result<(), Error> {
    let (one, two) = (Scope::memory().await?, Scope::memory().await?);
    let (first, second) = tokio::join!(
        one.run(look_at_all([1, 2, 3])),
        two.run(look_at_all([4, 5, 6]))
    );
    first.and(second)?;
    for (scope, orders) in [(one, 1..4), (two, 4..7)] {
        for order_id in orders {
            scope.assert_took(&format!("order:{order_id}"), LockMode::Read);
        }
        assert_eq!(scope.taken().len(), 3);
    }
    assert!(Scope::current().is_none());
    let alone = carry(async { Scope::current().is_none() });
    assert!(alone.await, "there is nothing to carry");
    Ok(())
}

#[tokio::test]
async fn the_guard_is_shown_in_one_line() -> Result<(), Error> {
    #[distributed_lock(key = "order:7", mode = "read", guard = lock)]
    async fn show() -> Result<[String; 2], Error> {
        Ok([format!("{lock:?}"), format!("{lock:#?}")])
    }
    let shown = Scope::memory().await?.run(show()).await?;
    for shown in shown {
        assert!(
            shown.starts_with("CallGuard { lock: \"order:7\", mode: Read, token: "),
            "{shown}"
        );
        assert!(shown.ends_with("lost: false }"), "{shown}");
    }
    Ok(())
}

#[tokio::test]
async fn without_a_client_the_error_says_how_tests_get_one() {
    let error = look(1).await.expect_err("nothing is installed here");
    assert!(
        error.to_string().contains("dlock::testing::Scope"),
        "{error}"
    );
}
