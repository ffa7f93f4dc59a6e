use dlock::testing::Scope;
use std::fmt::{Debug, Display};

use dlock::{Error, distributed_lock};

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

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            let shelf = Shelf { items: [1, 2] };
            assert_eq!(shelf.first(|item| item + 1).await?, 2);
            assert_eq!(longer("a", "bc").await?, "bc");
            Ok(())
        })
        .await
}
