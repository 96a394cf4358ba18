//! `ethbus up --virtual`: a lab of kernels in virtual time that stays up. It is served as a live bus is; only the plane is
//! another one.

use super::super::run::{
    FileOptions, Observers, PATIENCE, VirtualError, folder_of, observers, refuse_hosts, unreadable,
};
use super::super::sim::DEFAULT_SEED;
use super::super::{CommandError, Outcome, interrupts, rights};
use super::greeting::greeting_of_kernels;
use super::schedule::Schedule;
use super::seats::Seats;
use super::serve::Serving;
use super::{Ended, addresses, begin, conclude, finish, refuse_files, take_record};
use crate::cli::args::UpArgs;
use crossbeam_channel::Receiver;
use link::confine::Inherited;
use link::signals::Signal;
use live::control::server::{self, Requests};
use live::discards::Streams;
use live::driver::scenario::Prepared;
use live::lab::inventory::Inventory;
use live::lab::links::Links;
use live::plane::protocol::Port;
use live::plane::writer::captures::Captures;
use live::supervisor::DataPlane;
use live::virt::lab::Wishes;
use live::virt::{machine, plane};
use live::watchers::Watchers;
use say::{say, with_causes};
use sim::files::event_log::Header;
use sim::files::programs::Programs;
use sim::scenario::file::file_text;
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::windows::{Known, Trailing};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options of settings that are a live bus's alone.
const LIVE: [&str; 4] = ["capacity", "time-scale", "latency", "duration"];
/// The options of settings that a trace has beside the scenario file.
const IN_A_TRACE: [&str; 1] = ["seed"];

/// Brings a virtual lab up.
pub fn up(args: &UpArgs, inherited: Option<Inherited>) -> Outcome {
    refuse(args)?;
    let scenario = args.file.scenario.as_deref().map(file_text).transpose()?;
    let folder = args.file.scenario.as_deref().map(folder_of).transpose()?;
    let plan = plan(args, scenario.as_deref(), folder.as_deref())?;
    let kernel = kernel::find_kernel(args.kernels.0.kernel.as_deref()).map_err(VirtualError::from)?;
    rights::end_left_behind(&plan.name)?;
    let interrupts = interrupts()?;
    let mut record = take_record(&plan.name)?;
    record.be_virtual();
    let files = files(args, &plan, scenario.map(|text| (text, folder)), &kernel);
    // The outputs may have been named by a descriptor, and are open now.
    inherited.into_iter().for_each(Inherited::close);
    let kept = files.and_then(|files| keep(&plan, args, files, kernel, &mut record, &interrupts));
    conclude(args, record, kept)
}

/// Refuses options of a live bus.
fn refuse(args: &UpArgs) -> Result<(), CommandError> {
    if let Some(long) = LIVE.into_iter().find(|long| args.over.get(long).is_some()) {
        let what = "it is of a lab in real time: leave it out, or leave out --virtual".to_owned();
        return Err(PlanError::option(&format!("--{long}"), what).into());
    }
    let mut others = args.over.given().map(|(long, _)| long).filter(|long| !IN_A_TRACE.contains(long));
    let other = others.next().map(|long| format!("write `--{long}` into the scenario file"));
    let other = other.or_else(|| args.file.scenario.is_none().then(|| "name a scenario file".to_owned()));
    if let Some(remedy) = other.filter(|_| args.traces.have_inputs()) {
        let what = format!("with inputs, the trace of a virtual lab has its scenario file and its seed: {remedy}");
        return Err(PlanError::option("--events-level", what).into());
    }
    Ok(refuse_files(args)?)
}

