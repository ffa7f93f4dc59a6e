use dlock::{Error, distributed_lock};

const REGION: &str = "eu";

struct Order {
    id: u64,
    lines: Vec<u32>,
    customer: String,
}

impl Order {
    fn customer(&self) -> &str {
        &self.customer
    }
}

#[distributed_lock(
    key = "{{{REGION}}}:{order.id:05}:{order.lines[0]}:{order.customer()}:{pair.0:?}",
    guard = lock
)]
async fn ship(order: Order, pair: (char, u8)) -> Result<String, Error> {
    drop(order);
    Ok(format!("{} {}", lock.key().name(), pair.1))
}

/// As in `println!`, without the `r#`.
#[distributed_lock(key = "{type}:{r#type}", guard = lock)]
async fn sort(r#type: &str) -> Result<String, Error> {
    Ok(format!("{type}:{}", lock.key().name()))
}

accepted!(captures, {
    let order = Order {
        id: 42,
        lines: vec![7],
        customer: "ann".to_owned(),
    };
    assert_eq!(ship(order, ('x', 1)).await?, "{eu}:00042:7:ann:'x' 1");
    assert_eq!(sort("tea").await?, "tea:tea:tea");
});

struct Parcel {
    id: u64,
    note: String,
}

#[distributed_lock(key = "order:{id}:{first}:{last}")]
async fn pack(
    Parcel { id, ref note }: Parcel,
    (first, _): (u8, u8),
    [.., last]: [u8; 3],
    mut count: u64,
    _: &str,
) -> Result<u64, Error> {
    count += 1;
    Ok(id + count + u64::try_from(note.len()).unwrap_or(0))
}

accepted!(patterns, {
    let parcel = Parcel {
        id: 1,
        note: "abc".to_owned(),
    };
    assert_eq!(pack(parcel, (1, 2), [1, 2, 3], 5, "").await?, 10);
});

#[distributed_lock(key = "{request}:{grant}", guard = held)]
async fn odd(request: u64, grant: u64, error: u64) -> Result<u64, Error> {
    let (output, run, lock) = (request, grant, held.fencing_token());
    Ok(output + run + error + lock.as_u64().min(1))
}

accepted!(names_like_ours, {
    assert_eq!(odd(1, 2, 3).await?, 7);
});

fn key_of(order_id: u64) -> String {
    format!("order:{order_id}")
}

#[distributed_lock(key = key_of(order_id), guard = lock)]
async fn bill(order_id: u64) -> Result<String, Error> {
    Ok(lock.key().name().to_owned())
}

accepted!(key_expression, {
    assert_eq!(bill(42).await?, "order:42");
});

#[distributed_lock(keys = ["account:{from}", "account:{to}"], guard = locks)]
async fn transfer(from: u64, to: u64) -> Result<Vec<String>, Error> {
    Ok(locks
        .iter()
        .map(|lock| lock.key().name().to_owned())
        .collect())
}

#[distributed_lock(keys = ids.iter().map(|id| format!("account:{id}")))]
async fn close(ids: &[u64]) -> Result<usize, Error> {
    Ok(ids.len())
}

accepted!(keys, {
    assert_eq!(transfer(9, 1).await?, ["account:9", "account:1"]);
    assert_eq!(transfer(1, 1).await?.len(), 2);
    assert_eq!(close(&[3, 1, 2]).await?, 3);
});
