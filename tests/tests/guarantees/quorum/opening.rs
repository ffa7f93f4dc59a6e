//! Building a client.

use dlock::{Client, ErrorKind};

use crate::quorum::Members;

async fn refused(urls: &[&str]) -> String {
    let error = Client::builder().quorum(urls.iter().copied()).build().await;
    let error = error.expect_err("no quorum");
    assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error}");
    error.to_string()
}

#[tokio::test]
async fn what_is_no_quorum_is_refused() {
    assert!(refused(&[]).await.contains("got 0"));
    let two = refused(&["memory://q-a", "memory://q-b"]).await;
    assert!(two.contains("3 to 31"), "{two}");
    for twice in [
        ["memory://q-a", "memory://q-b", "memory://q-a"],
        ["redis://h:1", "redis://h:2", "redis://h:1"],
        ["redis://h:1", "redis://i:1,h:1", "redis://j:1"],
    ] {
        let said = refused(&twice).await;
        assert!(said.contains("in it already"), "{said}");
    }
    let own = refused(&["memory://q-a", "memory://", "memory://q-b"]).await;
    assert!(own.contains("client's own"), "{own}");
    let scheme = refused(&["memory://q-a", "memory://q-b", "http://c"]).await;
    assert!(scheme.contains("unknown URL scheme"), "{scheme}");
}

#[tokio::test]
async fn a_url_and_a_quorum_are_one_too_many() {
    let members = Members::new(3);
    let both = members.builder().url("memory://").build().await;
    let error = both.expect_err("contradicts itself");
    assert!(error.is_invalid() && error.to_string().contains("quorum"));
}

#[tokio::test]
async fn an_even_number_is_fine_and_passwords_are_not_shown() {
    let members = Members::new(4);
    let guard = members.client().await.rw_lock("a").expect("a good name");
    guard
        .write()
        .await
        .expect("free")
        .release()
        .await
        .expect("held");
    let builder = Client::builder().quorum(["redis://u:secret@a", "redis://b", "redis://c"]);
    assert!(!format!("{builder:?}").contains("secret"));
}
