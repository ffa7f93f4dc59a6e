//! Encrypted connections, over streams of the redis crate.

use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo,
    RedisError,
};

use super::connection::Connection;
#[cfg(any(target_os = "linux", target_os = "android"))]
use super::stream::KEEPALIVE;
use super::stream::keepalive;
use crate::store::redis::address::Address;

/// Connects and logs in.
pub(super) async fn open(
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
    let server = ConnectionAddr::TcpTls {
        host: address.host.to_string(),
        port: address.port,
        insecure: false,
        tls_params: None,
    };
    let info = server
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
