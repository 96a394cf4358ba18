//! `ethbus watch`, and `--watch` of the commands that run in virtual time: the bus drawn as it is.

use super::{CommandError, Outcome, interrupts};
use crate::cli::args::WatchArgs;
use crate::watch::feeder::Feeder;
use crate::watch::keys::Press;
use crate::watch::player::Player;
use crate::watch::screened::is_there;
use crate::watch::terminal::{self, Bus, Titles};
use crossbeam_channel::Receiver;
use link::signals::Signal;
use medium::{BitInstant, StationId};
use say::say;
use sim::files::event_log::{EventLogReader, Header};
use sim::files::json_lines::ReadError;
use sim::run::view::View;
use sim::scenario::plan::PlanError;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shows a lab that is up, or a trace.
///
/// # Errors
/// No such lab or trace; no terminal.
pub fn watch(args: &WatchArgs) -> Outcome {
    let interrupts = interrupts()?;
    match args.lab.as_deref().map(Path::new).filter(|path| path.is_file()) {
        Some(path) => log(path, args, &interrupts),
        None if args.at.is_some() => {
            let what = match &args.lab {
                Some(name) => format!("there is no trace `{name}`, and a lab that is up has no past to go to"),
                None => "a lab that is up has no past to go to: name a trace".to_owned(),
            };
            Err(PlanError::option("--at", what).into())
        }
        None => super::watch_live::watch(args.lab.as_deref(), &interrupts),
    }
}

/// Shows a trace, at first as it was at the instant that the user wants.
fn log(path: &Path, args: &WatchArgs, interrupts: &Receiver<Signal>) -> Outcome {
    let mut log = EventLogReader::open(path)?;
    log.needs_events("`ethbus watch`")?;
    let header = log.header().clone();
    let title = format!("{} {}", header.name, path.display()).trim().to_owned();
    let bus = Virtual { at: args.at.map(BitInstant::new), interrupts };
    match shown(&header, &title, bus, move |mut feeder, _| log.tell(&mut feeder))?? {
        Err(ReadError::NotWhole { why }) => say(&format!("ethbus: {why}\n")),
        told => told?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Has `run` make events beside the view of them, until both have ended. `run` must end when it is asked to.
///
/// # Errors
/// No terminal, or one that cannot be drawn on.
pub fn beside<T: Send>(
    header: &Header,
    title: &str,
    interrupts: &Receiver<Signal>,
    run: impl FnOnce(Feeder, &AtomicBool) -> T + Send,
) -> Result<T, CommandError> {
    shown(header, title, Virtual { at: None, interrupts }, run)
}

fn shown<T: Send>(
    header: &Header,
    title: &str,
    mut bus: Virtual<'_>,
    run: impl FnOnce(Feeder, &AtomicBool) -> T + Send,
) -> Result<T, CommandError> {
    if !is_there() {
        return Err(CommandError::NoTerminal);
    }
    let (feeder, source) = Feeder::new();
    let stop = AtomicBool::new(false);
    let titles = Titles { title: title.to_owned(), names: header.stations.clone() };
    let player = Player::new(View::new(Arc::new(header.config())).with(header.stations.len()), source);
    std::thread::scope(|scope| {
        let stop = &stop;
        let run = scope.spawn(move || run(feeder, stop));
        let shown = terminal::watch(player, &titles, &mut bus);
        stop.store(true, Ordering::Relaxed);
        let made = run.join().expect("no thread panics: a panic ends the process");
        shown.map(|()| made).map_err(|source| CommandError::System { what: "draw on the terminal", source })
    })
}

/// A run in virtual time: there is nothing but its events.
struct Virtual<'a> {
    at: Option<BitInstant>,
    interrupts: &'a Receiver<Signal>,
}

impl Bus for Virtual<'_> {
    fn health(&mut self) -> Vec<String> {
        vec!["virtual time: the run waits for whoever looks".to_owned()]
    }

    fn act(&mut self, _: Press, _: StationId, _: &View) -> Option<String> {
        None
    }

    fn is_live(&self) -> bool {
        false
    }

    fn first(&self) -> Option<BitInstant> {
        self.at
    }

    fn is_over(&mut self) -> bool {
        !self.interrupts.is_empty()
    }
}
