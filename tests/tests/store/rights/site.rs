//! Servers with users whose rights are set as a test says.

use std::time::Duration;

use dlock::Error;
use dlock_tests::{
    ClusterOptions, RedisCluster, RedisServer, ServerOptions, builder, listening, scaled,
    unique_prefix,
};
use redis::{RedisResult, Value};

pub(crate) const PASSWORD: &str = "pw";

/// One server, or a cluster.
pub(crate) enum Site {
    Server(Box<RedisServer>),
    Cluster(RedisCluster),
}

/// A user, and the prefix of its locks.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) prefix: String,
}

impl User {
    /// A new user.
    pub(crate) fn new() -> Self {
        let prefix = unique_prefix();
        Self {
            name: format!("u-{prefix}"),
            prefix,
        }
    }
}

impl User {
    /// What this user's mutexes are called, to begin with.
    pub(crate) fn mutexes(&self) -> String {
        format!("{}-m-", self.prefix)
    }

    /// The additional rights that mutexes need, from SECURITY.md.
    pub(crate) fn rule_for_mutexes(&self) -> String {
        let path = format!("{}/../SECURITY.md", env!("CARGO_MANIFEST_DIR"));
        let page = std::fs::read_to_string(path).expect("SECURITY.md");
        let rule = page.lines().find(|line| line.starts_with("~order:* "));
        let rule = rule.expect("what mutexes want besides");
        let rule = rule.replace("order:", &self.mutexes());
        format!(" {}", rule.replace("dlock~", &format!("{}~", self.prefix)))
    }
}

impl Site {
    fn options() -> ServerOptions {
        ServerOptions::new().config("acllog-max-len 10000")
    }

    pub(crate) async fn server() -> Self {
        Self::Server(Box::new(RedisServer::start_with(&Self::options()).await))
    }

    pub(crate) async fn cluster() -> Self {
        let options = ClusterOptions::new().replicas(0).server(Self::options());
        Self::Cluster(RedisCluster::start_with(&options).await)
    }

    pub(crate) fn nodes(&self) -> Vec<&RedisServer> {
        match self {
            Self::Server(server) => vec![server],
            Self::Cluster(cluster) => (0..cluster.len()).map(|node| cluster.node(node)).collect(),
        }
    }

    pub(crate) fn url(&self, user: &User) -> String {
        let (name, port) = (&user.name, self.nodes()[0].port());
        format!("redis://{name}:{PASSWORD}@127.0.0.1:{port}")
    }

    /// Gives a user exactly these rights everywhere.
    pub(crate) async fn allow(&self, user: &User, rule: &str) {
        let password = format!(">{PASSWORD}");
        let mut command = vec!["ACL", "SETUSER", &user.name, "reset", "on", &password];
        command.extend(rule.split(' ').filter(|word| !word.is_empty()));
        for node in self.nodes() {
            node.query::<()>(&command).await;
        }
    }

    /// The rule that the error of a user without rights names.
    pub(crate) async fn advice(&self, user: &User) -> String {
        self.allow(user, "").await;
        let error = self.refusal(user).await.to_string();
        let start = format!("ACL SETUSER {} ", user.name);
        let (_, rule) = error.split_once(&start).expect(&error);
        rule.to_owned()
    }

    /// The error of connecting.
    pub(crate) async fn refusal(&self, user: &User) -> Error {
        let client =
            builder(&self.url(user), &user.prefix).retry_for(scaled(Duration::from_secs(2)));
        client.build().await.expect_err("without rights")
    }

    /// What the servers have refused a user so far, but for what is not needed.
    pub(crate) async fn refused(&self, user: &User) -> Vec<String> {
        let mut refused = Vec::new();
        for node in self.nodes() {
            let entries: Vec<Value> = node.query(&["ACL", "LOG", "10000"]).await;
            for entry in entries {
                let fields: std::collections::HashMap<String, Value> =
                    redis::from_redis_value(entry).expect("fields");
                let field = |name: &str| {
                    let value = fields[name].clone();
                    redis::from_redis_value::<String>(value).expect("a text")
                };
                // The connection's name, and the library's: for who looks at the list of clients.
                let object = field("object").to_lowercase();
                if field("username") == user.name && !object.starts_with("client") {
                    refused.push(object);
                }
            }
        }
        refused.sort_unstable();
        refused.dedup();
        refused
    }

    /// Whether a client of this user is subscribed at the servers.
    pub(crate) async fn hears(&self, user: &User) -> bool {
        let start = format!("{}~c:", user.prefix);
        !listening(self.nodes(), &start).await.is_empty()
    }

    /// What a node answers a user.
    pub(crate) async fn ask(
        &self,
        user: &User,
        node: usize,
        command: &[&str],
    ) -> RedisResult<Value> {
        let port = self.nodes()[node].port();
        let url = format!("redis://{}:{PASSWORD}@127.0.0.1:{port}", user.name);
        let client = redis::Client::open(url)?;
        let mut connection = client.get_multiplexed_async_connection().await?;
        let mut request = redis::cmd(command[0]);
        request.arg(&command[1..]);
        request.query_async(&mut connection).await
    }
}
