//! What thousands of waiters do to a server and to the holders beside them; see `scripts/storm --help`.

mod crowd;
mod findings;
mod holder;
mod line;
mod options;
mod sample;
mod site;
mod start;
mod waiter;

use std::process::ExitCode;

use dlock_tests::Worker;

use self::findings::Findings;
use self::options::Options;

/// Another process of this program.
fn process<const N: usize>(arguments: [&str; N]) -> Worker {
    let program = std::env::current_exe().expect("this program has a path");
    Worker::spawn(program, arguments)
}

/// Keeps a core busy until its parent ends it.
fn spin() -> ! {
    let mut n = 0_u64;
    loop {
        n = std::hint::black_box(n.wrapping_add(1));
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["hold", url, prefix, count, lease] => holder::run(url, prefix, count, lease).await,
        ["wait", url, prefix, first, count, of, pause] => {
            waiter::run(url, prefix, [first, count, of], pause).await;
        }
        ["line", url, prefix, tasks, rounds, how] => {
            line::take_turns(url, prefix, tasks, rounds, how).await;
        }
        ["spin"] => spin(),
        _ => return drive(&Options::read(&words)).await,
    }
    ExitCode::SUCCESS
}

/// Runs what the options say, and reports.
async fn drive(options: &Options) -> ExitCode {
    let _busy: Vec<Worker> = (0..options.busy).map(|_| process(["spin"])).collect();
    let mut findings = Findings::new(options);
    for kind in &options.sites {
        let site = site::Site::start(*kind).await;
        println!("== {site}");
        if options.wants("crowd") {
            crowd::run(&site, options, &mut findings).await;
        }
        if options.wants("start") {
            start::run(&site, options, &mut findings).await;
        }
        if options.wants("line") {
            line::run(&site, options, &mut findings).await;
        }
    }
    findings.report()
}
