use std::fmt::{Debug, Display};

use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", mode = "write")]
async fn ship(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

accepted!(plain, {
    assert_eq!(ship(42).await?, 42);
});

#[distributed_lock(key = "parse:{text}")]
async fn parse(text: &str) -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
    if text.is_empty() {
        return Ok(0);
    }
    let number: i64 = text.parse()?;
    loop {
        tokio::task::yield_now().await;
        if number > 0 {
            break Ok(number);
        } else if number == 0 {
            continue;
        }
        return Err("negative".into());
    }
}

accepted!(early_return, {
    assert_eq!(parse("7").await.ok(), Some(7));
    assert_eq!(parse("").await.ok(), Some(0));
    assert!(parse("x").await.is_err());
    assert!(parse("-1").await.is_err());
});

struct Shelf<T, const N: usize> {
    items: [T; N],
}

impl<T: Display + Clone, const N: usize> Shelf<T, N> {
    #[distributed_lock(key = "shelf:{self.items[0]}:{N}")]
    async fn first<'a, F, R>(&'a self, look: F) -> Result<R, Error>
    where
        F: FnOnce(&'a T) -> R,
        R: Debug,
    {
        Ok(look(&self.items[0]))
    }
}

#[distributed_lock(key = "{left}-{right}")]
async fn longer<'a>(left: &'a str, right: &'a str) -> Result<&'a str, Error> {
    Ok(if left.len() > right.len() {
        left
    } else {
        right
    })
}

accepted!(generics, {
    let shelf = Shelf { items: [1, 2] };
    assert_eq!(shelf.first(|item| item + 1).await?, 2);
    assert_eq!(longer("a", "bc").await?, "bc");
});

#[distributed_lock(key = "{what}")]
async fn bytes(what: impl Display + Send) -> Result<impl Iterator<Item = u8>, Error> {
    Ok(what.to_string().into_bytes().into_iter())
}

#[distributed_lock(key = "{what}")]
fn bytes_at_once(what: impl Display) -> Result<impl Iterator<Item = u8>, Error> {
    Ok(what.to_string().into_bytes().into_iter())
}

#[distributed_lock(key = "dynamic")]
async fn dynamic() -> Result<Box<dyn Fn(u32) -> u32 + Send>, Error> {
    Ok(Box::new(|x| x + 1))
}

accepted!(impl_trait, {
    assert_eq!(bytes("ab").await?.count(), 2);
    assert_eq!(dynamic().await?(1), 2);
    assert!(bytes_at_once("ab").is_err());
});

struct Ledger {
    tenant: String,
    lines: Vec<u64>,
}

impl Ledger {
    #[distributed_lock(key = "ledger:{self.tenant}", guard = lock)]
    fn add(&mut self, line: u64) -> Result<&mut u64, Error> {
        lock.check()?;
        self.lines.push(line);
        let last = self.lines.len() - 1;
        Ok(&mut self.lines[last])
    }

    #[distributed_lock(key = "ledger:{self.tenant}")]
    fn into_lines(self) -> Result<Vec<u64>, Error> {
        Ok(self.lines)
    }
}

#[distributed_lock(keys = ["a", "b"], wait = "1s", mode = "read")]
fn both(text: &str) -> Result<u64, Box<dyn std::error::Error>> {
    if text.is_empty() {
        return Ok(0);
    }
    Ok(text.parse::<u64>()? + inner()?)
}

#[distributed_lock(key = "a", mode = "read")]
fn inner() -> Result<u64, Error> {
    Ok(1)
}

#[distributed_lock(key = "job", wait = "none", on_busy = ())]
fn job() {}

#[test]
fn sync() -> Result<(), Box<dyn std::error::Error>> {
    let scope = Scope::new(dlock::blocking::Client::connect("memory://")?);
    scope.run_blocking(|| {
        let mut ledger = Ledger {
            tenant: "t".to_owned(),
            lines: Vec::new(),
        };
        *ledger.add(7)? += 1;
        assert_eq!(ledger.into_lines()?, [8]);
        assert_eq!(both("41")?, 42);
        assert_eq!(both("")?, 0);
        job();
        Ok(())
    })
}
