//! A server that speaks TLS.

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use dlock::{Client, ClientBuilder, Error};
use dlock_tests::{RedisServer, ServerOptions, not_applicable, unique_prefix};

use crate::tls::certificates::make_certificates;

/// The server, and the folder with everybody's certificates.
pub(crate) struct Site {
    pub(crate) server: RedisServer,
    folder: PathBuf,
    port: u16,
}

impl Site {
    /// `clients` says whether they need a certificate. `None` if the server cannot do TLS.
    pub(crate) async fn start(clients: &str) -> Option<Self> {
        let without = RedisServer::start().await;
        let setting: Vec<String> = without.query(&["CONFIG", "GET", "tls-port"]).await;
        if setting.is_empty() {
            not_applicable("the server was built without TLS");
            return None;
        }
        let folder = std::env::temp_dir().join(unique_prefix());
        std::fs::create_dir(&folder).expect("a temporary folder");
        make_certificates(&folder);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        drop(listener);
        let file = |name: &str| folder.join(name).display().to_string();
        let server = RedisServer::start_with(
            &ServerOptions::new()
                .config(&format!("tls-port {port}"))
                .config(&format!("tls-cert-file {}", file("server.pem")))
                .config(&format!("tls-key-file {}", file("server.key")))
                .config(&format!("tls-ca-cert-file {}", file("ca.pem")))
                .config(&format!("tls-auth-clients {clients}")),
        )
        .await;
        Some(Self {
            server,
            folder,
            port,
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.port)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).expect("it is there")
    }

    /// Settings for a client that trusts the server, and may take its time.
    pub(crate) fn builder(&self) -> ClientBuilder {
        let builder = Client::builder().url(self.url()).prefix(unique_prefix());
        builder.tls_ca_file(self.file("ca.pem"))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A folder that stays does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Takes a lock and gives it back.
pub(crate) async fn take(client: &Client) -> Result<(), Error> {
    let lock = client.rw_lock("order:42")?;
    lock.write_timeout(Duration::from_secs(5))
        .await?
        .release()
        .await
}
