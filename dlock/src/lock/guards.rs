//! What users hold.

use std::time::Duration;

use super::gate::Share;
use crate::clock::timeout;
use crate::error::Error;
use crate::hold::FAREWELL;
use crate::key::LockKey;
use crate::token::FencingToken;

macro_rules! guard {
    ($(#[$about:meta])* $name:ident, $call:literal) => {
        $(#[$about])*
        ///
        /// The hold renews itself. Dropping the guard queues its release; [`release`](Self::release) waits
        /// for it and tells whether the lock was held to the end. The end of a runtime waits for what is
        /// queued for a second at most; so does a drop on a thread without a Tokio runtime.
        #[derive(Debug)]
        #[must_use = "dropping the guard releases the lock at once"]
        pub struct $name(Share);

        impl $name {
            pub(super) fn new(share: Share) -> Self {
                share.hold().begin_use();
                Self(share)
            }

            /// The lock's key.
            #[must_use]
            pub fn key(&self) -> &LockKey {
                &self.0.hold().key
            }

            /// How long this process may still rely on the hold if no renewal succeeds; zero when it is
            /// lost. Normally at least two thirds of the lease.
            #[must_use]
            pub fn lease_left(&self) -> Duration {
                self.0.hold().lease_left()
            }

            /// Whether the hold is lost: its lease has run out by this process's clock, or the server no
            /// longer knows it. Costs a look at the clock; nobody else gets the lock before this says so.
            #[must_use]
            pub fn is_lost(&self) -> bool {
                self.0.hold().loss().is_some()
            }

            /// An error if the hold is lost: for use before each step that matters.
            ///
            /// # Errors
            ///
            /// [`Lost`](crate::ErrorKind::Lost) with the reason.
            pub fn check(&self) -> Result<(), Error> {
                self.0.hold().check()
            }

            /// Completes when the hold is lost; never, if it is not.
            ///
            /// # Cancel safety
            ///
            /// Nothing is changed.
            ///
            /// # Examples
            ///
            /// ```
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), dlock::Error> {
            /// # async fn work() {}
            /// let client = dlock::Client::connect("memory://").await?;
            #[doc = concat!(" let guard = client.", $call, "().await?;")]
            /// tokio::select! {
            ///     biased;
            ///     () = guard.lost() => return guard.check(),
            ///     () = work() => guard.release().await?,
            /// }
            /// # Ok(())
            /// # }
            /// ```
            pub async fn lost(&self) {
                self.0.hold().lost().await;
            }

            /// Gives the lock back and waits until the server knows.
            ///
            /// # Errors
            ///
            /// [`Lost`](crate::ErrorKind::Lost) when the hold had ended before: what was done under it may
            /// have met somebody else's work. Errors of the connection mean that the release will be
            /// tried again in the background until the lease ends.
            ///
            /// # Cancel safety
            ///
            /// Dropping the future queues the release, as dropping the guard does.
            ///
            /// # Examples
            ///
            /// ```
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), dlock::Error> {
            /// let client = dlock::Client::connect("memory://").await?;
            #[doc = concat!(" let guard = client.", $call, "().await?;")]
            /// guard.release().await?;
            /// # Ok(())
            /// # }
            /// ```
            pub async fn release(mut self) -> Result<(), Error> {
                self.0.release_in_place().await
            }

            /// Releases what is about to be dropped.
            pub(crate) async fn release_in_place(&mut self) -> Result<(), Error> {
                self.0.release_in_place().await
            }

            /// The same, and gives up after a moment; then that does it.
            pub(crate) async fn release_soon(&mut self) {
                let _ = timeout(FAREWELL, self.0.release_unasked()).await;
            }
        }
    };
}

guard! {
    /// A lock held for reading, shared with other readers, until released, dropped or lost.
    ReadGuard, "rw_lock(\"order:42\")?.read"
}

guard! {
    /// A lock held for writing, alone, until released, dropped or lost.
    WriteGuard, "rw_lock(\"order:42\")?.write"
}

guard! {
    /// A mutex held until released, dropped or lost. It has no fencing token: others, who take the mutex without dlock,
    /// have none to be compared with. [`FencedMutexGuard`] has one.
    MutexGuard, "mutex(\"order:42\")?.lock"
}

guard! {
    /// A mutex held until released, dropped or lost, with a token among those who hold it through dlock.
    FencedMutexGuard, "mutex(\"order:42\")?.fenced()?.lock"
}

macro_rules! fenced {
    ($($name:ident)*) => {$(
        impl $name {
            /// The token to send along with what the lock protects.
            #[must_use]
            pub fn fencing_token(&self) -> FencingToken {
                self.0.token()
            }
        }
    )*};
}

fenced!(ReadGuard WriteGuard FencedMutexGuard);
