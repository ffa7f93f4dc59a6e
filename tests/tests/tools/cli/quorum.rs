//! Several `--url`.

use dlock_tests::{RedisServer, unique_prefix};

use crate::tool::say;

#[tokio::test]
async fn several_urls_are_a_quorum() {
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(RedisServer::start().await);
    }
    let (urls, prefix) = (servers.iter().map(RedisServer::url), unique_prefix());
    let urls: Vec<String> = urls.collect();
    // One of the three may be away.
    servers[2].kill();
    let apart = [
        "--url", &urls[0], "--url", &urls[1], "--url", &urls[2], "--prefix", &prefix,
    ];
    let together = urls.join(" ");
    let script = format!(
        "dlock=$0; shift 0; \"$dlock\" --url '{together}' --prefix {prefix} inspect job && \"$dlock\" --url '{together}' \
         --prefix {prefix} list"
    );
    let tool = dlock_tests::dlock_tool().display().to_string();
    let run = ["run", "--key", "job", "--", "sh", "-c", &script, &tool];
    let said = say(&[&apart[..], &run].concat()).await;
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("job: held for writing"), "{said:?}");
    assert!(said.out.contains("\njob "), "{said:?}");
    let two = ["--url", &urls[0], "--url", &urls[1], "inspect", "job"];
    let said = say(&two).await;
    assert!(said.err.contains("3 to 31"), "{said:?}");
}
