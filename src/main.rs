//! The program: arguments in, a command run, an exit code out.
#![forbid(unsafe_code)]

use clap::Parser;
use ethbus::cli::args::{BenchCommand, Cli, Command};
use ethbus::cli::commands;
use ethbus::cli::commands::CommandError;
use ethbus::live::lab::MakeError;
use ethbus::live::plane;
use ethbus::show::{messages, say, with_causes};
use ethbus::study::plot::PlotError;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

/// How long whoever watches may take to read the last words. Whatever was made is gone by then.
const FAREWELL: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        None => commands::demo::run_demo(&cli.demo),
        Some(Command::Sim(args)) => commands::sim::sim(args),
        Some(Command::Sweep(args)) => commands::sweep::sweep(args),
        Some(Command::Merge(args)) => commands::sweep::merge(args),
        Some(Command::Plot(args)) => commands::plot::plot(args),
        Some(Command::Validate(args)) => commands::validate::validate(args),
        Some(Command::Bench(BenchCommand::Live(args))) => commands::bench::live(args),
        Some(Command::Up(args)) => commands::up::up(args),
        Some(Command::Exec(args)) => commands::exec::exec(args),
        Some(Command::Stats(args)) => commands::stats::stats(args),
        Some(Command::Attach(args)) => commands::change::attach(args),
        Some(Command::Detach(args)) => commands::change::detach(args),
        Some(Command::Fault(args)) => commands::change::fault(args),
        Some(Command::Cut(args)) => commands::change::cut(args),
        Some(Command::Mend(args)) => commands::change::mend(args),
        Some(Command::Down(args)) => commands::down::down(args),
        Some(Command::Send(args)) => commands::send::send(args),
        Some(Command::Receive(args)) => commands::receive::receive(args),
        Some(Command::Replay(args)) => commands::replay::replay(args),
        Some(Command::Explain(args)) => commands::explain::explain(args),
        Some(Command::Bus) => return plane::run().map_or_else(|error| failed(&error), |()| ExitCode::SUCCESS),
    };
    let code = outcome.unwrap_or_else(|error| {
        let code = failed(&error);
        // What was asked for makes no sense: as clap ends for options.
        match error {
            CommandError::Plan(_) | CommandError::Scenario(_) | CommandError::Plot(PlotError::Option { .. }) => {
                ExitCode::from(2)
            }
            CommandError::Make(MakeError::Interrupted) => ExitCode::from(commands::INTERRUPTED),
            _ => code,
        }
    });
    messages::finish(FAREWELL);
    code
}

/// Prints an error with everything that led to it, each part once.
fn failed(error: &dyn Error) -> ExitCode {
    say(&format!("ethbus: {}\n", with_causes(error).trim_end()));
    ExitCode::FAILURE
}
