//! Where a store is, with all that was said of it.

use std::sync::Arc;

use super::{Endpoint, MemoryStore, Site, Timeouts, Trust};
use crate::error::{Error, ErrorKind};

/// How many servers a quorum has: with fewer none may fail, and more help nobody.
const FEWEST: usize = 3;
const MOST: usize = 31;

/// That of one URL.
pub(super) fn site(
    url: &str,
    prefix: &str,
    timeouts: Timeouts,
    trust: Trust,
) -> Result<Site, Error> {
    match Endpoint::parse(url)?.trusting(trust)? {
        Endpoint::Memory(name) if name.is_empty() => Ok(Site::Memory(Arc::new(MemoryStore::new()))),
        Endpoint::Memory(name) => Ok(Site::Memory(MemoryStore::named(&name))),
        Endpoint::Redis(mut options) => {
            prefix.clone_into(&mut options.prefix);
            options.connect_timeout = timeouts.connect;
            options.response_timeout = timeouts.response;
            Ok(Site::Redis(options))
        }
    }
}

/// Those of a quorum.
pub(super) fn sites(
    urls: &[String],
    prefix: &str,
    timeouts: Timeouts,
    trust: &Trust,
) -> Result<Vec<Site>, Error> {
    let invalid = |message| Err(Error::new(ErrorKind::InvalidConfig, message));
    if !(FEWEST..=MOST).contains(&urls.len()) {
        return invalid(format!(
            "a quorum needs {FEWEST} to {MOST} independent servers, got {}",
            urls.len()
        ));
    }
    let mut sites = Vec::new();
    for (number, url) in urls.iter().enumerate() {
        let site = site(url, prefix, timeouts, trust.clone())?;
        if sites.iter().any(|other| is_same(other, &site)) {
            return invalid(format!(
                "URL {} of the quorum names a server that is in it already; each counts once",
                number + 1
            ));
        }
        sites.push(site);
    }
    if urls.iter().any(|url| is_own(url)) && !urls.iter().all(|url| is_own(url)) {
        return invalid(
            "`memory://` is this client's own, so that it cannot be a part of a quorum with what others share; name it, \
             as in `memory://a`"
                .to_owned(),
        );
    }
    Ok(sites)
}

/// Whether nobody else can be there.
fn is_own(url: &str) -> bool {
    matches!(Endpoint::parse(url), Ok(Endpoint::Memory(name)) if name.is_empty())
}

/// Whether both are the same place, or have a server in common.
fn is_same(one: &Site, other: &Site) -> bool {
    match (one, other) {
        (Site::Memory(one), Site::Memory(other)) => Arc::ptr_eq(one, other),
        (Site::Redis(one), Site::Redis(other)) => {
            one.database == other.database
                && one.seeds.iter().any(|seed| other.seeds.contains(seed))
        }
        _ => false,
    }
}
