//! Runs seeds, and shows those that fail. `scripts/sim` builds and calls it.

#[cfg(dlock_sim)]
mod cli;

#[cfg(dlock_sim)]
fn main() -> std::process::ExitCode {
    cli::main()
}

#[cfg(not(dlock_sim))]
fn main() -> std::process::ExitCode {
    eprintln!("build this with RUSTFLAGS='--cfg dlock_sim --cfg tokio_unstable', as scripts/sim does");
    std::process::ExitCode::FAILURE
}
