//! Opening a connection, and one request on it.

use std::time::Duration;

use redis::aio::{AsyncPushSender, MultiplexedConnection};
use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, IntoConnectionInfo, Pipeline,
    ProtocolVersion, RedisConnectionInfo, RedisError, Value,
};
use tokio::time::{Instant, timeout_at};

use super::address::Address;
use super::options::RedisOptions;

/// How long the other end may leave data or probes unacknowledged.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// Requests that may wait to be written. Many tasks share a connection, and none of them should wait
/// for room.
const BUFFER: usize = 1024;

/// Connects and logs in within the connect timeout. `pushes` hears of everything that is no reply, and of
/// the connection's end.
pub(super) async fn open(
    options: &RedisOptions,
    address: &Address,
    pushes: impl AsyncPushSender,
) -> Result<MultiplexedConnection, RedisError> {
    let host = address.host.to_string();
    let place = if options.tls {
        choose_cryptography();
        ConnectionAddr::TcpTls {
            host,
            port: address.port,
            insecure: false,
            tls_params: None,
        }
    } else {
        ConnectionAddr::Tcp(host, address.port)
    };
    // RESP3 for the pushes: they tell at once when a connection ends, not only the next request.
    let mut login = RedisConnectionInfo::default()
        .set_protocol(ProtocolVersion::RESP3)
        .set_lib_name("dlock", env!("CARGO_PKG_VERSION"))
        .set_db(options.database);
    if let Some(username) = &options.username {
        login = login.set_username(username);
    }
    if let Some(password) = &options.password {
        login = login.set_password(password.reveal());
    }
    let info = place
        .into_connection_info()?
        .set_tcp_settings(tcp_settings())
        .set_redis_settings(login);
    // Requests bring their own timeouts.
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(options.connect_timeout))
        .set_response_timeout(None)
        .set_pipeline_buffer_size(BUFFER)
        .set_push_sender(pushes);
    Client::open(info)?
        .get_multiplexed_async_connection_with_config(&config)
        .await
}

/// TLS needs a provider of cryptography for the whole process. If the application has not chosen one, *ring*
/// is.
fn choose_cryptography() {
    #[cfg(feature = "tls")]
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Somebody else may have been faster, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

fn tcp_settings() -> TcpSettings {
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE)
        .with_interval(KEEPALIVE / 5);
    let settings = TcpSettings::default()
        .set_nodelay(true)
        .set_keepalive(keepalive);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let settings = settings.set_user_timeout(KEEPALIVE);
    settings
}

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// Not within the time there was.
    Silence,
    /// The connection failed.
    Io(RedisError),
}

/// Sends one command. The reply may be a [`Value::ServerError`].
pub(super) async fn request(
    connection: &mut MultiplexedConnection,
    cmd: &Cmd,
    until: Instant,
) -> Result<Value, NoAnswer> {
    match timeout_at(until, connection.send_packed_command(cmd)).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(NoAnswer::Io(error)),
        Err(_) => Err(NoAnswer::Silence),
    }
}

/// Sends several commands in one go. Each reply may be a [`Value::ServerError`].
pub(super) async fn request_all(
    connection: &mut MultiplexedConnection,
    pipeline: &Pipeline,
    until: Instant,
) -> Result<Vec<Value>, NoAnswer> {
    let count = pipeline.len();
    match timeout_at(until, connection.send_packed_commands(pipeline, 0, count)).await {
        Ok(Ok(values)) if values.len() == count => Ok(values),
        Ok(Ok(_)) => Err(NoAnswer::Io(RedisError::from((
            redis::ErrorKind::UnexpectedReturnType,
            "fewer replies than commands",
        )))),
        Ok(Err(error)) => Err(NoAnswer::Io(error)),
        Err(_) => Err(NoAnswer::Silence),
    }
}
