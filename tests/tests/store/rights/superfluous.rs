//! Nothing of the rule is superfluous, and who lacks one right is told which.

use std::sync::Arc;

use dlock::Error;
use tokio::task::JoinSet;

use crate::rights::exercise::exercise;
use crate::rights::site::{Site, User};

/// Rights that nothing fails without at once: waiters are slower, or hear of a moved slot later.
const SILENT: [&str; 9] = [
    "ping",
    "publish",
    "subscribe",
    "unsubscribe",
    "spublish",
    "ssubscribe",
    "sunsubscribe",
    "cluster|info",
    "asking",
];

fn names(errors: &[Error], right: &str) -> bool {
    errors.iter().any(|error| {
        let text = error.to_string();
        let (_, said) = text.split_once("it may not run `").unwrap_or_default();
        let (lacks, _) = said.split_once('`').unwrap_or_default();
        // Redis 6.2 does not tell subcommands apart.
        let of = |lacks: &str| right.split('|').next() == Some(lacks);
        lacks.split(" or ").any(|lacks| lacks == right || of(lacks))
    })
}

/// Takes one right after the other away from users who then do all that there is to do.
async fn each_is_needed(site: Site) {
    let site = Arc::new(site);
    let mut users = JoinSet::new();
    let somebody = User::new();
    let rule = site.advice(&somebody).await + &somebody.rule_for_mutexes();
    let rights = rule.split(' ').filter_map(|word| word.strip_prefix('+'));
    let rights: Vec<_> = rights.map(str::to_owned).collect();
    assert!(rights.len() > 15, "{rule}");
    for right in rights {
        let user = User::new();
        let rule = rule.replace(&somebody.prefix, &user.prefix) + " +scan ";
        let without = rule.replacen(&format!(" +{right} "), " ", 1);
        assert_ne!(rule, without, "{right}");
        site.allow(&user, &without).await;
        let site = Arc::clone(&site);
        users.spawn(async move {
            let errors = exercise(&site, &user).await;
            (right, user, errors)
        });
    }
    while let Some(done) = users.join_next().await {
        let (right, user, errors) = done.expect("nobody panics");
        let refused = site.refused(&user).await;
        println!("without {right}: {refused:?} {errors:?}");
        // Old servers log the command of a script as that of the script, and subcommands as the command.
        assert!(!refused.is_empty(), "{right} is not needed");
        let named = names(&errors, &right);
        assert!(named || SILENT.contains(&&*right), "{right}: {errors:?}");
        if errors.is_empty() {
            let command = right.split('|').next().unwrap_or_default();
            let logged = refused
                .iter()
                .any(|object| object.starts_with(command) || object == "lua");
            assert!(logged, "{right}: {refused:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_one_server() {
    each_is_needed(Site::server().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_cluster() {
    each_is_needed(Site::cluster().await).await;
}
