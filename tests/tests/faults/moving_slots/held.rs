//! What guards of all kinds have in common.

use dlock::{Error, FencedMutexGuard, MutexGuard, ReadGuard, WriteGuard};

/// Any guard.
pub(crate) trait Held {
    fn token(&self) -> Option<u64>;
    fn check(&self) -> Result<(), Error>;
    async fn release(self) -> Result<(), Error>;
}

macro_rules! held {
    ($guard:ident, $token:expr) => {
        impl Held for $guard {
            fn token(&self) -> Option<u64> {
                let token: fn(&Self) -> Option<u64> = $token;
                token(self)
            }

            fn check(&self) -> Result<(), Error> {
                $guard::check(self)
            }

            async fn release(self) -> Result<(), Error> {
                $guard::release(self).await
            }
        }
    };
}

held!(WriteGuard, |guard| Some(guard.fencing_token().as_u64()));
held!(ReadGuard, |guard| Some(guard.fencing_token().as_u64()));
held!(FencedMutexGuard, |guard| Some(
    guard.fencing_token().as_u64()
));
held!(MutexGuard, |_| None);
