use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

struct Order {
    id: u64,
    note: String,
}

#[distributed_lock(key = "order:{id}:{first}:{last}")]
async fn ship(
    Order { id, ref note }: Order,
    (first, _): (u8, u8),
    [.., last]: [u8; 3],
    mut count: u64,
    _: &str,
) -> Result<u64, Error> {
    count += 1;
    Ok(id + count + u64::try_from(note.len()).unwrap_or(0))
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            let order = Order {
                id: 1,
                note: "abc".to_owned(),
            };
            assert_eq!(ship(order, (1, 2), [1, 2, 3], 5, "").await?, 10);
            Ok(())
        })
        .await
}
