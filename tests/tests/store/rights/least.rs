//! The rule is enough, and no more than that.

use dlock_tests::sharded_channels;

use crate::rights::exercise::exercise;
use crate::rights::site::{Site, User};

/// What the rule for locks does not cover.
const TOOL: &str = " +scan";

async fn is_enough_and_no_more(site: Site) {
    let (user, other) = (User::new(), User::new());
    let rule = site.advice(&user).await;
    println!("{rule}");
    assert_eq!(rule.contains("+spublish"), sharded_channels(), "{rule}");
    let cluster = matches!(site, Site::Cluster(_));
    assert_eq!(rule.contains("+asking"), cluster, "{rule}");
    site.allow(&user, &(rule.clone() + &user.rule_for_mutexes() + TOOL))
        .await;
    for node in site.nodes() {
        node.query::<()>(&["ACL", "LOG", "RESET"]).await;
    }
    let errors = exercise(&site, &user).await;
    assert!(errors.is_empty(), "{errors:?}");
    let refused = site.refused(&user).await;
    assert!(refused.is_empty(), "{refused:?}");

    // Nothing that is none of its business.
    let name = user.name.as_str();
    let (tenant, neighbour) = (
        format!("{}:{{x}}", other.prefix),
        format!("{}b:{{x}}", user.prefix),
    );
    let (channel, beside) = (
        format!("{}~c:x", other.prefix),
        format!("{}b~c:x", user.prefix),
    );
    let read_other = format!("return redis.call('HGETALL', '{tenant}')");
    let read = "return redis.call('HGETALL', KEYS[1])";
    let mut forbidden: Vec<Vec<&str>> = vec![
        vec!["FLUSHALL"],
        vec!["FLUSHDB"],
        vec!["SCRIPT", "FLUSH"],
        vec!["KEYS", "*"],
        vec!["RANDOMKEY"],
        vec!["CLIENT", "KILL", "TYPE", "normal"],
        vec!["CLIENT", "PAUSE", "1"],
        vec!["CLIENT", "LIST"],
        vec!["CONFIG", "GET", "*"],
        vec!["ACL", "LIST"],
        vec!["ACL", "SETUSER", name, "+@all"],
        vec!["SHUTDOWN"],
        vec!["MONITOR"],
        vec!["INFO"],
        vec!["CLUSTER", "RESET"],
        vec!["CLUSTER", "FORGET", "x"],
        vec!["FAILOVER"],
        vec!["REPLICAOF", "NO", "ONE"],
        vec!["PUBSUB", "CHANNELS"],
        vec!["SWAPDB", "0", "1"],
        vec!["EVAL", "return redis.call('FLUSHALL')", "0"],
        vec!["EVAL", "return redis.call('KEYS', '*')", "0"],
        vec!["EVAL", &read_other, "0"],
    ];
    // Nor mutexes of other names, nor the hashes beside them.
    let (mutex, beside_it) = (other.mutexes(), format!("{}~m:{{x}}", other.prefix));
    let as_mutex = "return redis.call('SET', KEYS[1], 'x')";
    for key in [&mutex, &beside_it, &tenant] {
        forbidden.push(vec!["SET", key, "x"]);
        forbidden.push(vec!["GET", key]);
        forbidden.push(vec!["GETEX", key]);
        forbidden.push(vec!["EXISTS", key]);
        forbidden.push(vec!["EVAL", as_mutex, "1", key]);
    }
    for key in [&tenant, &neighbour, &mutex, &beside_it] {
        forbidden.push(vec!["HGETALL", key]);
        forbidden.push(vec!["HDEL", key, "t"]);
        forbidden.push(vec!["HSET", key, "t", "1"]);
        forbidden.push(vec!["EVAL", read, "1", key]);
        forbidden.push(vec!["DEL", key]);
    }
    let publish = dlock_tests::publish_command();
    let subscribe = if sharded_channels() {
        "SSUBSCRIBE"
    } else {
        "SUBSCRIBE"
    };
    for channel in [&channel, &beside] {
        forbidden.push(vec![publish, channel, "x"]);
        forbidden.push(vec![subscribe, channel]);
    }
    for command in forbidden {
        for node in 0..site.nodes().len() {
            let answer = site.ask(&user, node, &command).await;
            let said = answer.map_or_else(|error| error.to_string(), |value| format!("{value:?}"));
            let words = [
                "permission",
                "NOPERM",
                "NoPerm",
                "can't run",
                "can't access",
                "ACL failure",
            ];
            assert!(
                words.iter().any(|word| said.contains(word)),
                "{command:?}: {said}"
            );
        }
    }
    // Its own operations go on.
    let errors = exercise(&site, &user).await;
    assert!(errors.is_empty(), "{errors:?}");
}

#[tokio::test]
async fn on_one_server_the_rule_is_enough_and_no_more() {
    is_enough_and_no_more(Site::server().await).await;
}

#[tokio::test]
async fn on_a_cluster_the_rule_is_enough_and_no_more() {
    is_enough_and_no_more(Site::cluster().await).await;
}

#[tokio::test]
async fn the_rule_is_the_one_in_the_security_policy() {
    let path = format!("{}/../SECURITY.md", env!("CARGO_MANIFEST_DIR"));
    let policy = std::fs::read_to_string(path).expect("SECURITY.md");
    // The document's lines may be shorter than a rule.
    let words: Vec<_> = policy.split_whitespace().collect();
    for site in [Site::server().await, Site::cluster().await] {
        let user = User::new();
        let rule = site.advice(&user).await.replace(&user.prefix, "dlock");
        let rule: Vec<_> = rule.split(' ').collect();
        let is_there = words.windows(rule.len()).any(|part| part == rule);
        assert!(is_there, "{}", rule.join(" "));
    }
}

#[tokio::test]
async fn an_error_names_the_command_that_the_tool_lacks() {
    let (site, user) = (Site::server().await, User::new());
    let rule = site.advice(&user).await;
    site.allow(&user, &rule).await;
    let client = dlock_tests::connect(&site.url(&user), &user.prefix).await;
    let error = client.list("*").await.expect_err("no right to scan");
    assert!(error.is_unauthorized(), "{error:?}");
    assert!(error.to_string().contains("`scan`"), "{error}");
    assert!(error.to_string().ends_with(&(rule + TOOL)), "{error}");
}
