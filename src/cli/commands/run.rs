//! `ethbus run`: a lab of kernels in virtual time, until its programs have ended; and `ethbus kernel`.

use super::sim::{DEFAULT_SEED, open_windows};
use super::{CommandError, INTERRUPTED, Outcome, interrupts_of_a_run, print_result, refuse_one_file_for_two};
use crate::cli::args::{Format, KernelBuildArgs, ReplayArgs, RunArgs, TraceArgs, WindowArgs};
use crate::cli::traces;
use crate::cli::windows::{self, named};
use live::virt::again::{AgainError, Against, interventions};
use live::virt::lab::{KernelEnd, LabError, Outcome as Ran, Wishes, run as run_lab};
use live::virt::{build, machine};
use say::{say, show, table};
use sim::files::event_log::{EventLog, EventLogReader, Header};
use sim::files::programs::Programs;
use sim::run::observer::Both;
use sim::scenario::file::file_text;
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::windows::{Trailing, WindowsBeside};
use sim::words::units::many;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a virtual lab, or its kernel, is none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VirtualError {
    /// There is no kernel for it.
    #[error(transparent)]
    Kernel(#[from] kernel::KernelError),
    /// The kernel cannot be built.
    #[error(transparent)]
    Build(#[from] build::BuildError),
    /// The lab failed.
    #[error(transparent)]
    Lab(Box<LabError<AgainError>>),
    /// The trace has no programs.
    #[error(
        "{} has no programs, only what they sent: `ethbus run --events FILE --events-level inputs` writes traces with \
         programs; leave out --programs",
        trace.display()
    )]
    NoPrograms {
        /// The trace.
        trace: PathBuf,
    },
}

/// Runs a lab of kernels until its programs have ended.
///
/// # Errors
/// A scenario that makes no virtual lab, no kernel, a station that does not boot, a program that never yields, files that
/// cannot be written.
pub fn run(args: &RunArgs) -> Outcome {
    let path = args.file.scenario.as_deref().expect("clap requires it");
    let scenario = file_text(path)?;
    let folder = folder_of(path)?;
    let plan = plan(path, scenario.clone(), Some(&folder), &Overrides::of(args.over.given())?)?;
    let until = args.over.get("duration").map(|_| plan.run.duration);
    refuse(&plan, args, until)?;
    let kernel = kernel::find_kernel(args.kernels.kernel.as_deref()).map_err(VirtualError::from)?;
    let interrupted = note_interrupts()?;
    let programs = args.traces.have_inputs().then(|| {
        let machine = machine::of(&plan, &kernel).map_err(unreadable)?;
        let until_ns = until.map(|until| until.as_nanos() as u64);
        Ok::<_, CommandError>(Programs { scenario, folder: Some(folder), until_ns, stays_up: false, machine })
    });
    let files = FileOptions { scenario: Some(path), traces: &args.traces, windows: &args.windows };
    let (observers, trailing) = observers(&plan, &files, programs.transpose()?)?;
    let wishes = Wishes {
        kernel,
        until,
        pace: args.kernels.pace,
        interventions: Vec::new(),
        patience: args.kernels.patience.unwrap_or(PATIENCE),
        consoles: args.kernels.console.consoles.clone(),
        interrupted,
    };
    let shown = Shown { timing: args.timing.timing, format: args.written.format };
    let ran = run_and_show(&plan, &wishes, Against::new(observers, None), trailing, &shown)?;
    Ok(match ran.ended.iter().any(KernelEnd::is_failure) {
        _ if ran.interrupted => ExitCode::from(INTERRUPTED),
        true => ExitCode::FAILURE,
        false => ExitCode::from(ran.results.code_of_programs(UNENDED)),
    })
}

