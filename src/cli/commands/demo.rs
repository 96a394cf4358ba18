//! The demonstration: stations that contend for one bus, a live line, and a table that adds up.
//!
//! Everything is held by descriptors only, so nothing is left at its end, after SIGKILL too.

use super::{
    CommandError, INTERRUPTED, NOT_TRUSTED, Outcome, draw_seed, interrupts, making_until, print_result,
    refuse_one_file_for_two, rights,
};
use crate::cli::args::{DemoArgs, LevelArg};
use crate::cli::traces;
use crate::cli::windows::{self, named};
use crossbeam_channel::Receiver;
use link::signals::Signal;
use link::station::StationSocket;
use live::driver::ETHERTYPE;
use live::driver::offering::{Look, feed};
use live::driver::scenario::{Offering, Offers, Prepared, make_room};
use live::lab::owner::Owner;
use live::lab::{self, FanOutMade, INTERFACE, Protocols, Segment};
use live::plane::protocol::{Outputs, Setup};
use live::supervisor::DataPlane;
use say::program::{as_root, program};
use say::terminal::columns;
use say::verdict::{against, incomplete, verdict};
use say::{live_line, say, show, table};
use sim::explain::choice::{Ended, ended};
use sim::figures::results::Results;
use sim::files::event_log::EventLogReader;
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan, PlanError, StationPlan};
use sim::traffic::Arrivals;
use sim::words::units::{group, many};
use std::fs::File;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often the live line changes.
const LIVE: Duration = Duration::from_millis(250);
/// What is run where no option says otherwise.
const USUAL: [(&str, &str); 3] = [("traffic", "saturated"), ("frame-size", "512"), ("duration", "10s")];

