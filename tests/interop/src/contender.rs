//! dlock's side: `contender JUDGE-PORT REDIS-PORT KEY LEASE-MS SLOT MANNER`.

pub(crate) async fn run(_arguments: &[String]) {
    todo!()
}
