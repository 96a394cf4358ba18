//! The demonstration: stations that contend for one bus, a live line, and a table that adds up.
//!
//! Everything is held by descriptors only, so nothing is left when it ends, however it ends.

use super::{CommandError, INTERRUPTED, Outcome, draw_seed, interrupts, print_result};
use crate::args::DemoArgs;
use crate::bus::protocol::{Request, Setup, Told};
use crate::driver::ETHERTYPE;
use crate::driver::source::{Source, pace, run};
use crate::lab::{INTERFACE, Protocols, Segment};
use crate::plan::{Overrides, Plan};
use crate::results::Results;
use crate::scenario::Scenario;
use crate::supervisor::{DataPlane, say_port};
use crate::view::{live_line, table};
use crossbeam_channel::{Receiver, select, tick};
use link::namespace::{Namespace, capabilities_missing, enter_user_namespace};
use link::signals::Signal;
use link::station::StationSocket;
use medium::Octets;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the live line changes.
const LIVE: Duration = Duration::from_millis(250);

/// Runs the demonstration.
///
/// # Errors
/// What the user may not do, what the kernel refuses, or a result that cannot be written.
pub fn run_demo(args: &DemoArgs) -> Outcome {
    gain_privileges()?;
    let interrupts = interrupts()?;
    let overrides = Overrides { stations: Some(args.stations), rate: Some(args.rate), seed: args.seed, name: None };
    let plan = Plan::new(&Scenario::default(), None, &overrides, draw_seed()?)?;
    let segment = Segment::make(&plan, Protocols::Silent, None)?;
    let setup = Setup::new("", &plan.medium, segment.ports.clone());
    let mut plane = DataPlane::start(&setup, &segment)?;
    let sources = sources(args, &plan, &segment)?;
    plane.restart()?;
    let (mut sources, interrupted) = watch(args, &plan, &mut plane, sources, &interrupts)?;
    let results = plane.stop()?;
    let seen = sources.iter_mut().map(|source| source.seen().unwrap_or(0)).sum();
    let refused = sources.iter().map(|source| source.sent().refused).sum();
    print_result(args.format, &results, |results| told(results, seen, refused))?;
    Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// As root as it is; otherwise in a user namespace of its own, entered before there are threads.
fn gain_privileges() -> Result<(), CommandError> {
    let missing =
        capabilities_missing().map_err(|source| CommandError::System { what: "read own capabilities", source })?;
    if missing.is_empty() {
        return Ok(());
    }
    enter_user_namespace().map_err(|source| CommandError::NoUserNamespace { missing, source })
}

/// A raw-socket driver in each station, for frames to the next one.
fn sources(args: &DemoArgs, plan: &Plan, segment: &Segment) -> Result<Vec<Source>, CommandError> {
    let (size, count) = (Octets::new(args.frame_size), plan.stations.len());
    let source = |(index, namespace): (usize, &Namespace)| {
        let station = &plan.stations[index];
        let socket = StationSocket::open(namespace, INTERFACE, ETHERTYPE)
            .map_err(|source| CommandError::Station { station: station.name.clone(), source })?;
        let pace = pace(args.load, plan.medium.rate, size, count, plan.medium.seed, index);
        let next = &plan.stations[(index + 1) % count];
        Ok(Source::new(socket, next.mac, size, index as u32, pace, None))
    };
    segment.stations.iter().enumerate().map(source).collect()
}

/// Lets the sources run for as long as was asked, and shows the bus meanwhile.
fn watch(
    args: &DemoArgs,
    plan: &Plan,
    plane: &mut DataPlane,
    mut sources: Vec<Source>,
    interrupts: &Receiver<Signal>,
) -> Result<(Vec<Source>, bool), CommandError> {
    let live = std::io::stderr().is_terminal();
    if !live {
        eprintln!("{}", intent(args, plan));
    }
    let go_on = Arc::new(AtomicBool::new(true));
    let driver = std::thread::spawn({
        let go_on = go_on.clone();
        move || {
            run(&mut sources, || go_on.load(Ordering::Relaxed));
            sources
        }
    });
    let (begin, ticks, told) = (Instant::now(), tick(LIVE), plane.told().clone());
    let mut interrupted = false;
    while !interrupted && begin.elapsed() < args.duration {
        let left = args.duration.saturating_sub(begin.elapsed());
        select! {
            recv(ticks) -> _ => if live { plane.ask(Request::Report)? },
            recv(interrupts) -> _ => interrupted = true,
            recv(told) -> told => match told {
                Ok(Told::Results(results)) if live => show(&live_line(&results, begin.elapsed(), args.duration)),
                Ok(Told::Port { station, state }) => say_port(&station, state),
                Ok(_) => {}
                Err(_) => return Err(plane.died().into()),
            },
            default(left) => {}
        }
    }
    if live {
        show("");
    }
    go_on.store(false, Ordering::Relaxed);
    let sources = driver.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok((sources, interrupted))
}

fn intent(args: &DemoArgs, plan: &Plan) -> String {
    format!(
        "ethbus: {} stations on a bus at {} for {:?}, seed {}",
        plan.stations.len(),
        plan.medium.rate,
        args.duration,
        plan.medium.seed
    )
}

/// Writes over the live line. A terminal that is gone is not worth an error.
fn show(line: &str) {
    let _ = write!(std::io::stderr(), "\r\x1b[K{line}").and_then(|()| std::io::stderr().flush());
}

fn told(results: &Results, seen: u64, refused: u64) -> String {
    let mut text = table(results);
    text += &format!("  the stations' own kernels saw {seen} of {} frames delivered", results.emulator.deliveries);
    text += &if refused > 0 { format!(", and refused to send {refused}\n\n") } else { "\n\n".to_owned() };
    let again = format!("ethbus --stations {} --seed {}", results.stations.len(), results.seed);
    text + &format!(
        "Next: {again}            the same draws again\n      \
         ethbus --stations 16 --frame-size 64 --load 0.5\n      \
         sudo ethbus up                             a lab that stays, with IP addresses; then, in another terminal:\n      \
         sudo ethbus exec st1 -- ping 10.77.0.2\n      \
         ethbus --help\n"
    )
}
