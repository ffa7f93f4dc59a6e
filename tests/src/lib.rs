//! Servers and helpers for the tests of dlock.
