//! How many requests of one client a server has at a time.

use std::time::Duration;

use dlock::__internals::Reply;
use dlock_tests::{Direction, FaultProxy, RedisServer, wait_until};
use futures_util::future::join_all;

use crate::redis_store::rig::{Rig, options, release, renew, within, write};

const SOON: Duration = Duration::from_secs(30);

/// As the guide says.
const AT_FIRST: u64 = 32;

const ACQUIRES: usize = 500;

/// Renewals that waited behind acquires would cost leases when very many tasks ask at once, and releases would keep locks taken.
#[tokio::test]
async fn renewals_and_releases_pass_acquires_and_only_so_many_of_these_are_under_way() {
    let server = RedisServer::start().await;
    let proxy = FaultProxy::start(server.addr());
    let mut options = options(&proxy.url());
    options.response_timeout = 2 * SOON;
    let rig = Rig::connect_with(options).await;
    let key = rig.key("held");
    let (hold, _) = rig.grab(&key).await;
    let taught = rig.call(&key, &renew(&hold)).await;
    assert_eq!(taught.expect("renewed").reply, Reply::Done);
    let freed = rig.key("freed");
    let (ended, _) = rig.grab(&freed).await;
    let fields = async || server.query::<usize>(&["HLEN", freed.as_str()]).await;
    let fields_of_a_hold = fields().await;
    let keys: Vec<_> = (0..ACQUIRES).map(|n| rig.key(&format!("k{n}"))).collect();
    let ops: Vec<_> = keys.iter().map(|_| write(&rig.hold())).collect();
    let before = server.command_stats().await;
    let scripts = async || server.command_stats().await.since(&before).scripts();

    proxy.blackhole(Direction::ToClient);
    let deadline = within(60_000);
    let call = |(key, op)| rig.store.call(key, op, deadline);
    let acquired = join_all(keys.iter().zip(&ops).map(call));
    let (longer, free) = (renew(&hold), release(&ended));
    let renewed = rig.store.call(&key, &longer, deadline);
    let released = rig.store.call(&freed, &free, deadline);
    let silent = async {
        // It is sent last, on the connection of all, so what was sent has been executed before.
        wait_until(SOON, "the release is executed", || async {
            fields().await < fields_of_a_hold
        })
        .await;
        let executed = scripts().await;
        proxy.pass();
        executed
    };
    let (acquired, renewed, released, executed) = tokio::join!(acquired, renewed, released, silent);
    assert_eq!(executed, AT_FIRST + 1);
    for answer in [renewed, released] {
        assert_eq!(answer.expect("answered").reply, Reply::Done);
    }
    for answer in acquired {
        let reply = answer.expect("answered in its turn").reply;
        assert!(matches!(reply, Reply::Granted(_)), "{reply:?}");
    }
    assert_eq!(
        scripts().await,
        u64::try_from(ACQUIRES).expect("a few") + 1,
        "each is sent once"
    );
}
