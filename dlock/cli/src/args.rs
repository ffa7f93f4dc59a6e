//! What may be said on the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::hidden::parse_duration;

/// The variable of the environment that says where the locks live.
pub(crate) const URL: &str = "DLOCK_URL";
/// What a command that runs under a lock finds its name in.
pub(crate) const KEY: &str = "DLOCK_KEY";

// Names of parameters would look like code to a linter of documentation.
const URL_HELP: &str = "\
    Where the locks live: redis://[user:password@]host[:port][,host:port...][/database], a cluster is \
    recognised; rediss:// for TLS, with ?tls_ca_file=FILE for authorities of your own and \
    &tls_cert_file=FILE&tls_key_file=FILE for servers that ask who comes. Nodes of a cluster may send dlock, \
    and the password, to any host unless &trusted_hosts=10.0.*,db.example says which. Three or more (--url \
    again, or spaces in between) are a quorum: each lock is on most of them. In the environment, \
    other users of the machine cannot see the password";

const ABOUT: &str = "Distributed locks on Redis Cluster: run commands under them, look into them.";

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    force-release: there was no such hold
  64   the command line makes no sense
  69   no server could serve the request in time
  70   anything else went wrong
  75   run: another holder kept the lock for longer than --wait
  76   run: the lease was lost, or --max-hold was over, before the command had ended
  77   wrong password, or a right is missing
  78   a name or a setting was refused
  126  run: the command cannot be executed
  127  run: there is no such command
  Otherwise `run` passes on the exit code of the command, 128+n if signal n ended it.";

const EXAMPLES: &str = "\
Examples:
  dlock run --key nightly --wait 0 -- ./backup.sh     one backup at a time, or none
  dlock run --key report --mode read -- ./report.sh   many readers, no writer meanwhile
  dlock run --key order:42 --mutex -- ./ship.sh       a lock that programs in other languages take, too
  dlock inspect order:42 --watch                      who holds it, who waits
  dlock list 'order:*' --json | jq .                  times in milliseconds; tokens are strings
  dlock top                                           what is contended now";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "dlock", version, about = ABOUT, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What all commands understand.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Common {
    /// Where the locks live
    #[arg(
        long,
        env = URL,
        help = URL_HELP,
        hide_env_values = true,
        global = true,
        value_delimiter = ' '
    )]
    pub(crate) url: Vec<String>,
    /// What the keys of the locks start with, as in the services that use them
    #[arg(long, env = "DLOCK_PREFIX", global = true, default_value = "dlock")]
    pub(crate) prefix: String,
    /// Hosts that a cluster may send dlock, and the password, to: 10.0.*,db.example
    #[arg(
        long,
        env = "DLOCK_TRUSTED_HOSTS",
        global = true,
        value_delimiter = ',',
        value_name = "HOSTS"
    )]
    pub(crate) trusted_hosts: Vec<String>,
    /// Authorities of your own for rediss://, a PEM file
    #[arg(long, env = "DLOCK_TLS_CA_FILE", global = true, value_name = "FILE")]
    pub(crate) tls_ca_file: Option<PathBuf>,
    /// This client's certificate for rediss://, a PEM file
    #[arg(long, env = "DLOCK_TLS_CERT_FILE", global = true, value_name = "FILE")]
    pub(crate) tls_cert_file: Option<PathBuf>,
    /// The key of that certificate, a PEM file
    #[arg(long, env = "DLOCK_TLS_KEY_FILE", global = true, value_name = "FILE")]
    pub(crate) tls_key_file: Option<PathBuf>,
    /// How long to try again while servers fail
    #[arg(long, value_name = "TIME", value_parser = parse_duration, global = true, default_value = "10s")]
    pub(crate) retry_for: Duration,
    /// Print JSON: results to stdout, what happens during `run` and errors to stderr, one object a
    /// line
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command while holding a lock
    Run(Run),
    /// Show who holds a lock and who waits for it
    Inspect(Inspect),
    /// List the locks that are held or waited for
    ///
    /// Walks through all keys of all masters: fine for looking into a problem, too much for
    /// anything done often. Mutexes are found that have a fencing token, or for which a client of dlock waits or waited
    /// a minute ago at most; others are strings like any: see `inspect --mutex`.
    List {
        /// Only names like this: * stands for anything, ? for one character
        #[arg(default_value = "*")]
        pattern: String,
    },
    /// Watch the locks: contention, holders, waiters, rates
    Top(Top),
    /// Take a hold away from its holder
    ForceRelease(ForceRelease),
    /// Print completions for a shell
    ///
    /// For example: `dlock completions bash > /etc/bash_completion.d/dlock`
    Completions {
        /// The shell
        shell: Shell,
    },
}

