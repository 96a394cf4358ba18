//! `ethbus up`: brings a lab up, keeps it up until interrupted or taken down, and leaves nothing behind.

mod background;
mod buses;
mod greeting;
mod kernels;
mod planned;
mod returns;
mod schedule;
mod seats;
mod serve;

use super::serve as prometheus;
use super::{
    CommandError, NOT_TRUSTED, Outcome, draw_seed, interrupts, making_until, print_result, refuse_one_file_for_two,
    rights,
};
use crate::cli::args::{Format, UpArgs};
use crate::cli::traces;
use crate::cli::windows::{self, named};
use background::Background;
use crossbeam_channel::Receiver;
use greeting::greeting;
use link::confine::Inherited;
use link::signals::Signal;
use live::control::Farewell;
use live::control::answer::Answer;
use live::control::server::{self, Requests};
use live::copies;
use live::discards::Streams;
use live::driver::scenario::{Offering, Prepared};
use live::keeper::{self, Keeper};
use live::lab::inventory::Inventory;
use live::lab::links::Links;
use live::lab::{self, FanOutMade, Protocols, Segment, carrier, existing, xdp};
use live::plane::messages::MessageSetup;
use live::plane::protocol::{KeepSetup, Outputs, Request, Setup};
use live::scrape;
use live::supervisor::DataPlane;
use live::watchers::Watchers;
use planned::PlannedTable;
use say::verdict::{against, incomplete, verdict};
use say::{messages, say, table, with_causes};
use schedule::Schedule;
use seats::Seats;
use serve::Serving;
use sim::figures::results::Results;
use sim::files::event_log::Header;
use sim::files::json_lines::WriteError;
use sim::files::keep::Triggers;
use sim::files::output::{is_stdout, is_stdout_taken};
use sim::scenario::file::Scenario;
use sim::scenario::plan::bridged::bus_lab_name;
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{DEFAULT_NAME, Overrides, Plan, PlanError, ReadError, StationPlan};
use sim::windows::Trailing;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use toml::Spanned;

/// Brings a lab up.
///
/// # Errors
/// A missing permission, a scenario that is wrong, a lab name in use, or a refusal of the kernel. The parts that were
/// made are removed again.
pub fn up(args: &UpArgs) -> Outcome {
    if args.background && !args.in_background {
        if let Some(bridged) = buses::of(args) {
            return buses::start(args, &bridged);
        }
        let told = (args.written.format == Format::Json).then(|| name(args));
        return background::start(&[], told.as_deref());
    }
    if args.in_background { bring_up(&background::with_absolute_paths(args)) } else { bring_up(args) }
}

/// Brings a lab up in this process.
fn bring_up(args: &UpArgs) -> Outcome {
    // In the background it continues without the descriptors that it was started with: another process may wait for
    // their other ends.
    let inherited = args.in_background.then(Inherited::look).transpose();
    let inherited = inherited.map_err(|source| CommandError::System { what: "look at own descriptors", source })?;
    if args.is_virtual {
        return kernels::up(args, inherited);
    }
    let (planned, mut plan) = plan(args)?;
    // Before the lab is made, because another program may have the port.
    let listener = args.metrics.as_deref().map(|text| prometheus::port("--metrics", text)).transpose()?;
    let named = rights::gain_for_lab(&plan.name)?;
    // Only root's lab reaches namespaces of others.
    if named {
        existing::adapt(&mut plan)?;
    }
    let interrupts = interrupts()?;
    let mut record = take_record(&plan.name)?;
    if !named {
        record.be_without_names()?;
    }
    let outputs = outputs(args, &plan);
    // The outputs may have been named by a descriptor, and are open now.
    if let Some(inherited) = inherited {
        inherited.close();
    }
    let kept = outputs.and_then(|outputs| keep(&plan, planned, args, outputs, listener, &mut record, &interrupts));
    conclude(args, record, kept)
}

