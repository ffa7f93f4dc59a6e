//! Encrypted connections.

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
pub(super) async fn encrypt<S: AsyncRead + AsyncWrite + Unpin>(
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
pub(super) fn refused_certificate(error: &RedisError) -> Option<&'static str> {
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
