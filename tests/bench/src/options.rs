//! What was asked for on the command line.

use std::path::PathBuf;

use crate::system::Kind;

/// The command line, read.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) repeats: Option<usize>,
    pub(crate) only: Vec<String>,
    pub(crate) systems: Vec<Kind>,
    pub(crate) output: PathBuf,
    /// Another build of this program to compare with.
    pub(crate) against: Option<PathBuf>,
    pub(crate) pairs: usize,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            quick: false,
            repeats: None,
            only: Vec::new(),
            systems: Kind::ALL.into(),
            output: "results.json".into(),
            against: None,
            pairs: 10,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("{argument} needs a value"))
            };
            let number = |text: &String| {
                let number = text.parse().ok().filter(|number| *number > 0);
                number.ok_or_else(|| format!("{argument} needs a number"))
            };
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--repeats" => options.repeats = Some(number(value()?)?),
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                "--systems" => {
                    let systems = value()?.split(',').map(str::parse);
                    options.systems = systems.collect::<Result<_, _>>()?;
                }
                "--output" => options.output = value()?.into(),
                "--against" => options.against = Some(value()?.into()),
                "--pairs" => options.pairs = number(value()?)?,
                other => return Err(format!("unknown argument: {other}")),
            }
        }
        Ok(options)
    }
}
