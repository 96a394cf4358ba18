//! `ethbus sim` with several buses and the bridges between them.

use super::timing;
use crate::cli::args::{SimArgs, SimFormat};
use crate::cli::commands::{CommandError, INTERRUPTED, Outcome, interrupts_of_a_run, print};
use crate::cli::windows::named;
use crate::show::{bridges, progress, say, table};
use crate::study::runaway::warnings;
use sim::figures::bridge::BridgedResults;
use sim::files::event_log::{EventLog, Header};
use sim::files::record::Recorder;
use sim::run::bridge::{BridgedRun, run};
use sim::run::measure::RunError;
use sim::run::observer::RunFiles;
use sim::run::pool;
use sim::scenario::plan::PlanError;
use sim::scenario::plan::bridged::Bridged;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Runs all buses together and tells what each gave, and what crossed.
pub fn sim(bridged: &Bridged, args: &SimArgs) -> Outcome {
    refuse_what_is_of_one_bus(args)?;
    let told = bridged.warnings(|plan| warnings(plan).collect());
    told.iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    let interrupts = interrupts_of_a_run()?;
    let observers = bridged.buses.iter().zip(&bridged.names).map(|(plan, bus)| {
        let header = Header::new(&plan.name, &plan.medium, &plan.station_names());
        files(args, bus, &header)
    });
    let observers = observers.collect::<Result<Vec<_>, CommandError>>()?;
    let begin = Instant::now();
    let bar = progress("simulating", 1.0);
    let threads = pool::threads(args.jobs);
    let measured = run(bridged, observers, threads, |done| {
        bar(done);
        interrupts.is_empty()
    });
    bar(1.0);
    let measured = measured.map_err(|error| match error {
        RunError::Config(error) => CommandError::Medium(error),
        RunError::Traffic(error) => CommandError::Traffic(error),
        RunError::Observer(error) => CommandError::Write(error),
    })?;
    let took = begin.elapsed().as_secs_f64();
    let results = measured.results(bridged);
    if args.timing {
        say(&timing(results.buses.values(), took));
    }
    let text = match args.format {
        SimFormat::Json => serde_json::to_string_pretty(&results).expect("numbers and names") + "\n",
        SimFormat::Table | SimFormat::Csv => tables(&results),
    };
    print(&text)?;
    Ok(code(&measured))
}

fn code(measured: &BridgedRun) -> ExitCode {
    if measured.is_whole() {
        return ExitCode::SUCCESS;
    }
    say("ethbus: interrupted; the figures are of the part that was run\n");
    ExitCode::from(INTERRUPTED)
}

fn tables(results: &BridgedResults) -> String {
    let buses = results.buses.iter().map(|(name, bus)| format!("Bus {name}: {}\n", table(bus)));
    buses.collect::<String>() + &bridges::bridges(results)
}

/// Windows and tables are of one bus.
fn refuse_what_is_of_one_bus(args: &SimArgs) -> Result<(), CommandError> {
    let windows = named(&args.windows).map(|(option, path)| (option, path.is_some()));
    let others = [
        ("--watch", args.watch),
        ("--frames", args.frames.is_some()),
        ("--series", args.series.is_some()),
        ("--format csv", args.format == SimFormat::Csv),
    ];
    let Some((option, _)) = windows.into_iter().chain(others).find(|(_, given)| *given) else { return Ok(()) };
    let what = format!(
        "{option} is of one bus, and the scenario has several: leave it out, or write `--events FILE`, which gives a log of each bus for `ethbus explain` and `ethbus convert`"
    );
    Err(PlanError::option(option, what).into())
}

/// The log and the record of a bus.
fn files(args: &SimArgs, bus: &str, header: &Header) -> Result<Option<RunFiles>, CommandError> {
    let own = |path: &Option<PathBuf>| path.as_deref().map(|path| of_bus(path, bus));
    let (events, record) = (own(&args.events), own(&args.record));
    if events.is_none() && record.is_none() {
        return Ok(None);
    }
    let given: Vec<&Path> = [args.scenario.as_deref(), events.as_deref()].into_iter().flatten().collect();
    let scenario: Vec<&Path> = args.scenario.as_deref().into_iter().collect();
    let log = events
        .as_deref()
        .map_or_else(|| Ok(EventLog::unwritten(header)), |path| EventLog::create(path, &scenario, header))?;
    let log = if record.is_some() { log } else { log.without_digest() };
    let record = record.as_deref().map(|path| Recorder::create(path, &given, header)).transpose()?;
    Ok(Some(RunFiles { log: log.on_a_thread(), record }))
}

/// The file of a bus: `run.jsonl` is `run.front.jsonl` for the bus front.
fn of_bus(path: &Path, bus: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{bus}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bus_has_a_file_with_the_same_ending() {
        for (path, own) in [("a/run.jsonl", "a/run.front.jsonl"), ("run", "run.front"), ("a.b.ebe", "a.b.front.ebe")] {
            assert_eq!(of_bus(Path::new(path), "front"), Path::new(own));
        }
    }
}