// One line for each paragraph: clap wraps them.
const RUN_HELP: &str = "\
    The lock is taken first, held and renewed while the command runs, and given back afterwards. The \
    command finds the fencing token in DLOCK_TOKEN and the lock's name in DLOCK_KEY; hand the token \
    on to whatever the lock protects. (With --mutex there is none, unless --fenced asks for one.) It does not find DLOCK_URL there, which may hold a password, unless \
    --keep-url says so.\n\n\
    When the lease is lost, or cannot be renewed so that less than --grace of it is left, or --max-hold \
    is nearly over, the command gets SIGTERM, and SIGKILL after --grace. If that happens before it was \
    started, it is not.\n\n\
    SIGINT, SIGTERM, SIGHUP and SIGQUIT to dlock are passed on to the command, and the lock is given \
    back when it has ended; after SIGTERM it has --grace for that. Unless the standard input is a terminal, the command gets a process \
    group of its own: signals reach all its processes, and a command that was told to end has ended when all of them have. In a \
    terminal Ctrl-C reaches all of them, and other signals the command alone. SIGKILL to \
    dlock ends renewals but not the command: let the token fence what must not be touched then.";

/// `dlock run`.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of a command line are independent of each other"
)]
#[command(after_long_help = format!("{RUN_HELP}\n\n{EXIT_CODES}"))]
pub(crate) struct Run {
    /// The name of the lock
    #[arg(long, short)]
    pub(crate) key: String,
    /// read: beside other readers; write: alone
    #[arg(long, short, default_value = "write")]
    pub(crate) mode: Mode,
    /// A mutex: the string of that name on the server, without --prefix, which programs in other languages take with
    /// SET name token NX PX, too
    #[arg(long, conflicts_with = "mode")]
    pub(crate) mutex: bool,
    /// A mutex with a fencing token, among those who hold it through dlock
    #[arg(long, requires = "mutex")]
    pub(crate) fenced: bool,
    /// How long to wait for the lock, such as 500ms, 10s, 5m; a bare number counts seconds, 0 does not wait
    /// [default: for ever]
    #[arg(long, short, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) wait: Option<Duration>,
    /// How long others stay out when this machine dies; renewed at a third of it
    #[arg(long, short, value_name = "TIME", value_parser = parse_duration, default_value = "30s")]
    pub(crate) lease: Duration,
    /// How long the command may take to end after SIGTERM, before it gets SIGKILL; at most a third of the lease
    /// counts when that is lost
    #[arg(long, short, value_name = "TIME", value_parser = parse_duration, default_value = "5s")]
    pub(crate) grace: Duration,
    /// How long the command may run: it gets SIGTERM --grace before. Others get the lock then, whether it has ended
    /// or not [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) max_hold: Option<Duration>,
    /// How long the lock stays held at least, from when it was taken: others do not run a short command again
    /// because they start it a little later. dlock does not wait for that [default: until the command ends]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) min_hold: Option<Duration>,
    /// Leave the URL, with its password, in the environment of the command
    #[arg(long)]
    pub(crate) keep_url: bool,
    /// Do not say that it waits, and for which holder
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// How to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Shared.
    Read,
    /// Alone.
    Write,
}

/// `dlock inspect`.
#[derive(Debug, clap::Args)]
pub(crate) struct Inspect {
    /// The name of the lock, such as order:42
    pub(crate) key: String,
    /// Only the mutex: the string of that name, which programs in other languages take, too. Without this, a read/write
    /// lock and, if it is in use, the mutex of that name
    #[arg(long)]
    pub(crate) mutex: bool,
    /// Look again and again; with --json one line for each look
    #[arg(long, short)]
    pub(crate) watch: bool,
    /// How often to look
    #[arg(long, short, value_name = "TIME", value_parser = parse_duration, default_value = "1s", requires = "watch")]
    pub(crate) interval: Duration,
    /// Look so many times
    #[arg(long, short = 'n', value_name = "COUNT", requires = "watch")]
    pub(crate) count: Option<usize>,
}

/// `dlock top`.
#[derive(Debug, clap::Args)]
pub(crate) struct Top {
    /// Only names like this
    #[arg(default_value = "*")]
    pub(crate) pattern: String,
    /// How often to look
    #[arg(long, short, value_name = "TIME", value_parser = parse_duration, default_value = "1s")]
    pub(crate) interval: Duration,
    /// Print so many tables instead of taking the screen over
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub(crate) count: Option<usize>,
}

/// `dlock force-release`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
    The holder learns of it at its next renewal, a third of its lease later at the latest; until then \
    it works on, while another client may hold the lock. Stop it first, or be sure that it is gone.")]
pub(crate) struct ForceRelease {
    /// The name of the lock
    pub(crate) key: String,
    /// A mutex: the string of that name. Holds of other programs are not taken away
    #[arg(long)]
    pub(crate) mutex: bool,
    /// The id of the hold, as `dlock inspect` shows it
    #[arg(long, value_name = "ID")]
    pub(crate) hold: String,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}
