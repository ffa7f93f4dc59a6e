//! w7: many held locks, renewed.

use std::time::Duration;

use super::{LEASE, Lab, load::Load, many};
use crate::{
    measure::{count, resident_bytes},
    results::Results,
    server::Site,
    system::{Kind, client},
};

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    for site in lab.sites() {
        one(lab, site, results).await;
    }
}

async fn one(lab: &Lab, site: &Site, results: &mut Results) {
    let (holds, lasts) = lab.pick((300, 1), (10_000, 15), (100_000, 60));
    let lasts = Duration::from_secs(lasts);
    let setup = site.setup(lab.pick(2 * lasts, LEASE, LEASE));
    let client = client(&setup).await;
    let memory = resident_bytes();
    let guards = many::hold(&client, "w7", holds).await;
    let memory = resident_bytes().saturating_sub(memory);

    let load = Load::measure(site, lasts).await;
    let lost = guards.iter().filter(|guard| guard.is_lost()).count();

    let label = site.label(Kind::Dlock);
    let mut row = results.row("w7", &label);
    row.add("holds", "1", count(guards.len()));
    row.add("lost", "1", count(lost));
    row.add("client CPU", "% of a core", load.client_cpu * 100.0);
    row.add("server CPU", "% of a core", load.server_cpu * 100.0);
    row.add("renewals", "1/s", load.sent);
    let memory = count(memory) / count(guards.len());
    row.add("client memory", "bytes/hold", memory);
    drop(guards);
    client.shutdown().await.expect("the releases are delivered");
    site.flush().await;
}
