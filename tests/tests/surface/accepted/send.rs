use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "a")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    tokio::task::yield_now().await;
    Ok(order_id)
}

#[distributed_lock(keys = ["a", "b"], wait = "1s")]
async fn both() -> Result<u64, Error> {
    tokio::task::yield_now().await;
    Ok(2)
}

#[distributed_lock(key = "a")]
async fn local(shared: std::rc::Rc<u64>) -> Result<u64, Error> {
    tokio::task::yield_now().await;
    Ok(*shared)
}

fn is_send<T: Send>(future: T) -> T {
    future
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(is_send(ship(1)).await?, 1);
            assert_eq!(is_send(both()).await?, 2);
            assert_eq!(local(std::rc::Rc::new(3)).await?, 3);
            Ok(())
        })
        .await
}