/// Takes the inventory of a lab that is about to be made, and removes what a killed one of its name had left.
fn take_record(name: &str) -> Result<Inventory, CommandError> {
    let mut record = Inventory::take(name)?;
    remove_if_panicking(name);
    if record.claims() > 0 {
        say(&format!("ethbus: removing what a killed lab `{name}` had left behind\n"));
        record.clear()?;
    }
    record.remove_log()?;
    Ok(record)
}

/// Removes a lab that has ended, and tells how it ended.
fn conclude(args: &UpArgs, record: Inventory, kept: Result<Ended, CommandError>) -> Outcome {
    let removed = if kept.is_ok() { record.remove_everything() } else { record.remove_failed() };
    let Ended { answer, says, results, whole, failed, trusted } = kept?;
    removed?;
    let distrusted = args.trust.strict && !trusted;
    let missed = results.as_ref().is_some_and(Results::misses_plan);
    // The answer tells `down` that everything is removed.
    if let Some(answer) = answer {
        // In the foreground `up` itself ends with the code for that.
        let distrusted = distrusted && args.in_background;
        answer.give(&Farewell { says, results: results.clone(), failed: failed || !whole, distrusted });
    }
    if let Some(results) = results.filter(|_| args.written.format == Format::Json && !args.in_background) {
        print_result(Format::Json, &results, table)?;
    }
    Ok(match whole && !failed && !missed {
        true if distrusted => ExitCode::from(NOT_TRUSTED),
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// How a lab ended after a request to end.
#[derive(Debug)]
struct Ended {
    /// The place of the answer, if a client asked for the end.
    answer: Option<Answer>,
    /// What went wrong.
    says: String,
    /// The last results.
    results: Option<Results>,
    /// Every file that was wanted is whole.
    whole: bool,
    /// The data plane did not end by itself, so it was killed; or a station's kernel was.
    failed: bool,
    /// The machine kept up, within the tolerance.
    trusted: bool,
}

/// The lab's name. The supervisor reports a scenario that cannot be read.
fn name(args: &UpArgs) -> String {
    let scenario = args.file.scenario.as_deref().and_then(|path| Scenario::read(path).ok());
    let written = scenario.and_then(|(scenario, _)| scenario.name.map(Spanned::into_inner));
    let name = args.over.get("name").map(str::to_owned).or(written).unwrap_or_else(|| DEFAULT_NAME.to_owned());
    args.bus.as_ref().map_or_else(|| name.clone(), |bus| bus_lab_name(&name, bus))
}

fn plan(args: &UpArgs) -> Result<(Option<PlannedTable>, Plan), CommandError> {
    let mut overrides = Overrides::of(args.over.given())?.lending(args.lend.clone());
    overrides.even_default_route = args.even_default_route;
    let seed = draw_seed()?;
    let (planned, plan) = match &args.plan {
        Some(path) => PlannedTable::read(path, args, seed).map(|(planned, plan)| (Some(planned), plan))?,
        None => (None, read(args, &overrides, seed)?),
    };
    let plan = plan.in_real_time()?.with_room();
    refuse_files(args)?;
    plan.warnings.iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    Ok((planned, plan))
}

/// The scenario, or one bus of it.
fn read(args: &UpArgs, overrides: &Overrides, seed: u64) -> Result<Plan, ReadError> {
    let scenario = args.file.scenario.as_deref();
    match &args.bus {
        Some(bus) => Plan::read_bus(scenario, bus, overrides, seed),
        None => Plan::read(scenario, overrides, seed),
    }
}

fn refuse_files(args: &UpArgs) -> Result<(), PlanError> {
    let capture = named(&args.windows);
    let others = [capture, ("--keep", args.keep.as_deref())];
    let outputs: Vec<_> = args.traces.named().chain(others).collect();
    refuse_one_file_for_two(&outputs)?;
    let on_stdout = outputs.into_iter().find(|(_, path)| path.is_some_and(is_stdout));
    match on_stdout {
        Some((option, _)) if args.background => {
            let what = "a lab in the background has no standard output: name a file".to_owned();
            Err(PlanError::option(option, what))
        }
        Some(("--keep", _)) => {
            let what = "a file begins at each trigger: write its name".to_owned();
            Err(PlanError::option("--keep", what))
        }
        Some(_) | None => Ok(()),
    }
}

/// A panic ends the process at once, so what the lab made is removed from the hook.
fn remove_if_panicking(name: &str) {
    let (name, hook) = (name.to_owned(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        hook(panic);
        if let Err(error) = Inventory::remove_own(&name) {
            say(&format!("ethbus: {error}; `ethbus down {name}` will try again\n"));
        }
    }));
}

/// What the data plane will write.
struct Written {
    outputs: Outputs,
    files: Vec<File>,
    trailing: Vec<Trailing>,
    /// Takes the last seconds.
    keeper: Option<Arc<Keeper>>,
}

/// Makes the files that the data plane will write.
fn outputs(args: &UpArgs, plan: &Plan) -> Result<Written, CommandError> {
    let others: Vec<&Path> = args.traces.paths().collect();
    let (traces, trace_files) = traces::handed_over(&args.traces)?;
    let windows = windows::open(&args.windows, &others)?;
    let (windows, window_files, trailing) = windows.hand_over();
    let (keep, outbox, keeper) = keeping(args, plan)?;
    let outputs = Outputs { traces, windows, keep };
    let files = trace_files.into_iter().chain(window_files).chain(outbox).collect();
    Ok(Written { outputs, files, trailing, keeper })
}

/// What keeps the last seconds: its setup, the file that the data plane writes, and what takes it from there.
type Keeping = (Option<KeepSetup>, Option<File>, Option<Arc<Keeper>>);

fn keeping(args: &UpArgs, plan: &Plan) -> Result<Keeping, CommandError> {
    let Some(path) = &args.keep else { return Ok((None, None, None)) };
    let on = args.on.as_deref().map(str::parse::<Triggers>).transpose();
    let on = on.map_err(|what| PlanError::option("--on", what))?.unwrap_or_default();
    let outbox = keeper::outbox(path).map_err(WriteError::from)?;
    let system = |source| CommandError::System { what: "keep the last seconds", source };
    let own = outbox.try_clone().map_err(system)?;
    let keeper = Keeper::start(path.clone(), own, plan.pace.rate(plan.medium.rate)).map_err(system)?;
    let span_ns = u64::try_from(args.keep_for.as_nanos()).unwrap_or(u64::MAX);
    let setup = KeepSetup { place: path.display().to_string(), span_ns, on };
    Ok((Some(setup), Some(outbox), Some(Arc::new(keeper))))
}

/// Makes the lab and serves it until its end.
fn keep(
    plan: &Plan,
    planned: Option<PlannedTable>,
    args: &UpArgs,
    Written { outputs, files, trailing, keeper }: Written,
    listener: Option<TcpListener>,
    record: &mut Inventory,
    interrupts: &Receiver<Signal>,
) -> Result<Ended, CommandError> {
    lab::keep_least(plan.medium.topology.stations(), plan.watches())?;
    let protocols = protocols(planned.as_ref());
    let segment = Segment::make(plan, protocols, Some(record), making_until(interrupts, plan.stations.len()))?;
    let by_kernel = matches!(segment.fan_out, FanOutMade::Kernel(_));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let too_much = copies::warning(plan, by_kernel, processors);
    too_much.iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    let greeting = greeting(plan, &segment.fan_out, record.has_names(), args.in_background, planned.is_none());
    let started = begin(args, plan, &greeting, record, |record| {
        let mut started = start(plan, planned.as_ref(), outputs, files, segment, record)?;
        keeper.into_iter().for_each(|keeper| started.plane.keep_with(keeper));
        Ok(started)
    })?;
    let Started { plane, requests, links, prepared, schedule } = started;
    for (station, why) in &prepared.left_out {
        say(&format!("ethbus: warning: {station} offers nothing of what the scenario says: {why}\n"));
    }
    listener.map_or(Ok(()), |listener| serve_metrics(listener, plan.name.clone()))?;
    let serving = Serving {
        plan,
        plane,
        record,
        links,
        schedule: schedule.with_end(args.over.get("duration").map(|_| plan.run.duration), &plan.medium),
        stations: Seats::new(plan),
        planned,
        tolerance: args.trust.tolerance,
        format: args.written.format,
        offers: prepared.begin(plan)?,
        asked: VecDeque::new(),
        watchers: Watchers::new(Header::new(&plan.name, &plan.medium, &plan.station_names())),
        discards: Streams::new(&plan.station_names()),
        is_virtual: false,
    };
    finish(serving.until_its_end(&requests, interrupts)?, trailing)
}

/// Has `start` make a lab, and tells the user that it is up.
fn begin<T>(
    args: &UpArgs,
    plan: &Plan,
    greeting: &str,
    record: &mut Inventory,
    start: impl FnOnce(&mut Inventory) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let background = args.in_background.then(|| Background::begin(&plan.name)).transpose()?;
    let greeting = if args.written.format == Format::Table { greeting } else { "" };
    let started = start(record).and_then(|started| {
        // A lab that its user does not know of is useless: a full disk here is an error.
        match &background {
            Some(background) => background.leave(greeting)?,
            None => {
                std::io::stderr().write_all(greeting.as_bytes()).map_err(CommandError::Output)?;
                if args.written.format == Format::Json && !is_stdout_taken() {
                    super::list::print_lab(&plan.name)?;
                }
            }
        }
        Ok(started)
    });
    if let (Err(_), Some(background)) = (&started, background) {
        background.give_up();
        // The user has already read it.
        record.remove_log()?;
    }
    let started = started?;
    // The lab must not stop because its terminal does.
    messages::never_wait().map_err(|source| CommandError::System { what: "start a thread", source })?;
    Ok(started)
}

/// Ends the files for other tools.
fn finish(mut ended: Ended, trailing: Vec<Trailing>) -> Result<Ended, CommandError> {
    if let Err(error) = windows::finish(trailing) {
        say(&format!("ethbus: {}\n", with_causes(&error)));
        ended.whole = false;
    }
    Ok(ended)
}

fn serve_metrics(listener: TcpListener, name: String) -> Result<(), CommandError> {
    say(&prometheus::served(&listener));
    let system = |source| CommandError::System { what: "start a thread", source };
    scrape::serve(listener, move || vec![name.clone()]).map_err(system)
}

/// Bounds count on the messages of the table alone: kernels with IPv6 send frames by themselves.
fn protocols(planned: Option<&PlannedTable>) -> Protocols {
    if planned.is_some() { Protocols::Ipv4 } else { Protocols::Ip }
}

/// What a lab needs that is up.
struct Started {
    plane: DataPlane,
    requests: Requests,
    links: Links,
    prepared: Prepared,
    schedule: Schedule,
}

/// Starts the data plane, and notes that the lab is up.
fn start(
    plan: &Plan,
    planned: Option<&PlannedTable>,
    outputs: Outputs,
    files: Vec<File>,
    segment: Segment,
    record: &mut Inventory,
) -> Result<Started, CommandError> {
    let setup = Setup {
        outputs,
        messages: planned.map(|planned| MessageSetup::of(planned.table())),
        pace: plan.pace,
        filter: plan.filter,
        ..Setup::new(&plan.name, &plan.medium, segment.ports.clone(), segment.fan_out.indices())
    };
    let mut plane = DataPlane::start(&setup, &segment, &files)?;
    // The data plane has them: what reads a pipe sees its end when that ends.
    drop(files);
    for (station, fault) in plan.faults() {
        plane
            .ask(Request::Deed(medium::Deed::Fault { station: medium::StationId::new(station), fault: Some(fault) }))?;
    }
    let mut schedule = Schedule::new(plan);
    schedule.act_at_once(&mut plane)?;
    let system = |source| CommandError::System { what: "listen for requests", source };
    let requests = server::listen(&plan.name).map_err(system)?;
    carrier::follow(plan, &segment)?;
    xdp::follow(plan, &segment)?;
    record.be_reached_at(addresses(plan))?;
    record.up(&segment.ports, plan.medium.rate.get())?;
    let prepared = Prepared::new(plan, &segment.stations, planned.map_or(Offering::Scenario, PlannedTable::offering))?;
    // The sockets live in the data plane now, and the namespaces have names: the segment's own are let go of.
    let links = Links::new(plan, record, &segment.ports);
    Ok(Started { plane, requests, links, prepared, schedule })
}

/// The addresses that each station has from the lab; one that was there before keeps its own.
fn addresses(plan: &Plan) -> Vec<(String, Vec<String>)> {
    plan.stations.iter().map(|station| (station.name.clone(), addresses_of(station))).collect()
}

/// The addresses that a station has from the lab.
fn addresses_of(station: &StationPlan) -> Vec<String> {
    match station.host {
        Host::Interface(_) | Host::Bridge(Some(_)) => Vec::new(),
        Host::Veth | Host::Existing(_) | Host::Tap | Host::Bridge(None) | Host::Vxlan(_) => {
            station.addresses.iter().map(|network| network.address.to_string()).collect()
        }
    }
}

/// Stops the data plane, and tells the last results.
fn end(
    plane: DataPlane,
    planned: Option<PlannedTable>,
    answer: Option<Answer>,
    record: &Inventory,
    links: &Links,
    tolerance: f64,
    format: Format,
) -> Result<Ended, CommandError> {
    let keeper = plane.keeper();
    let stopped = plane.stop();
    keeper.iter().for_each(|keeper| keeper.finish());
    let (results, wrong) = match (stopped, answer.is_some()) {
        (Ok((mut results, wrong)), _) => {
            keeper.iter().for_each(|keeper| keeper.add_to(&mut results));
            planned.into_iter().for_each(|mut planned| planned.judge(&mut results));
            (with_links(results, links, record, tolerance), wrong)
        }
        (Err(error), false) => return Err(error.into()),
        // The client that asked for the end gets this error, once the lab has been removed in spite of it.
        (Err(error), true) => {
            let says = format!("ethbus: {}; it was killed, and there are no last results\n", with_causes(&error));
            say(&says);
            return Ok(Ended { answer, says, results: None, whole: false, failed: true, trusted: false });
        }
    };
    if format == Format::Table {
        say(&format!("\n{}", table(&results)));
    }
    let names: Vec<&str> = incomplete(&results).iter().map(|file| file.file.as_str()).collect();
    let whole = names.is_empty();
    let mut says = if whole { String::new() } else { format!("ethbus: not whole: {}\n", names.join(", ")) };
    says.extend(wrong.iter().map(|wrong| format!("ethbus: {wrong}\n")));
    say(&says);
    let trusted = against(&results, tolerance).is_empty();
    Ok(Ended { answer, says, results: Some(results), whole, failed: wrong.is_some(), trusted })
}

/// Adds what the kernel counted on the stations' links.
fn with_links(mut results: Results, links: &Links, record: &Inventory, tolerance: f64) -> Results {
    let too_long: u64 = results.stations.iter().map(|station| station.counter("too_long")).sum();
    let verdict = verdict(&against(&results, tolerance));
    if let Some(emulator) = &mut results.emulator {
        let suspicious = emulator.arrivals.checksums_repaired
            + emulator.arrivals.checksums_left
            + emulator.arrivals.oversized
            + too_long
            > 0;
        emulator.links = links.look(record, suspicious);
        emulator.verdict = Some(verdict);
    }
    results
}
