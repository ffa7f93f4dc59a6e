//! dlock measured side by side with other locks; `scripts/bench` builds and runs it.

mod against;
mod gaps;
mod measure;
mod options;
mod readme;
mod results;
mod server;
mod system;
mod verdict;
mod workload;

use clap::Parser as _;

use crate::{
    options::Options,
    results::Results,
    server::Site,
    workload::{Lab, TITLES, sizing},
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = &arguments[..]
        && first == "child"
    {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime
            .expect("a runtime starts")
            .block_on(workload::run_child(rest));
        return;
    }
    let options = Options::parse();
    if let Some(other) = &options.against {
        let compared = against::run(other, &options.only, options.pairs.get(), &options.output);
        compared.unwrap_or_else(|error| {
            eprintln!("dlock-bench: {error}");
            std::process::exit(1);
        });
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime
        .expect("a runtime starts")
        .block_on(measure_all(&options));
}

async fn measure_all(options: &Options) {
    let lab = Lab {
        standalone: Site::standalone().await,
        cluster: Site::cluster().await,
        effort: options.effort(),
        repeats: options.repeats(),
        systems: options.systems.clone(),
    };
    let mut results = Results::default();
    workload::run(&lab, &options.only, &mut results).await;
    println!(
        "{}{}{}",
        results.to_markdown(&TITLES),
        sizing::rule(&results),
        readme::tables(&results)
    );
    if !options.smoke {
        println!("{}", verdict::to_markdown(&results));
    }
    let written = results.write_json(&options.output);
    written.unwrap_or_else(|error| panic!("{}: {error}", options.output.display()));
    if options.smoke {
        let missing = gaps::find(&results, &options.only, &options.systems);
        if !missing.is_empty() {
            eprintln!("dlock-bench: no figure for\n{}", missing.join("\n"));
            std::process::exit(1);
        }
    }
}
