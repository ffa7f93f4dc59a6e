//! The stream to a server, which may be encrypted.

use std::io;
#[cfg(not(dlock_sim))]
use std::time::Duration;

#[cfg(not(dlock_sim))]
use futures_util::future::select_ok;
#[cfg(not(dlock_sim))]
use redis::io::tcp::socket2::{SockRef, TcpKeepalive};
#[cfg(not(dlock_sim))]
use tokio::net::{TcpStream, lookup_host};

use crate::store::redis::address::Address;

/// How long the other end may leave data or probes unacknowledged.
#[cfg(not(dlock_sim))]
const KEEPALIVE: Duration = Duration::from_secs(5);

/// Connects to a server; tries all addresses of the host at the same time.
///
/// **The seam to the network**: every connection of the crate begins here, and what drives it takes any stream of bytes.
/// A replacement of this function runs everything above on another network.
#[cfg(not(dlock_sim))]
pub(super) async fn open(address: &Address) -> io::Result<TcpStream> {
    let found = lookup_host((&*address.host, address.port)).await?;
    let connecting: Vec<_> = found.map(|at| Box::pin(TcpStream::connect(at))).collect();
    if connecting.is_empty() {
        let nowhere = "the host name has no address";
        return Err(io::Error::new(io::ErrorKind::NotFound, nowhere));
    }
    let (stream, _) = select_ok(connecting).await?;
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE)
        .with_interval(KEEPALIVE / 5);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(KEEPALIVE))?;
    Ok(stream)
}

/// Connects to a simulated server.
#[cfg(dlock_sim)]
pub(super) async fn open(address: &Address) -> io::Result<crate::sim::Stream> {
    crate::sim::Stream::open(&address.host, address.port).await
}

/// Encryption, and why a server or a client does not accept the certificate of the other.
#[cfg(feature = "tls")]
pub(super) mod tls {
    use std::error::Error;
    use std::io;
    use std::sync::Arc;

    use redis::RedisError;
    use rustls::AlertDescription;
    use rustls::pki_types::ServerName;
    use tokio::io::{AsyncRead, AsyncWrite};
    use tokio_rustls::TlsConnector;
    use tokio_rustls::client::TlsStream;

    use crate::clock::Instant;
    use crate::store::redis::address::Address;
    use crate::store::redis::env::Env;

    /// Encrypts a stream to a server that has to show a certificate for the name by which it was sought.
    pub(in crate::store::redis::node) async fn encrypt<S: AsyncRead + AsyncWrite + Unpin>(
        env: &Env,
        address: &Address,
        stream: S,
    ) -> io::Result<TlsStream<S>> {
        // Files that hang leave time to connect with those that were read before.
        let until = Instant::now() + env.options.connect_timeout / 2;
        let current = env.certificates.current(until).await;
        let config = current.map_err(io::Error::other)?;
        let name = ServerName::try_from(address.host.to_string()).map_err(io::Error::other)?;
        TlsConnector::from(config).connect(name, stream).await
    }

    /// Whether a connection failed because one side does not accept the other's certificate, and who does not.
    pub(in crate::store::redis::node) fn refused_certificate(
        error: &RedisError,
    ) -> Option<&'static str> {
        match rustls_error(error)? {
            rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => Some(
                "its certificate is not one that this client trusts; look at `tls_ca_file` and the certificate's names",
            ),
            rustls::Error::AlertReceived(alert) if is_about_certificates(*alert) => Some(
                "it does not accept this client's certificate, or wants one; look at `tls_client_files`",
            ),
            _ => None,
        }
    }

    fn is_about_certificates(alert: AlertDescription) -> bool {
        matches!(
            alert,
            AlertDescription::HandshakeFailure
                | AlertDescription::NoCertificate
                | AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied
                | AlertDescription::CertificateRequired
        )
    }

    /// The error of rustls that others have wrapped.
    fn rustls_error(error: &RedisError) -> Option<&rustls::Error> {
        let mut next = error.source();
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            next = if let Some(shared) = error.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
                Some(&**shared)
            } else if let Some(io) = error.downcast_ref::<io::Error>() {
                io.get_ref().map(|inner| inner as &(dyn Error + 'static))
            } else {
                error.source()
            };
        }
        None
    }
}
