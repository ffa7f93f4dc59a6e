//! Certificates, loaded once for all connections of a store.

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::trust::{Pem, Trust};
use crate::error::{Error, ErrorKind};

/// What connections need for TLS. Files are read again when they have changed: certificates do not live for long.
#[derive(Debug)]
pub(crate) struct Certificates {
    trust: Trust,
    loaded: Mutex<Option<Loaded>>,
}

#[derive(Debug)]
struct Loaded {
    /// When the files were changed last.
    changed: Vec<Option<SystemTime>>,
    config: Arc<ClientConfig>,
}

impl Certificates {
    pub(super) fn new(trust: &Trust) -> Self {
        Self {
            trust: trust.clone(),
            loaded: Mutex::default(),
        }
    }

    /// The settings of a connection that is opened now. Where files have become unreadable, those from before.
    pub(crate) fn current(&self) -> Result<Arc<ClientConfig>, Error> {
        let changed = self.changed();
        let mut loaded = self.loaded.lock();
        match &*loaded {
            Some(loaded) if loaded.changed == changed => return Ok(Arc::clone(&loaded.config)),
            _ => {}
        }
        match (self.load(), &*loaded) {
            (Ok(config), _) => {
                let config = Arc::new(config);
                *loaded = Some(Loaded {
                    changed,
                    config: Arc::clone(&config),
                });
                Ok(config)
            }
            (Err(_), Some(loaded)) => Ok(Arc::clone(&loaded.config)),
            (Err(error), None) => Err(error),
        }
    }

    fn changed(&self) -> Vec<Option<SystemTime>> {
        let Trust {
            authorities,
            identity,
            ..
        } = &self.trust;
        let identity = identity.iter().flat_map(|(cert, key)| [cert, key]);
        let files = authorities.iter().chain(identity);
        let changed = |pem: &Pem| match pem {
            Pem::File(path) => fs::metadata(path).and_then(|file| file.modified()).ok(),
            Pem::Text(_) => None,
        };
        files.map(changed).collect()
    }

    fn load(&self) -> Result<ClientConfig, Error> {
        // What the application has chosen for itself, if it has.
        let provider = CryptoProvider::get_default().cloned();
        let provider = provider.unwrap_or_else(|| Arc::new(ring::default_provider()));
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| invalid(format!("TLS cannot be used: {error}")))?
            .with_root_certificates(self.roots()?);
        let Some((certificate, key)) = &self.trust.identity else {
            return Ok(config.with_no_client_auth());
        };
        let chain = certificates(certificate, "the client's certificate")?;
        let key = PrivateKeyDer::from_pem_slice(&read(key, "the key of the client's certificate")?)
            .map_err(|error| {
                invalid(format!(
                    "the key of the client's certificate is no unencrypted key in PEM: {error}"
                ))
            })?;
        config.with_client_auth_cert(chain, key).map_err(|error| {
            invalid(format!(
                "the client's certificate and its key cannot be used together: {error}"
            ))
        })
    }

    fn roots(&self) -> Result<RootCertStore, Error> {
        let mut roots = RootCertStore::empty();
        if let Some(pem) = &self.trust.authorities {
            for certificate in certificates(pem, "the certificates of authorities")? {
                roots.add(certificate).map_err(|error| {
                    invalid(format!(
                        "one of the certificates of authorities is none: {error}"
                    ))
                })?;
            }
        } else {
            let native = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(native.certs);
            if roots.is_empty() {
                return Err(invalid(format!(
                    "this system has no certificates of authorities ({:?}); name a file with `tls_ca_file`",
                    native.errors
                )));
            }
        }
        Ok(roots)
    }
}

fn certificates(pem: &Pem, what: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let text = read(pem, what)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(invalid(format!("there is no PEM with {what} in {pem:?}"))),
        Err(error) => Err(invalid(format!(
            "{what} in {pem:?} cannot be read: {error}"
        ))),
    }
}

fn read(pem: &Pem, what: &str) -> Result<Vec<u8>, Error> {
    match pem {
        Pem::File(path) => fs::read(path)
            .map_err(|error| invalid(format!("{what} in {pem:?} cannot be read: {error}"))),
        Pem::Text(text) => Ok(text.clone()),
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidConfig, message)
}
