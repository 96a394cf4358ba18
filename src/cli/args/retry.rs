//! Arguments of `ethbus retry`.

use super::{PoliciesArg, Seeded, SetArg, Written};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use retry_lab::service::keys::{HERD, KEYS, Key};
use sim::words::units::duration;
use std::path::PathBuf;
use std::time::Duration;

/// Options of `retry`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct RetryArgs {
    /// Something else than delays.
    #[command(subcommand)]
    pub command: Option<RetryCommand>,
    /// The delays of these policies.
    #[command(flatten)]
    pub delays: RetryDelaysArgs,
}

/// What to do with policies but to show their delays.
#[derive(Clone, Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one value in a run of the program")]
pub enum RetryCommand {
    /// Run a service under load: overload, budgets, breakers, recovery
    #[command(after_help = "Example:\n  ethbus retry service --dip 60s,20s,10% constant:1s/attempts=4")]
    Service(ServiceArgs),
    /// Find the shortest dip after which a service does not recover
    #[command(after_help = "Example:\n  ethbus retry tip --dip 60s,20s,10% constant:1s/attempts=4")]
    Tip(TipArgs),
    /// Let many clients come back at once to a service that was out
    #[command(after_help = "Example:\n  ethbus retry herd google-http full-jitter:100ms,20s")]
    Herd(HerdArgs),
    /// Print tables of the literature beside the policies' own values
    #[command(after_help = "Example:\n  ethbus retry published --format json")]
    Published(PublishedArgs),
}

/// Options of `retry POLICY…`.
#[derive(Args, Clone, Debug)]
pub struct RetryDelaysArgs {
    /// Whose.
    #[command(flatten)]
    pub of: PoliciesArg,
    /// How many delays
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub count: u64,
    /// Count the attempts within this time too
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub within: Option<Duration>,
    /// Seed of every draw.
    #[command(flatten)]
    pub seeded: Seeded,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
    /// Draw the delays over the failures too
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// A picture of the result.
#[derive(Args, Clone, Debug)]
pub struct PictureArgs {
    /// Draw the result too, as FILE.svg or FILE.png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// A logarithmic y axis in the picture
    #[arg(long, requires = "plot", hide_short_help = true)]
    pub log_y: bool,
}

/// Options of `retry published`.
#[derive(Args, Clone, Debug)]
pub struct PublishedArgs {
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// What `--set` of `retry service` takes.
const SET: &str = "Values of a key, a column each: `clients=10,100`\n\nA value with a comma in it is in quotes: \
    `--set 'budget=none,\"bucket:10,10%\"'`. May be given again.";

/// Options of `retry service`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("set", |set| set.help("Values of a key, a column each: `clients=10,100`").long_help(SET)))]
pub struct ServiceArgs {
    /// The service.
    #[command(flatten)]
    pub what: ServiceWhat,
    /// Columns of the result.
    #[command(flatten)]
    pub grid: SetArg,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
    /// Draw load and goodput over time too.
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// Options of `retry tip`.
#[derive(Args, Clone, Debug)]
pub struct TipArgs {
    /// The service.
    #[command(flatten)]
    pub what: ServiceWhat,
    /// How many seeds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// A service: a file, policies, and the options from the table of keys, each as it was written.
#[derive(Clone, Debug, Default)]
pub struct ServiceWhat {
    /// The file with settings.
    pub file: Option<PathBuf>,
    /// The policies.
    pub policies: Vec<String>,
    /// The options that were given.
    pub options: Vec<(&'static str, String)>,
}

const WHAT: &str = "POLICY";

fn argument(key: &'static Key) -> Arg {
    let more = match (key.default, key.more) {
        ("", "") => String::new(),
        ("", more) => format!("\n\n{more}"),
        (default, "") => format!("\n\n[default: {default}]"),
        (default, more) => format!("\n\n{more}\n\n[default: {default}]"),
    };
    let short = match key.default {
        "" | "none" => key.help.to_owned(),
        default => format!("{} [default: {default}]", key.help),
    };
    let argument = Arg::new(key.name).long(key.name).value_name(key.value).help(short);
    let argument = argument.long_help(format!("{}{more}", key.help)).hide_short_help(!key.in_short);
    argument.action(if key.is_list { ArgAction::Append } else { ArgAction::Set })
}

fn with_keys(command: Command, keys: &'static [Key]) -> Command {
    keys.iter().fold(command, |command, key| command.arg(argument(key)))
}

/// The options of these keys that were given.
fn given(matches: &ArgMatches, keys: &'static [Key]) -> Vec<(&'static str, String)> {
    let values = |key: &'static Key| {
        let texts = matches.get_many::<String>(key.name).into_iter().flatten();
        texts.map(|text| (key.name, text.clone()))
    };
    keys.iter().flat_map(values).collect()
}

/// A herd: the options from its table of keys, each as it was written.
#[derive(Clone, Debug, Default)]
pub struct HerdWhat(pub Vec<(&'static str, String)>);

impl Args for HerdWhat {
    fn augment_args(command: Command) -> Command {
        with_keys(command, HERD)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for HerdWhat {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(HerdWhat(given(matches, HERD)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ServiceWhat {
    fn augment_args(command: Command) -> Command {
        let what = Arg::new(WHAT).value_name(WHAT).num_args(0..).help("Policies, and a file of settings, FILE.toml");
        let what = what.long_help(
            "Policies as for `ethbus retry`, and a file of settings, whose name ends in .toml.\n\nPolicies take the place of those of the file, and options that of its settings.",
        );
        with_keys(command.arg(what), KEYS)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ServiceWhat {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let all: Vec<&String> = matches.get_many(WHAT).into_iter().flatten().collect();
        let (files, policies): (Vec<&String>, Vec<&String>) = all.into_iter().partition(|it| it.ends_with(".toml"));
        if let [_, second, ..] = files[..] {
            let what = format!("`{second}`: there is one file of settings at most\n");
            return Err(Error::raw(clap::error::ErrorKind::TooManyValues, what));
        }
        Ok(ServiceWhat {
            file: files.first().map(PathBuf::from),
            policies: policies.into_iter().cloned().collect(),
            options: given(matches, KEYS),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Options of `retry herd`.
#[derive(Args, Clone, Debug)]
pub struct HerdArgs {
    /// Whose.
    #[command(flatten)]
    pub of: PoliciesArg,
    /// The herd.
    #[command(flatten)]
    pub what: HerdWhat,
    /// Seed of every draw.
    #[command(flatten)]
    pub seeded: Seeded,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
    /// Draw the requests over time too.
    #[command(flatten)]
    pub picture: PictureArgs,
}
