//! Certificates, loaded once for all connections of a store.

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::options::{Pem, Trust};
use crate::clock::{Instant, timeout_at};
use crate::error::{Error, ErrorKind};
use crate::tasks::run_blocking;

/// What connections need for TLS. Files are read again when they have changed: certificates do not live for long.
#[derive(Debug)]
pub(crate) struct Certificates {
    trust: Trust,
    loaded: ArcSwapOption<Loaded>,
    /// Held by the task that reads the files.
    looking: Mutex<()>,
}

#[derive(Debug)]
struct Loaded {
    /// When the files were changed last.
    changed: Vec<Option<SystemTime>>,
    config: Arc<ClientConfig>,
}

impl Certificates {
    pub(super) fn new(trust: &Trust) -> Arc<Self> {
        Arc::new(Self {
            trust: trust.clone(),
            loaded: ArcSwapOption::empty(),
            looking: Mutex::default(),
        })
    }

    /// The settings of a connection that is opened now. Where files have become unreadable, or take until then, those
    /// from before.
    pub(crate) async fn current(
        self: &Arc<Self>,
        until: Instant,
    ) -> Result<Arc<ClientConfig>, Error> {
        let this = Arc::clone(self);
        // A file may be on a disk that hangs, and this be the thread on which everything runs.
        let looking = run_blocking(move || this.look(until));
        match timeout_at(until, looking).await.ok().flatten() {
            Some(outcome) => outcome,
            None => self.before().ok_or_else(slow),
        }
    }

    fn before(&self) -> Option<Arc<ClientConfig>> {
        let loaded = self.loaded.load();
        loaded.as_ref().map(|loaded| Arc::clone(&loaded.config))
    }

    /// Reads what has changed. One at a time: a read that hangs keeps one thread, and not one more with each connection.
    fn look(&self, until: Instant) -> Result<Arc<ClientConfig>, Error> {
        let patience = until - Instant::now();
        let Some(_looking) = self.looking.try_lock_for(patience) else {
            return self.before().ok_or_else(slow);
        };
        let changed = self.changed();
        let loaded = self.loaded.load();
        if let Some(loaded) = loaded.as_ref().filter(|loaded| loaded.changed == changed) {
            return Ok(Arc::clone(&loaded.config));
        }
        match self.load() {
            Ok(config) => {
                let config = Arc::new(config);
                self.loaded.store(Some(Arc::new(Loaded {
                    changed,
                    config: Arc::clone(&config),
                })));
                Ok(config)
            }
            Err(error) => self.before().ok_or(error),
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
        let chain = certificates(certificate, &CERTIFICATE)?;
        let key = PrivateKeyDer::from_pem_slice(&read(key, &KEY)?).map_err(|error| {
            invalid(format!(
                "the key of the client's certificate is not an unencrypted PEM key: {error}"
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
            for certificate in certificates(pem, &AUTHORITIES)? {
                roots.add(certificate).map_err(|error| {
                    invalid(format!(
                        "a certificate of the authorities is invalid: {error}"
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

/// What a file is read for.
struct Part {
    is: &'static str,
    /// By which setting it was named.
    setting: &'static str,
}

const AUTHORITIES: Part = Part {
    is: "the certificates of authorities",
    setting: "tls_ca_file",
};
const CERTIFICATE: Part = Part {
    is: "the client's certificate",
    setting: "tls_client_files",
};
const KEY: Part = Part {
    is: "the key of the client's certificate",
    setting: "tls_client_files",
};

fn certificates(pem: &Pem, part: &Part) -> Result<Vec<CertificateDer<'static>>, Error> {
    let text = read(pem, part)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let is = part.is;
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(invalid(format!("there is no PEM with {is} in {pem:?}"))),
        Err(error) => Err(invalid(format!("{is} in {pem:?} cannot be read: {error}"))),
    }
}

fn read(pem: &Pem, part: &Part) -> Result<Vec<u8>, Error> {
    let Part { is, setting } = part;
    match pem {
        Pem::File(path) => fs::read(path).map_err(|error| {
            invalid(format!(
                "{is} in {pem:?} cannot be read ({error}); check that `{setting}` names a file that this process may read"
            ))
        }),
        Pem::Text(text) => Ok(text.clone()),
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidConfig, message)
}

fn slow() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the files of `tls_ca_file` and `tls_client_files` could not be read in time; check the disk that they are on",
    )
}