/// Runs the programs of a traced lab again, and compares all that they send with the trace.
///
/// # Errors
/// As [`run`]; a trace without programs, and one whose programs do something else here.
pub fn again(args: &ReplayArgs, trace: EventLogReader<BufReader<File>>) -> Outcome {
    let header = trace.header().clone();
    let Some(programs) = header.programs else {
        return Err(VirtualError::NoPrograms { trace: args.input.trace.clone() }.into());
    };
    let folder = programs.folder.as_deref();
    let mut plan = plan(&args.input.trace, programs.scenario, folder, &Overrides::default())?;
    plan.medium.seed = header.configuration.seed();
    let (interventions, end) =
        if programs.stays_up { self::interventions(&args.input.trace, &plan)? } else { (Vec::new(), None) };
    let recorded = Path::new(&programs.machine.kernel);
    let is_there = recorded.is_file();
    if !is_there {
        let instead = "is not there: another one runs, unless it is put there";
        say(&format!("ethbus: warning: the recorded kernel {} {instead}\n", recorded.display()));
    }
    let kernel = kernel::find_kernel(Some(recorded).filter(|_| is_there)).map_err(VirtualError::from)?;
    let now = machine::of(&plan, &kernel).map_err(unreadable)?;
    let differences = programs.machine.differences(&now);
    differences.iter().for_each(|one| say(&format!("ethbus: warning: {one}: the run may differ\n")));
    let interrupted = note_interrupts()?;
    let header = Header::new(&plan.name, &plan.medium, &plan.station_names());
    let log = args.events.as_deref().map(|path| EventLog::create(path, &[&args.input.trace], &header)).transpose()?;
    let files = log.map(|log| log.without_digest().on_a_thread()).into_iter().collect();
    let others: Vec<&Path> = std::iter::once(&args.input.trace).chain(&args.events).map(PathBuf::as_path).collect();
    let (windows, trailing) = open_windows(&plan, &header, windows::open(&args.windows, &others)?)?;
    let wishes = Wishes {
        kernel,
        until: programs.until_ns.map(Duration::from_nanos).or(end),
        pace: None,
        interventions,
        patience: PATIENCE,
        consoles: args.console.consoles.clone(),
        interrupted,
    };
    let shown = Shown { timing: false, format: args.written.format };
    let observers = Against::new(Both(files, windows), Some(trace));
    match run_and_show(&plan, &wishes, observers, trailing, &shown) {
        Ok(ran) if ran.interrupted => return Ok(ExitCode::from(INTERRUPTED)),
        Ok(_) => say("ethbus: the programs sent the same as in the recorded run, at the same instants\n"),
        Err(CommandError::Virtual(VirtualError::Lab(error)))
            if matches!(*error, LabError::Observer(AgainError::Over)) =>
        {
            say("ethbus: the programs sent the same as in the recorded run, up to its interruption\n");
        }
        Err(error) => return Err(error),
    }
    Ok(ExitCode::SUCCESS)
}

/// What a program counts for that has not ended by `--duration`.
const UNENDED: u8 = 1;

/// How long a station may run while its clock does not move, by default.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn unreadable(source: std::io::Error) -> CommandError {
    CommandError::System { what: "read the kernel", source }
}

/// The folder of a scenario's file, from which the paths in it count; of a pipe, the folder where ethbus began.
pub(super) fn folder_of(scenario: &Path) -> Result<PathBuf, CommandError> {
    let folder = scenario.parent().filter(|folder| scenario.is_file() && !folder.as_os_str().is_empty());
    let own = |source| CommandError::System { what: "find the scenario's folder", source };
    std::path::absolute(folder.unwrap_or(Path::new("."))).map_err(own)
}

/// The plan of a lab of programs, whose paths count from `folder`.
fn plan(scenario: &Path, text: String, folder: Option<&Path>, overrides: &Overrides) -> Result<Plan, CommandError> {
    let mut plan = Plan::of_text(scenario, text, overrides, DEFAULT_SEED)?.of_programs()?;
    folder.into_iter().for_each(|folder| plan.count_paths_from(folder));
    plan.warnings.iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    Ok(plan)
}

/// Notes an interrupt from now on. Files have threads, so this comes before them.
fn note_interrupts() -> Result<Arc<AtomicBool>, CommandError> {
    let (interrupts, noted) = (interrupts_of_a_run()?, Arc::new(AtomicBool::new(false)));
    let interrupted = noted.clone();
    let watch = move || {
        if interrupts.recv().is_ok() {
            noted.store(true, Ordering::Relaxed);
        }
    };
    let system = |source| CommandError::System { what: "start a thread", source };
    std::thread::Builder::new().name("interrupts".to_owned()).spawn(watch).map_err(system).map(|_| interrupted)
}

/// How a run's end is shown.
struct Shown {
    timing: bool,
    format: Format,
}

