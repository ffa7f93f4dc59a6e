//! What the blocking handles to all kinds of locks have.

/// A handle of this name, the async handle that it waits for, and the name under which that is documented.
macro_rules! handle {
    ($(#[$about:meta])* $name:ident, $lock:path, $of:literal) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name {
            client: crate::Client,
            lock: $lock,
        }

        impl $name {
            pub(super) fn new(client: crate::Client, lock: $lock) -> Self {
                Self { client, lock }
            }

            fn wait<T>(
                &self,
                future: impl Future<Output = Result<T, crate::Error>>,
            ) -> Result<T, crate::Error> {
                self.client.wait(future)?
            }

            #[doc = concat!("See [`", $of, "::lease`](crate::", $of, "::lease).")]
            #[must_use]
            pub fn lease(mut self, lease: std::time::Duration) -> Self {
                self.lock = self.lock.lease(lease);
                self
            }

            #[doc = concat!("See [`", $of, "::max_hold`](crate::", $of, "::max_hold).")]
            #[must_use]
            pub fn max_hold(mut self, max_hold: std::time::Duration) -> Self {
                self.lock = self.lock.max_hold(max_hold);
                self
            }

            #[doc = concat!("See [`", $of, "::min_hold`](crate::", $of, "::min_hold).")]
            #[must_use]
            pub fn min_hold(mut self, min_hold: std::time::Duration) -> Self {
                self.lock = self.lock.min_hold(min_hold);
                self
            }

            #[doc = concat!("See [`", $of, "::label`](crate::", $of, "::label).")]
            #[must_use]
            pub fn label(mut self, label: impl Into<std::borrow::Cow<'static, str>>) -> Self {
                self.lock = self.lock.label(label);
                self
            }

            /// The lock's key on the server. A mutex' key is its name.
            #[must_use]
            pub fn key(&self) -> &crate::LockKey {
                self.lock.key()
            }

            /// The holders and the waiters of the lock, as the server sees them now.
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`", $of, "::inspect`](crate::", $of, "::inspect).")]
            pub fn inspect(&self) -> Result<crate::LockInfo, crate::Error> {
                self.wait(self.lock.inspect())
            }

            /// Ends the hold with this id, as
            #[doc = concat!("[`", $of, "::force_release`](crate::", $of, "::force_release) does.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`", $of, "::force_release`](crate::", $of, "::force_release).")]
            pub fn force_release(&self, hold_id: &str) -> Result<bool, crate::Error> {
                self.wait(self.lock.force_release(hold_id))
            }
        }
    };
}

pub(super) use handle;
