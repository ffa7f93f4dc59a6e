//! Replicas that take over from masters: seen from outside, as a cluster may also replace a master on its own account when the
//! machine is slow.

use std::time::Duration;

use dlock_tests::now_ns;
use futures_util::future::join_all;
use tokio::time::sleep;

use super::{
    facts::{Facts, Loss},
    site::{Role, Site},
};

const EVERY: Duration = Duration::from_millis(100);
const WHAT: &str = "failover that lost writes";

/// Looks again and again, until dropped.
pub(crate) async fn watch(site: &Site, facts: &Facts) {
    let mut before = roles(site).await;
    let mut since = now_ns();
    loop {
        sleep(EVERY).await;
        let began = now_ns();
        let now = roles(site).await;
        for number in 0..site.len() {
            if (before[number], now[number]) == (Some(Role::Replica), Some(Role::Master)) {
                took_over(site, facts, number, since);
            }
        }
        for (number, role) in now.iter().enumerate() {
            before[number] = role.or(before[number]);
            if *role == Some(Role::Replica) || site.node(number).has_ended() {
                knows(facts, number);
            }
        }
        since = began;
    }
}

async fn roles(site: &Site) -> Vec<Option<Role>> {
    // A node that hangs keeps no other waiting.
    join_all((0..site.len()).map(|number| site.role(number))).await
}

/// A replica is a master now. If the old one had agreed, nothing is lost.
fn took_over(site: &Site, facts: &Facts, number: usize, from: u64) {
    let shard = number % site.shards();
    let agreed = agreed(&site.node(number).log());
    let locks = site.homes.at(shard);
    facts.tell(format_args!(
        "server {number} took over locks {locks:?}, agreed: {agreed}"
    ));
    let mut known = facts.lock();
    if !agreed {
        known.losses.push(Loss {
            what: WHAT,
            locks,
            from,
            until: None,
            deposed: site.partner(number),
        });
    }
}

/// Whether the last election of a server was one that its master had agreed to: those do not wait.
fn agreed(log: &str) -> bool {
    let elections = log.lines().rev();
    let mut elections =
        elections.filter_map(|line| line.split_once("Start of election delayed for "));
    elections
        .next()
        .is_some_and(|(_, rest)| rest.starts_with("0 "))
}

/// A server knows that it is no master any more.
fn knows(facts: &Facts, number: usize) {
    let now = now_ns();
    for loss in &mut facts.lock().losses {
        if loss.until.is_none() && loss.deposed == Some(number) {
            loss.until = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::agreed;

    #[test]
    fn elections_that_masters_agreed_to_do_not_wait() {
        let own = "1:S * Start of election delayed for 713 milliseconds (rank #0, offset 5).\n";
        let told = "1:S * Start of election delayed for 0 milliseconds (rank #0, offset 5).\n";
        assert!(agreed(&format!("{own}{told}")));
        assert!(!agreed(&format!("{told}{own}1:M * something else\n")));
        assert!(!agreed(""));
    }
}