/// Runs the lab, and shows its results and how its programs ended.
fn run_and_show(
    plan: &Plan,
    wishes: &Wishes,
    observers: Against<Observers>,
    trailing: Vec<Trailing>,
    shown: &Shown,
) -> Result<Ran, CommandError> {
    let begin = Instant::now();
    let ran = run_lab(plan, wishes, observers).map_err(|error| match error {
        LabError::Observer(AgainError::Write(error)) => CommandError::Write(error),
        LabError::Observer(AgainError::Trace(error)) => CommandError::Read(error),
        other => VirtualError::Lab(Box::new(other)).into(),
    });
    // The files are whole up to where the run failed.
    let finished = windows::finish(trailing);
    let ran = ran?;
    finished?;
    if shown.timing {
        say(&timing(&ran, begin.elapsed().as_secs_f64()));
    }
    print_result(shown.format, &ran.results, table)?;
    ran.ended.iter().for_each(|end| say(&format!("ethbus: {end}\n")));
    Ok(ran)
}

/// Refuses stations that are no kernels.
pub(super) fn refuse_hosts(plan: &Plan) -> Result<(), PlanError> {
    if let Some(station) = plan.stations.iter().find(|station| station.host != Host::Veth) {
        let what = format!(
            "{}: every station of a virtual lab is a kernel of its own: leave `kind` and `netns` out",
            station.name
        );
        return Err(PlanError::option("station", what));
    }
    Ok(())
}

/// Refuses what makes no virtual lab.
fn refuse(plan: &Plan, args: &RunArgs, until: Option<Duration>) -> Result<(), CommandError> {
    refuse_hosts(plan)?;
    let awaited = |plan: &Plan| plan.stations.iter().any(|it| it.kernel.programs.iter().any(|it| !it.is_service));
    if until.is_none() && !awaited(plan) {
        let what = "nothing would end the run: give --duration TIME, or a station a program, like `run = [\"at 1s ping -c 3 st2\"]`";
        return Err(PlanError::option("run", what.to_owned()).into());
    }
    if let Some(until) = until {
        let programs = plan.stations.iter().flat_map(|it| &it.kernel.programs);
        if let Some(late) = programs.into_iter().find(|program| program.at >= until) {
            let what = format!("`{}` would begin at {:?}, after the end: write a later instant", late.command, late.at);
            return Err(PlanError::option("--duration", what).into());
        }
    }
    let capture = named(&args.windows);
    let outputs: Vec<_> = args.traces.named().chain([capture]).collect();
    Ok(refuse_one_file_for_two(&outputs)?)
}

pub(super) type Observers = Both<Vec<EventLog>, Option<WindowsBeside>>;

/// The files that options name.
pub(super) struct FileOptions<'a> {
    pub scenario: Option<&'a Path>,
    pub traces: &'a TraceArgs,
    pub windows: &'a WindowArgs,
}

/// Makes the files that the options name.
pub(super) fn observers(
    plan: &Plan,
    args: &FileOptions<'_>,
    programs: Option<Programs>,
) -> Result<(Observers, Vec<Trailing>), CommandError> {
    let header = Header::new(&plan.name, &plan.medium, &plan.station_names());
    let scenario: Vec<&Path> = args.scenario.into_iter().collect();
    let others: Vec<&Path> = scenario.iter().copied().chain(args.traces.paths()).collect();
    let opened = windows::open(args.windows, &others)?;
    let (windows, trailing) = open_windows(plan, &header, opened)?;
    let traces = traces::create(args.traces, &scenario, &Header { programs, ..header })?;
    Ok((Both(traces, windows), trailing))
}

fn timing(ran: &Ran, took: f64) -> String {
    let end = ran.end as f64 / 1e9;
    format!(
        "ethbus: {end:.6} s in {took:.3} s: {:.1} times as fast as life; kernels ran {}\n",
        end / took,
        many(ran.runs, "time")
    )
}

/// How the script's lines begin that count compiled files.
const COMPILED: &str = "4/4 compile: ";

/// Builds the kernel that virtual labs need, and prints a line for each of its stages.
///
/// # Errors
/// The kernel cannot be built.
pub fn build_kernel(args: &KernelBuildArgs) -> Outcome {
    let folder = args.folder.clone().unwrap_or_else(kernel::folder_of_builds);
    let mut printed = Ok(());
    let built = build::build(&folder, |line| {
        // The names of compiled files are for a terminal alone.
        if line.starts_with(COMPILED) {
            show(line);
        } else if printed.is_ok() {
            show("");
            printed = super::print(&format!("{line}\n"));
        }
    });
    show("");
    built.map_err(VirtualError::from)?;
    printed.map(|()| ExitCode::SUCCESS)
}
