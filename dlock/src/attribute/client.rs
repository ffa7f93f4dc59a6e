//! Which client an annotated function uses.

use std::rc::Rc;
use std::sync::Arc;

use crate::Client;

/// What `client = ..` may evaluate to: a client, or something that points to or holds one.
#[diagnostic::on_unimplemented(
    message = "`client` has to be a `dlock::Client`, not `{Self}`",
    label = "not a `dlock::Client`",
    note = "a reference, an `Arc`, a `Box` or an `Rc` of a client will do as well"
)]
pub trait AsClient {
    /// The client itself.
    fn as_client(&self) -> &Client;
}

impl AsClient for Client {
    fn as_client(&self) -> &Client {
        self
    }
}

macro_rules! points_to_client {
    ($($pointer:ty,)*) => {
        $(
            impl<T: AsClient + ?Sized> AsClient for $pointer {
                fn as_client(&self) -> &Client {
                    (**self).as_client()
                }
            }
        )*
    };
}

points_to_client! { &T, &mut T, Arc<T>, Box<T>, Rc<T>, }
