//! Opening a connection and logging in.

use std::io;

use redis::{AsyncConnectionConfig, ProtocolVersion, PushInfo, RedisConnectionInfo, RedisError};

use super::connection::Connection;
use super::stream::open;
#[cfg(feature = "tls")]
use super::tls::encrypt;
use super::under_way::UnderWay;
use crate::clock::timeout;
use crate::store::redis::address::Address;
use crate::store::redis::env::Env;
use crate::store::redis::wire::Push;

/// Requests that may wait to be written. Many tasks share a connection, and none of them should wait
/// for room.
const BUFFER: usize = 1024;

/// Connects and logs in within the connect timeout. `on_push` hears of everything that is no reply, and of the
/// connection's end.
pub(crate) async fn connect(
    env: &Env,
    address: &Address,
    on_push: impl Fn(Push<'_>) + Send + Sync + 'static,
) -> Result<Connection, RedisError> {
    let options = &env.options;
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
    let under_way = UnderWay::default();
    let heard = under_way.clone();
    // Requests bring their own timeouts.
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(options.slow_timeout()))
        .set_response_timeout(None)
        .set_pipeline_buffer_size(BUFFER)
        .set_push_sender(move |push: PushInfo| {
            heard.whole();
            on_push(Push::of(&push));
            Ok::<(), ()>(())
        });
    let slow = |_| io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
    let stream = timeout(options.connect_timeout, open(address)).await;
    let stream = stream.map_err(slow)??;
    let connecting = async {
        #[cfg(feature = "tls")]
        if options.tls {
            let stream = encrypt(env, address, stream).await?;
            return Connection::over(stream, under_way, &login, config).await;
        }
        Connection::over(stream, under_way, &login, config).await
    };
    timeout(options.slow_timeout(), connecting)
        .await
        .map_err(slow)?
}