/// Runs the demonstration.
///
/// # Errors
/// What the user may not do, what the kernel refuses, or a result that cannot be written.
pub fn run_demo(args: &DemoArgs) -> Outcome {
    let capture = named(&args.windows);
    refuse_one_file_for_two(&args.traces.named().chain([capture]).collect::<Vec<_>>())?;
    // The frames of a stack follow from its data.
    let stack = matches!(
        args.run.get("traffic").map(str::parse),
        Some(Ok(Arrivals::Tcp(_) | Arrivals::Ping(_) | Arrivals::Udp(_)))
    );
    let is_usual = |long: &str| args.run.get(long).is_none() && !(stack && long == "frame-size");
    let usual = USUAL.into_iter().filter(|(long, _)| is_usual(long));
    let overrides = usual.fold(Overrides::of(args.run.given())?, |all, (long, value)| all.with(long, value));
    let mut plan = Plan::new(&Scenario::default(), None, &overrides, draw_seed()?)?;
    plan.require_real_time()?;
    make_room(&mut plan);
    // As root as it is; otherwise in a user namespace of its own.
    rights::gain("ethbus")?;
    lab::keep_least(plan.stations.len(), plan.watches())?;
    let interrupts = interrupts()?;
    let segment = Segment::make(&plan, Protocols::Silent, None, making_until(&interrupts, plan.stations.len()))?;
    let (traces, trace_files) = traces::handed_over(&args.traces)?;
    let windows = windows::open(&args.windows, &args.traces.paths().collect::<Vec<_>>())?;
    let (windows, window_files, trailing) = windows.hand_over();
    let outputs = Outputs { traces, windows, keep: None };
    let files: Vec<File> = trace_files.into_iter().chain(window_files).collect();
    let setup = Setup {
        pace: plan.pace,
        outputs,
        ..Setup::new("", &plan.medium, segment.ports.clone(), segment.fan_out.indices())
    };
    let mut plane = DataPlane::start(&setup, &segment, &files)?;
    // The data plane has them: what reads a pipe sees its end when that ends.
    drop(files);
    let mut ears = ears(&plan, &segment)?;
    let prepared = Prepared::new(&plan, &segment.stations, Offering::Scenario)?;
    if let Some((_, why)) = prepared.left_out.first() {
        let what = format!("{why}; the demonstration offers frames of its own, `saturated` or `poisson:0.4`");
        return Err(PlanError::option("--traffic", what).into());
    }
    plane.restart()?;
    let mut offers = prepared.begin(&plan)?;
    let interrupted = watch(&plan, &intent(&plan, &segment.fan_out), &mut plane, &mut offers, &interrupts)?;
    let offered = offers.stop();
    let (mut results, _) = plane.stop()?;
    let rotated = windows::finish(trailing);
    let against = against(&results, args.trust.tolerance);
    if let Some(emulator) = &mut results.emulator {
        emulator.verdict = Some(verdict(&against));
    }
    let seen = ears.iter_mut().filter_map(|ear| ear.statistics().ok()).map(|all| all.received + all.dropped).sum();
    print_result(args.written.format, &results, |results| told(args, results, seen, offered.refused))?;
    if interrupted {
        say(&format!("ethbus: interrupted: the figures are of the time until then, not of {:?}\n", plan.run.duration));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    rotated?;
    if !incomplete(&results).is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let is_refused = args.trust.strict && !against.is_empty();
    Ok(if is_refused { ExitCode::from(NOT_TRUSTED) } else { ExitCode::SUCCESS })
}

/// A socket in each station for the frames that its kernel takes, which counts them unread.
fn ears(plan: &Plan, segment: &Segment) -> Result<Vec<StationSocket>, CommandError> {
    let ear = |(namespace, station): (_, &StationPlan)| {
        StationSocket::open(namespace, INTERFACE, ETHERTYPE)
            .map_err(|source| CommandError::Station { station: station.name.clone(), source })
    };
    segment.stations.iter().zip(&plan.stations).map(ear).collect()
}

/// Lets the stations offer frames for as long as was asked, and shows the bus meanwhile; tells whether it was interrupted.
fn watch(
    plan: &Plan,
    intent: &str,
    plane: &mut DataPlane,
    offers: &mut Offers,
    interrupts: &Receiver<Signal>,
) -> Result<bool, CommandError> {
    let live = std::io::stderr().is_terminal();
    if !live {
        say(intent);
    }
    let (begin, duration) = (Instant::now(), plan.run.duration);
    let mut line = |results: &Results| show(&live_line(results, begin.elapsed(), duration, columns()));
    let look = Look { every: live.then_some(LIVE), show: &mut line };
    let interrupted = feed(offers, plane, duration, interrupts, look)?;
    show("");
    Ok(interrupted)
}

fn intent(plan: &Plan, fan_out: &FanOutMade) -> String {
    format!(
        "ethbus: {} on a bus at {} for {:?}, {fan_out}, seed {}\n",
        many(plan.stations.len() as u64, "station"),
        plan.medium.rate,
        plan.run.duration,
        plan.medium.seed
    )
}

fn told(args: &DemoArgs, results: &Results, seen: u64, refused: u64) -> String {
    let mut text = table(results);
    let deliveries = results.emulator.as_ref().map_or(0, |emulator| emulator.timing.deliveries);
    text += &format!("  the stations' own kernels saw {} of {} delivered", group(seen), many(deliveries, "frame"));
    text += &if refused > 0 { format!(", and refused to send {refused}\n\n") } else { "\n\n".to_owned() };
    text + &next(args, results)
}

/// The next commands, ready to be pasted.
fn next(args: &DemoArgs, results: &Results) -> String {
    let given = args.run.given().filter(|(long, _)| *long != "seed");
    let options: String = given.map(|(long, value)| format!(" --{long} {value}")).collect();
    // Who needed a user namespace here will have one for a lab too.
    let ethbus = if Owner::own().is_ok_and(|owner| owner == Owner::Root) { as_root() } else { program() };
    let with_events = args.traces.0.iter().find(|(_, level)| *level != LevelArg::Inputs);
    let most = with_events.and_then(|(path, _)| Some((path, most_collided(path)?)));
    let explain = most.map_or_else(String::new, |(path, (frame, collisions))| {
        format!(
            "  {} explain {} --frame {frame}\n    the life of a frame that collided {}\n",
            program(),
            path.display(),
            many(collisions.into(), "time")
        )
    });
    format!(
        "Next:\n{explain}  {ethbus}{options} --seed {}\n    the same draws again\n  \
         {ethbus} --stations 16 --frame-size 64 --traffic poisson:0.5\n  \
         {ethbus} up\n    a lab that stays, with IP addresses; then, in another terminal:\n  \
         {ethbus} exec st1 ping st2\n  {ethbus} --help\n",
        results.seed
    )
}

/// The frame of a trace that got through after most collisions, as `explain` takes it, and how many.
fn most_collided(path: &Path) -> Option<(String, u32)> {
    let mut log = EventLogReader::open(path).ok()?;
    let mut most: Option<Ended> = None;
    let seen = ended(&mut log, |one| {
        if one.mac_delay_bt.is_some() && most.as_ref().is_none_or(|most| most.collisions < one.collisions) {
            most = Some(one);
        }
        true
    });
    // For a trace that is not whole, the part that was read is explained.
    let _ = seen;
    most.filter(|most| most.collisions > 0).map(|most| (most.frame, most.collisions))
}
