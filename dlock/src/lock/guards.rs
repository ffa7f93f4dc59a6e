//! The guards that users hold.

use std::time::Duration;

use super::gate::Share;
use crate::clock::timeout;
use crate::error::{Error, LossReason};
use crate::hold::FAREWELL;
use crate::key::LockKey;
use crate::token::FencingToken;

macro_rules! guard {
    ($(#[$about:meta])* $name:ident, $call:literal) => {
        $(#[$about])*
        ///
        /// The client renews the hold. A guard may move to another task. Dropping it queues its release. [`release`](Self::release) waits for
        /// the release and reports whether the lock was held to the end. The end of a runtime waits for queued releases for at most a
        /// second, and so does a drop on a thread without a Tokio runtime.
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

            /// How long this process may still rely on the hold if no renewal succeeds; zero if it is lost. Normally at least two thirds
            /// of the lease.
            #[must_use]
            pub fn lease_left(&self) -> Duration {
                self.0.hold().lease_left()
            }

            /// Whether the hold is lost: its lease has ended by this process's clock, or the server no longer knows the hold. Reads the
            /// clock. The server grants the lock to no other client before this returns `true`, unless it has lost the hold.
            #[must_use]
            pub fn is_lost(&self) -> bool {
                self.0.hold().loss().is_some()
            }

            /// Returns an error if the hold is lost. Call it before each step that cannot be undone.
            ///
            /// # Errors
            ///
            /// [`Lost`](crate::ErrorKind::Lost) with the reason.
            pub fn check(&self) -> Result<(), Error> {
                self.0.hold().check()
            }

            /// Completes with the reason when the hold is lost, and otherwise never.
            ///
            /// # Cancel safety
            ///
            /// Dropping the future changes nothing.
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
            ///     reason = guard.lost() => eprintln!("{reason}: the work was given up"),
            ///     () = work() => guard.release().await?,
            /// }
            /// # Ok(())
            /// # }
            /// ```
            pub async fn lost(&self) -> LossReason {
                self.0.hold().lost().await
            }

            /// Releases the lock and waits for the server's answer.
            ///
            /// # Errors
            ///
            /// [`Lost`](crate::ErrorKind::Lost) if the hold had ended before: the work under it may have overlapped with another holder's.
            /// After an error of the connection, the client retries the release in the background until the lease ends.
            ///
            /// # Cancel safety
            ///
            /// Dropping the future queues the release, like dropping the guard.
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

            /// Releases the lock before the guard is dropped.
            pub(crate) async fn release_in_place(&mut self) -> Result<(), Error> {
                self.0.release_in_place().await
            }

            /// Releases the lock before the guard is dropped; after a moment, leaves that to the drop.
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
    /// A mutex held until released, dropped or lost. It has no fencing token, because programs without dlock have none to compare.
    /// [`FencedMutexGuard`] has one.
    MutexGuard, "mutex(\"order:42\")?.lock"
}

guard! {
    /// A mutex held until released, dropped or lost, with a fencing token that grows among holders in dlock.
    FencedMutexGuard, "mutex(\"order:42\")?.fenced()?.lock"
}

macro_rules! fenced {
    ($($name:ident)*) => {$(
        impl $name {
            /// The token to store with the data that the lock protects.
            #[must_use]
            pub fn fencing_token(&self) -> FencingToken {
                self.0.token()
            }
        }
    )*};
}

fenced!(ReadGuard WriteGuard FencedMutexGuard);
