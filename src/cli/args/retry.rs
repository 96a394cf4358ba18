//! Arguments of `ethbus retry`.

use super::Format;
use clap::{Args, Subcommand};
use sim::words::units::{duration, duration_or_zero};
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
    /// Let many clients come back at once to a service that was out
    #[command(after_help = "Example:\n  ethbus retry herd google-http full-jitter:100ms,20s")]
    Herd(HerdArgs),
    /// Print the tables of the literature beside what is right
    #[command(after_help = "Example:\n  ethbus retry published --format json")]
    Published(PublishedArgs),
}

/// Options of `retry POLICY…`.
#[derive(Args, Clone, Debug)]
pub struct RetryDelaysArgs {
    /// A preset, or a policy with its values
    ///
    /// Like `google-http`, `full-jitter:100ms,20s` or `polling/cap=5s/attempts=8`; see docs/retry.md.
    #[arg(value_name = "POLICY", required = true)]
    pub policies: Vec<String>,
    /// How many delays
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub count: u64,
    /// Seed of the samples
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Tell as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
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
    /// Tell as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

/// Options of `retry herd`.
#[derive(Args, Clone, Debug)]
pub struct HerdArgs {
    /// Policies, as for `ethbus retry`
    #[arg(value_name = "POLICY", required = true)]
    pub policies: Vec<String>,
    /// How many clients
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub clients: u32,
    /// How long the service is out
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub outage: Duration,
    /// Requests that the service serves
    #[arg(long, value_name = "RATE", default_value = "1000/s", value_parser = per_second)]
    pub capacity: f64,
    /// Requests that may wait [default: those of a second]
    ///
    /// One more is refused.
    #[arg(long, value_name = "N")]
    pub queue: Option<u32>,
    /// Clients ask first within this span
    ///
    /// Each at a random time; with 0s all at once.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration_or_zero)]
    pub spread: Duration,
    /// What each refusal asks clients to wait (Retry-After)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub retry_after: Option<Duration>,
    /// How many retries each client may make
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// How often each client may ask, like `2/s`
    ///
    /// Each refusal halves it.
    #[arg(long, value_name = "RATE", value_parser = per_second)]
    pub rate: Option<f64>,
    /// How long without a refusal until the rate doubles again
    ///
    /// Each time that it was too early, twice as long.
    #[arg(long, hide_short_help = true, value_name = "TIME", default_value = "1s", value_parser = duration, requires = "rate")]
    pub cooling_off: Duration,
    /// Clients with a priority, like `emergency:5:25`
    ///
    /// 5 % of them, whose delays are 25 % of the others'. May be given again.
    #[arg(long, hide_short_help = true, value_name = "NAME:PERCENT:PRIORITY", value_parser = class)]
    pub class: Vec<ClassArg>,
    /// How long is looked at [default: the outage and 10 minutes]
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Seed of every random draw
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Tell as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
    /// Draw the requests over time too.
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// A class of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassArg {
    /// Its name.
    pub name: String,
    /// How many of 100 clients.
    pub percent: u32,
    /// What its delays are of the others', in percent.
    pub priority: u32,
}

fn per_second(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).trim().parse::<f64>();
    match number {
        Ok(rate) if rate > 0.0 && rate <= 1e9 => Ok(rate),
        _ => Err("it is a number above 0 and up to 1e9, like `1000/s`".to_owned()),
    }
}

fn class(text: &str) -> Result<ClassArg, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |text: &str, most: u32| text.parse().ok().filter(|number| (1..=most).contains(number));
    if let [name, percent, priority] = parts[..]
        && !name.is_empty()
        && let (Some(percent), Some(priority)) = (number(percent, 100), number(priority, 10_000))
    {
        return Ok(ClassArg { name: name.to_owned(), percent, priority });
    }
    Err("a class has a name, 1 to 100 percent of the clients and a priority from 1 to 10000, like `emergency:5:25`"
        .to_owned())
}
