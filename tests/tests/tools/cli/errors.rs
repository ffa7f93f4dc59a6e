//! What the tool says when it cannot do what it should.

use dlock_tests::{RedisServer, ServerOptions};

use crate::tool::{Tool, say, say_in};

#[tokio::test]
async fn mistakes_on_the_command_line_are_told_apart_from_everything_else() {
    for arguments in [
        &["run", "--key", "x"][..],
        &["run", "--", "true"],
        &["frobnicate"],
        &["run", "--key", "x", "--wait", "soon", "--", "true"],
        &["top", "--interval", "1ms"],
        &[
            "run", "--key", "x", "--mutex", "--mode", "read", "--", "true",
        ],
        &["run", "--key", "x", "--fenced", "--", "true"],
    ] {
        let said = say(arguments).await;
        assert_eq!(said.code, 64, "{said:?}");
        assert!(!said.err.is_empty());
    }
    for arguments in [&["--help"][..], &["run", "--help"], &["--version"]] {
        let said = say(arguments).await;
        assert_eq!(said.code, 0);
        assert!(said.err.is_empty() && !said.out.is_empty());
    }
    let help = say(&["run", "--help"]).await.out;
    for part in [
        "DLOCK_TOKEN",
        "SIGKILL",
        "Exit codes",
        "75",
        "--grace",
        "--min-hold",
        "--mutex",
    ] {
        assert!(help.contains(part), "{part} is not in the help");
    }
    let parameters = [
        "tls_ca_file=",
        "tls_cert_file=",
        "tls_key_file=",
        "trusted_hosts=",
    ];
    for parameter in parameters {
        assert!(help.contains(parameter), "{parameter} is not in the help");
    }
}

#[tokio::test]
async fn nobody_there_is_code_69_and_json_on_demand() {
    let url = "redis://app:secret-word@127.0.0.1:1";
    let arguments = ["--url", url, "--retry-for", "300ms", "inspect", "x"];
    let said = say(&arguments).await;
    assert_eq!(said.code, 69, "{said:?}");
    assert!(said.err.contains("127.0.0.1:1") && !said.err.contains("secret-word"));
    let said = say(&[&arguments[..], &["--json"]].concat()).await;
    let json: serde_json::Value = serde_json::from_str(&said.err).expect("JSON");
    assert_eq!(json["exit"], 69);
    assert!(json["error"].is_string());
}

#[tokio::test]
async fn a_wrong_password_is_code_77_and_is_not_repeated() {
    let server = RedisServer::start_with(&ServerOptions::new().password("right-word")).await;
    let url = format!("redis://:wrong-word@127.0.0.1:{}", server.port());
    for command in [
        &["list"][..],
        &["run", "--key", "x", "--", "true"],
        &["top"],
    ] {
        let said = say(&[&["--url", &url], command].concat()).await;
        assert_eq!(said.code, 77, "{said:?}");
        let all = said.out + &said.err;
        assert!(!all.contains("wrong-word") && !all.contains("right-word"));
    }
}

#[tokio::test]
async fn refused_names_and_settings_are_code_78() {
    let tool = Tool::on_cluster().await;
    for command in [
        &["inspect", "{}"][..],
        &["run", "--key", "x", "--lease", "1ms", "--", "true"],
        &["force-release", "x", "--hold", "nonsense", "--yes"],
    ] {
        let said = tool.say(command).await;
        let expected = if command[0] == "force-release" { 1 } else { 78 };
        assert_eq!(said.code, expected, "{said:?}");
    }
    let said = say(&["--url", "http://x", "list"]).await;
    assert_eq!(said.code, 78, "{said:?}");
}

#[tokio::test]
async fn variables_that_protect_a_password_are_heeded_and_an_empty_url_is_refused() {
    let tool = Tool::on_cluster().await;
    let list = tool.arguments(&["list"]);
    let said = say_in(&[("DLOCK_TRUSTED_HOSTS", "127.0.0.1")], &list).await;
    assert_eq!(said.code, 0, "{said:?}");
    for (name, value, list) in [
        ("DLOCK_URL", "", &["list"][..]),
        ("DLOCK_TRUSTED_HOSTS", "", &list),
        ("DLOCK_TLS_CA_FILE", "no-such-file.pem", &list),
        ("DLOCK_TLS_CERT_FILE", "only.pem", &list),
    ] {
        let said = say_in(&[(name, value)], list).await;
        assert_eq!(said.code, 78, "{name}: {said:?}");
        assert!(!said.err.is_empty(), "{name}");
    }
}

/// A server on this machine may be another one than the services use.
#[tokio::test]
async fn without_a_server_nothing_is_run_anywhere() {
    for command in [
        &["run", "--key", "x", "--", "echo", "ran"][..],
        &["inspect", "x"],
        &["list"],
        &["top", "-n", "1"],
        &["force-release", "x", "--hold", "y", "--yes"],
    ] {
        let said = say(command).await;
        assert_eq!(said.code, 78, "{said:?}");
        assert!(said.err.contains("DLOCK_URL"), "{said:?}");
        assert!(said.out.is_empty(), "{said:?}");
    }
}

#[tokio::test]
async fn a_store_in_memory_is_refused_as_nobody_else_would_see_its_locks() {
    for url in ["memory://", " memory://shared"] {
        for command in [
            &["run", "--key", "x", "--", "echo", "ran"][..],
            &["inspect", "x"],
            &["list"],
            &["top"],
            &["force-release", "x", "--hold", "y", "--yes"],
        ] {
            let said = say(&[&["--url", url], command].concat()).await;
            assert_eq!(said.code, 78, "{said:?}");
            assert!(said.err.contains("memory://"), "{said:?}");
            assert!(said.out.is_empty(), "{said:?}");
        }
    }
}

#[tokio::test]
async fn it_speaks_tls() {
    let arguments = ["--retry-for", "300ms", "--url", "rediss://127.0.0.1:1"];
    let said = say(&[&arguments[..], &["list"]].concat()).await;
    assert_eq!(
        said.code, 69,
        "nobody is there, which it found out: {said:?}"
    );
}

/// `dlock list | head`: the reader may have seen enough.
#[tokio::test]
async fn nobody_who_reads_is_no_reason_to_panic() {
    let (read, write) = std::io::pipe().expect("a pipe");
    drop(read);
    let child = tokio::process::Command::new(dlock_tests::dlock_tool())
        .args(["completions", "bash"])
        .stdout(write)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = child.wait_with_output().await.expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!err.contains("panicked"), "{err}");
    assert_eq!(output.status.code(), Some(70), "{err}");
}