fn plan(args: &UpArgs, scenario: Option<&str>, folder: Option<&Path>) -> Result<Plan, CommandError> {
    let overrides = Overrides::of(args.over.given())?;
    let plan = match (args.file.scenario.as_deref(), scenario) {
        (Some(path), Some(text)) => Plan::of_text(path, text.to_owned(), &overrides, DEFAULT_SEED)?,
        _ => Plan::read(None, &overrides, DEFAULT_SEED)?,
    };
    let mut plan = plan.of_programs()?;
    folder.into_iter().for_each(|folder| plan.count_paths_from(folder));
    refuse_hosts(&plan)?;
    plan.warnings.iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    Ok(plan)
}

type Files = (Observers, Vec<Trailing>);

/// A scenario file's text and folder.
type Written = (String, Option<PathBuf>);

fn files(args: &UpArgs, plan: &Plan, scenario: Option<Written>, kernel: &Path) -> Result<Files, CommandError> {
    let programs = scenario.filter(|_| args.traces.have_inputs()).map(|(scenario, folder)| {
        let machine = machine::of(plan, kernel).map_err(unreadable)?;
        Ok::<_, CommandError>(Programs { scenario, folder, until_ns: None, stays_up: true, machine })
    });
    let options = FileOptions { scenario: args.file.scenario.as_deref(), traces: &args.traces, windows: &args.windows };
    observers(plan, &options, programs.transpose()?)
}

/// Starts the kernels and serves the lab until its end.
fn keep(
    plan: &Plan,
    args: &UpArgs,
    (files, trailing): Files,
    kernel: PathBuf,
    record: &mut Inventory,
    interrupts: &Receiver<Signal>,
) -> Result<Ended, CommandError> {
    let greeting = greeting_of_kernels(plan, args.in_background);
    let (plane, requests) = begin(args, plan, &greeting, record, |record| start(plan, args, files, kernel, record))?;
    let serving = Serving {
        plan,
        plane,
        record,
        links: Links::default(),
        schedule: Schedule::of_pauses(plan),
        stations: Seats::new(plan),
        tolerance: args.trust.tolerance,
        format: args.written.format,
        offers: Prepared::default().begin(plan)?,
        asked: VecDeque::new(),
        watchers: Watchers::new(Header::new(&plan.name, &plan.medium, &plan.station_names())),
        discards: Streams::new(&plan.station_names()),
        planned: None,
        is_virtual: true,
    };
    finish(serving.until_its_end(&requests, interrupts)?, trailing)
}

/// Starts the plane, and notes that the lab is up.
fn start(
    plan: &Plan,
    args: &UpArgs,
    files: Observers,
    kernel: PathBuf,
    record: &mut Inventory,
) -> Result<(DataPlane, Requests), CommandError> {
    let macs: Vec<[u8; 6]> = plan.stations.iter().map(|station| station.mac.octets()).collect();
    let header = Header::new(&plan.name, &plan.medium, &plan.station_names());
    let known = Arc::new(Known { header, macs: macs.clone(), epoch: None, containers: Vec::new() });
    let captures = Captures::start(known).map_err(|error| CommandError::Captures(Box::new(error)))?;
    let (own, in_foreground, args) = (plan.clone(), !args.in_background, &args.kernels.0);
    let patience = args.patience.unwrap_or(PATIENCE);
    let (pace, consoles) = (args.pace, args.console.consoles.clone());
    let plane = DataPlane::within(patience, move |ends| {
        let interrupted = ends.ending.clone();
        let wishes = Wishes { kernel, until: None, pace, interventions: Vec::new(), patience, consoles, interrupted };
        plane::run(&own, &wishes, (files, captures), ends, in_foreground).map_err(|error| with_causes(&error))
    })?;
    let system = |source| CommandError::System { what: "listen for requests", source };
    let requests = server::listen(&plan.name).map_err(system)?;
    record.be_reached_at(addresses(plan))?;
    let ports: Vec<Port> =
        plan.stations.iter().zip(macs).map(|(station, mac)| Port::of_kernel(&station.name, mac)).collect();
    record.up(&ports, plan.medium.rate.get())?;
    Ok((plane, requests))
}
