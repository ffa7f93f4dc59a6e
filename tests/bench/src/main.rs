//! dlock measured side by side with other locks; `scripts/bench` builds and runs it.

mod measure;
mod results;
mod server;
mod system;
mod verdict;
mod workload;

use std::path::PathBuf;

use crate::{
    results::Results,
    server::Site,
    system::Kind,
    workload::{Lab, TITLES},
};

/// What was asked for on the command line.
struct Options {
    quick: bool,
    repeats: Option<usize>,
    only: Vec<String>,
    systems: Vec<Kind>,
    output: PathBuf,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            quick: false,
            repeats: None,
            only: Vec::new(),
            systems: Kind::ALL.into(),
            output: "results.json".into(),
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--repeats" => {
                    let repeats = value()?.parse();
                    options.repeats = Some(repeats.map_err(|_| "--repeats needs a number")?);
                }
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                "--systems" => {
                    let systems = value()?.split(',').map(str::parse);
                    options.systems = systems.collect::<Result<_, _>>()?;
                }
                "--output" => options.output = value()?.into(),
                other => return Err(format!("unknown argument: {other}")),
            }
        }
        Ok(options)
    }
}

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
    let options = Options::parse(&arguments).unwrap_or_else(|error| {
        eprintln!("dlock-bench: {error}");
        std::process::exit(2);
    });
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
        quick: options.quick,
        repeats: options.repeats.unwrap_or(if options.quick { 1 } else { 3 }),
        systems: options.systems.clone(),
    };
    let mut results = Results::default();
    workload::run(&lab, &options.only, &mut results).await;
    println!(
        "{}{}",
        results.to_markdown(&TITLES),
        verdict::to_markdown(&results)
    );
    let written = results.write_json(&options.output);
    written.unwrap_or_else(|error| panic!("{}: {error}", options.output.display()));
}
