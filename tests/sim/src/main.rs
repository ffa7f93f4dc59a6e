//! Runs seeds, and shows those that fail. `scripts/sim` builds and calls it.

#[cfg(dlock_sim)]
mod cli;

/// A run allocates little, often and in one thread: a fifth of its time goes to the system's allocator otherwise.
#[cfg(dlock_sim)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(dlock_sim)]
fn main() -> std::process::ExitCode {
    cli::main()
}

#[cfg(not(dlock_sim))]
fn main() -> std::process::ExitCode {
    eprintln!(
        "build this with RUSTFLAGS='--cfg dlock_sim --cfg tokio_unstable', as scripts/sim does"
    );
    std::process::ExitCode::FAILURE
}
