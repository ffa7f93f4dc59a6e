//! Opening a connection.

use std::io;
use std::time::Duration;

use futures_util::future::select_ok;
use redis::aio::AsyncPushSender;
use redis::io::tcp::{
    TcpSettings,
    socket2::{SockRef, TcpKeepalive},
};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion,
    RedisConnectionInfo, RedisError,
};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::address::Address;
use super::connection::Connection;
use super::options::RedisOptions;

/// How long the other end may leave data or probes unacknowledged.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// Requests that may wait to be written. Many tasks share a connection, and none of them should wait
/// for room.
const BUFFER: usize = 1024;

/// Connects and logs in within the connect timeout. `pushes` hears of everything that is no reply, and of
/// the connection's end.
pub(super) async fn connect(
    options: &RedisOptions,
    address: &Address,
    pushes: impl AsyncPushSender,
) -> Result<Connection, RedisError> {
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
    // Requests bring their own timeouts.
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(options.connect_timeout))
        .set_response_timeout(None)
        .set_pipeline_buffer_size(BUFFER)
        .set_push_sender(pushes);
    if options.tls {
        return encrypted(address, login, &config).await;
    }
    let connecting = async {
        let stream = open(address).await?;
        Connection::over(stream, &login, config).await
    };
    let slow = |_| io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
    timeout(options.connect_timeout, connecting)
        .await
        .map_err(slow)?
}

/// Tries all addresses of the host at the same time.
async fn open(address: &Address) -> io::Result<TcpStream> {
    let found = lookup_host((&*address.host, address.port)).await?;
    let attempts: Vec<_> = found.map(|at| Box::pin(TcpStream::connect(at))).collect();
    if attempts.is_empty() {
        let nowhere = "the host name has no address";
        return Err(io::Error::new(io::ErrorKind::NotFound, nowhere));
    }
    let (stream, _) = select_ok(attempts).await?;
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    socket.set_tcp_keepalive(&keepalive())?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(KEEPALIVE))?;
    Ok(stream)
}

fn keepalive() -> TcpKeepalive {
    TcpKeepalive::new()
        .with_time(KEEPALIVE)
        .with_interval(KEEPALIVE / 5)
}

async fn encrypted(
    address: &Address,
    login: RedisConnectionInfo,
    config: &AsyncConnectionConfig,
) -> Result<Connection, RedisError> {
    choose_cryptography();
    let settings = TcpSettings::default()
        .set_nodelay(true)
        .set_keepalive(keepalive());
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let settings = settings.set_user_timeout(KEEPALIVE);
    let place = ConnectionAddr::TcpTls {
        host: address.host.to_string(),
        port: address.port,
        insecure: false,
        tls_params: None,
    };
    let info = place
        .into_connection_info()?
        .set_tcp_settings(settings)
        .set_redis_settings(login);
    let opened = Client::open(info)?
        .get_multiplexed_async_connection_with_config(config)
        .await?;
    Ok(Connection::from(opened))
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
