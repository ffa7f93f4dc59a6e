//! What functions under the attribute do.

use dlock::{Client, Error, Mode, distributed_lock};

struct Order {
    id: u64,
    lines: Vec<u32>,
}
struct Db {
    tenant: String,
    client: Client,
}

#[distributed_lock(key = "order:{order_id}", client = client, mode = "write", guard = g)]
async fn ship(client: &Client, order_id: u64, log: &mut Vec<u64>) -> Result<u64, Error> {
    log.push(order_id);
    tokio::task::yield_now().await;
    if order_id == 0 {
        return Ok(0);
    }
    Ok(g.fencing_token().as_u64())
}

impl Db {
    #[distributed_lock(key = "{{tenant:{self.tenant}}}:order:{order.id:05}:{order.lines[0]}", client = self.client, mode = "read", lease = "5s", wait = "1s")]
    async fn look(&self, order: Order) -> anyhow::Result<String> {
        let held = dlock::current().expect("held");
        held.check()?;
        Ok(format!("{} {}", held.key().name(), order.lines.len()))
    }
    #[distributed_lock(key = self.tenant, client = self.client, wait = "none")]
    async fn own(
        self,
    ) -> Result<impl Iterator<Item = u8>, Box<dyn std::error::Error + Send + Sync>> {
        let n: u8 = "5".parse()?;
        Ok(self.tenant.into_bytes().into_iter().map(move |b| b + n))
    }
    #[distributed_lock(key = "x", client = self.client)]
    async fn first<'a>(&'a mut self, _other: &str) -> Result<&'a mut String, Error> {
        Ok(&mut self.tenant)
    }
    #[distributed_lock(key = "order:1", client = self.client)]
    async fn dynamic(&self) -> Result<Box<dyn Fn() -> u32 + Send>, Error> {
        Ok(Box::new(|| 1))
    }
    #[distributed_lock(key = "r", client = self.client, mode = mode)]
    async fn nested(&self, mode: Mode, inner: Mode) -> Result<u32, Error> {
        self.inner(inner).await
    }
    #[distributed_lock(key = "r", client = self.client, mode = mode)]
    async fn inner(&self, mode: Mode) -> Result<u32, Error> {
        Ok(7)
    }
}

#[async_trait::async_trait]
trait Shipping {
    async fn go(&self, id: u64) -> Result<u64, Error>;
    async fn owned(self, id: u64) -> Result<u64, Error>;
}
#[async_trait::async_trait]
impl Shipping for Db {
    #[distributed_lock(key = "order:{self.tenant}:{id}", client = self.client)]
    async fn go(&self, id: u64) -> Result<u64, Error> {
        tokio::task::yield_now().await;
        Ok(id + self.tenant.len() as u64)
    }
    #[tracing::instrument(skip(self))]
    #[distributed_lock(key = "order:{self.tenant}:{id}", client = self.client)]
    async fn owned(self, id: u64) -> Result<u64, Error> {
        Ok(id + self.tenant.len() as u64)
    }
}

fn is_send<T: Send>(t: T) -> T {
    t
}

#[tokio::test]
async fn works() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let client = Client::connect("memory://").await?;
    let mut log = Vec::new();
    assert!(is_send(ship(&client, 7, &mut log)).await? > 1);
    let mut db = Db {
        tenant: "abc".into(),
        client: client.clone(),
    };
    let order = Order {
        id: 42,
        lines: vec![3, 4],
    };
    assert_eq!(
        is_send(db.look(order)).await?,
        "{tenant:abc}:order:00042:3 2"
    );
    assert_eq!(is_send(db.first("")).await?, "abc");
    assert_eq!(is_send(db.dynamic()).await?(), 1);
    assert_eq!(is_send(db.go(3)).await?, 6);
    for (a, b, ok) in [
        (Mode::Write, Mode::Read, true),
        (Mode::Write, Mode::Write, true),
        (Mode::Read, Mode::Read, true),
        (Mode::Read, Mode::Write, false),
    ] {
        let r = db.nested(a, b).await;
        assert_eq!(r.is_ok(), ok);
        if !ok {
            assert!(r.unwrap_err().is_would_deadlock());
        }
    }
    assert!(dlock::current().is_none());
    let db2 = Db {
        tenant: "abc".into(),
        client: client.clone(),
    };
    assert_eq!(is_send(db2.owned(3)).await?, 6);
    assert_eq!(is_send(db.own()).await?.next(), Some(b'a' + 5));
    Ok(())
}

#[distributed_lock(key = "cron", client = client, wait = "none", on_busy = ())]
async fn cron(client: &Client, ran: &mut u32) {
    *ran += 1;
    tokio::task::yield_now().await;
}

#[distributed_lock(key = "cron", client = client, wait = "1ms", on_busy = Ok(format!("busy {name}")))]
async fn busy(client: &Client, name: String) -> Result<String, Error> {
    Ok(name)
}

#[distributed_lock(key = "cron", client = client, wait = "1ms", on_busy = |error| error.to_string())]
async fn told(client: &Client) -> String {
    String::new()
}

#[distributed_lock(key = "cron", client = client, when = lock, guard = g)]
async fn maybe(client: &Client, lock: bool) -> Result<bool, Error> {
    Ok(g.is_some())
}

#[tokio::test]
async fn busy_and_when() -> Result<(), Error> {
    let client = Client::connect("memory://").await?;
    let mut ran = 0;
    cron(&client, &mut ran).await;
    assert_eq!(busy(&client, "a".into()).await?, "a");
    assert!(maybe(&client, true).await?);
    let _g = client.rw_lock("cron")?.write().await?;
    is_send(cron(&client, &mut ran)).await;
    assert_eq!(ran, 1);
    assert_eq!(is_send(busy(&client, "a".into())).await?, "busy a");
    assert!(is_send(told(&client)).await.contains("cron"));
    assert!(!is_send(maybe(&client, false)).await?);
    Ok(())
}
