//! The program: arguments in, a command run, an exit code out.
#![forbid(unsafe_code)]

use ethbus::cli::args::{Command, HelpCommand, KernelCommand, ServeCommand};
use ethbus::cli::commands;
use ethbus::cli::commands::CommandError;
use ethbus::cli::wrong_use::{self, WRONG_USE};
use link::confine::keep_capabilities;
use link::namespace::Capability;
use live::containers::cni;
use live::control::request::Control;
use live::plane;
use say::{messages, say, with_causes};
use sim::explain::ExplainError;
use sim::files::output::{THREADS, WAITING};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use study::plot::PlotError;

/// How long a reader may take to read the last messages. Everything that was made is removed by then.
const FAREWELL: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    link::signals::ignore_file_limit();
    if std::env::args_os().len() == 1 && std::env::var_os(cni::COMMAND).is_some() {
        return plugin();
    }
    let cli = match wrong_use::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    WAITING.begin(link::pipe::open, without_reader);
    THREADS.call(keep_rights_of_files);
    let outcome = match &cli.command {
        None => commands::demo::run_demo(&cli.demo),
        Some(Command::Sim(args)) => commands::sim::sim(args),
        Some(Command::Sweep(args)) => commands::sweep::sweep(args),
        Some(Command::Plot(args)) => commands::plot::plot(args),
        Some(Command::Theory(args)) => commands::theory::theory(args),
        Some(Command::Retry(args)) => commands::retry::retry(args),
        Some(Command::Run(args)) => commands::run::run(args),
        Some(Command::Kernel(KernelCommand::Build(args))) => commands::run::build_kernel(args),
        Some(Command::Up(args)) => commands::up::up(args),
        Some(Command::Exec(args)) => commands::exec::exec(args),
        Some(Command::Serve(ServeCommand::Docker(args))) => commands::serve::docker(args),
        Some(Command::Serve(ServeCommand::Prometheus(args))) => commands::serve::prometheus(args),
        Some(Command::Stats(args)) => commands::stats::stats(args),
        Some(Command::Watch(args)) => commands::watch::watch(args),
        Some(Command::Capture(args)) => commands::capture::capture(args),
        Some(Command::Extcap(args)) => commands::extcap::extcap(args),
        Some(Command::Add(args)) => commands::add::add(args),
        Some(Command::Remove(args)) => commands::add::remove(args),
        Some(Command::Plug(args)) => commands::change::plug(args),
        Some(Command::Unplug(args)) => commands::change::unplug(args),
        Some(Command::Set(args)) => commands::change::set(args),
        Some(Command::Fault(args)) => commands::change::fault(args),
        Some(Command::Plan(args)) => commands::plan::plan(args),
        Some(Command::Plca(args)) => commands::plca::plca(args),
        Some(Command::Cut(args)) => commands::change::cut(args),
        Some(Command::Mend(args)) => commands::change::mend(args),
        Some(Command::Pause(args)) => commands::change::clock(args, &Control::Pause),
        Some(Command::Step(args)) => commands::change::clock(&args.lab, &Control::Step { bit_times: args.bits }),
        Some(Command::Resume(args)) => commands::change::clock(args, &Control::Resume),
        Some(Command::Down(args)) => commands::down::down(args),
        Some(Command::Send(args)) => commands::send::send(args),
        Some(Command::Receive(args)) => commands::receive::receive(args),
        Some(Command::List(args)) => commands::list::list(args),
        Some(Command::Init(args)) => commands::init::init(args),
        Some(Command::Doctor(args)) => commands::doctor::doctor(args),
        Some(Command::Help(HelpCommand::Completions(args))) => commands::help::completions(args),
        Some(Command::Help(HelpCommand::Man(args))) => commands::help::man(args),
        Some(Command::Check(args)) => commands::check::check(args),
        Some(Command::Replay(args)) => commands::replay::replay(args),
        Some(Command::Report(args)) => commands::report::report(args),
        Some(Command::Explain(args)) => commands::explain::explain(args),
        Some(Command::Convert(args)) => commands::convert::convert(args),
        Some(Command::Names(args)) => commands::names::names(args),
        Some(Command::Bus) => return plane::run().map_or_else(|error| failed(&error), |()| ExitCode::SUCCESS),
    };
    let code = outcome.unwrap_or_else(|error| told(&error));
    messages::finish(FAREWELL);
    code
}

fn told(error: &CommandError) -> ExitCode {
    // As in `ethbus list | head -1`: a reader that reads no further has what it wanted.
    if error.is_reader_gone() {
        return ExitCode::SUCCESS;
    }
    say(&error.told());
    code_of(error)
}

/// A container runtime calls the program as a plugin of CNI: without arguments, and a command in the environment.
fn plugin() -> ExitCode {
    let (answer, is_right) = cni::plugin::run(&mut std::io::stdin().lock());
    // A runtime that has gone reads no answer, and calls DEL or GC later.
    let _ = writeln!(std::io::stdout(), "{answer}");
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a command that failed ends with.
fn code_of(error: &CommandError) -> ExitCode {
    match error {
        error if error.is_interrupt() => ExitCode::from(commands::INTERRUPTED),
        // An invalid request exits with 2, as an invalid option does.
        CommandError::Plan(_)
        | CommandError::Scenario(_)
        | CommandError::Theory(_)
        | CommandError::Policy(_)
        | CommandError::Retry(_)
        | CommandError::Plot(PlotError::Option { .. } | PlotError::NoTable { .. })
        | CommandError::Explain(ExplainError::Name { .. } | ExplainError::Station { .. }) => ExitCode::from(WRONG_USE),
        _ => ExitCode::FAILURE,
    }
}

/// A thread that makes files keeps what root takes to write to a user's folder.
fn keep_rights_of_files() {
    if let Err(error) = keep_capabilities(&[Capability::DacOverride]) {
        say(&format!("ethbus: warning: a thread keeps its rights: {error}\n"));
    }
}

fn without_reader(pipe: &Path) {
    say(&format!("ethbus: waits for a program that reads {}\n", pipe.display()));
}

/// Prints an error with everything that led to it, each part once.
fn failed(error: &dyn Error) -> ExitCode {
    say(&format!("ethbus: {}\n", with_causes(error).trim_end()));
    ExitCode::FAILURE
}
