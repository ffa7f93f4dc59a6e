//! Guards whose release blocks.

use std::time::Duration;

use crate::{Client, Error, FencingToken, LockKey, LossReason};

macro_rules! guard {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        ///
        /// The client renews the hold. Dropping the guard releases the lock, waits for at most a second, and then leaves the release to the
        /// background. [`release`](Self::release) waits for the server's answer, and reports whether the lock was held to the end.
        #[derive(Debug)]
        #[must_use = "dropping the guard releases the lock at once"]
        pub struct $name {
            client: Client,
            guard: crate::$name,
        }

        impl $name {
            pub(super) fn new(client: &Client, guard: crate::$name) -> Self {
                let client = client.clone();
                Self { client, guard }
            }

            /// The lock's key.
            #[must_use]
            pub fn key(&self) -> &LockKey {
                self.guard.key()
            }

            /// How long this process may still rely on the hold if no renewal succeeds; zero if it is lost.
            #[must_use]
            pub fn lease_left(&self) -> Duration {
                self.guard.lease_left()
            }

            /// Whether the hold is lost. Reads the clock.
            #[must_use]
            pub fn is_lost(&self) -> bool {
                self.guard.is_lost()
            }

            /// An error if the hold is lost: for use before each step that matters.
            ///
            /// # Errors
            ///
            /// [`Lost`](crate::ErrorKind::Lost) with the reason.
            pub fn check(&self) -> Result<(), Error> {
                self.guard.check()
            }

            /// Blocks until the hold is lost, perhaps without end, and returns the reason: for a thread that watches.
            ///
            /// # Errors
            ///
            /// [`WouldDeadlock`](crate::ErrorKind::WouldDeadlock) on the one thread that drives the
            /// client's runtime.
            pub fn lost(&self) -> Result<LossReason, Error> {
                self.client.wait(self.guard.lost())
            }

            /// Releases the lock and waits for the server's answer.
            ///
            /// # Errors
            ///
            /// As the asynchronous guard's `release`.
            pub fn release(mut self) -> Result<(), Error> {
                let release = self.guard.release_in_place();
                self.client.wait(release)?
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // A thread that may not wait leaves it to the background.
                let _ = self.client.wait(self.guard.release_soon());
            }
        }
    };
}

guard! {
    /// A lock held for reading, shared with other readers, until released, dropped or lost.
    ReadGuard
}

guard! {
    /// A lock held for writing, alone, until released, dropped or lost.
    WriteGuard
}

guard! {
    /// A mutex held until released, dropped or lost. Like the async [`MutexGuard`](crate::MutexGuard) it has no fencing token.
    MutexGuard
}

guard! {
    /// A mutex held until released, dropped or lost, with a fencing token that grows among holders in dlock.
    FencedMutexGuard
}

macro_rules! fenced {
    ($($name:ident)*) => {$(
        impl $name {
            /// The token to store with the data that the lock protects.
            #[must_use]
            pub fn fencing_token(&self) -> FencingToken {
                self.guard.fencing_token()
            }
        }
    )*};
}

fenced!(ReadGuard WriteGuard FencedMutexGuard);
