//! `ethbus sim` with several buses and the bridges between them.

use super::{check_files, ended, observers, outputs, replicas, timing};
use crate::cli::args::{SimArgs, SimFormat};
use crate::cli::commands::{CommandError, INTERRUPTED, Outcome, interrupts_of_a_run, print};
use crate::cli::windows;
use crossbeam_channel::Receiver;
use link::signals::Signal;
use say::terminal::in_locale;
use say::{bridges, progress, say, table};
use sim::figures::bridge::BridgedResults;
use sim::figures::results::Results;
use sim::figures::row::csv_of_buses;
use sim::files::output::is_stdout;
use sim::run::bridge::{BridgedRun, results, run};
use sim::run::measure::RunError;
use sim::run::pool;
use sim::scenario::plan::PlanError;
use sim::scenario::plan::bridged::Bridged;
use sim::windows::packing;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use study::runaway::warnings;

/// Runs all buses together and tells what each gave, and what crossed.
pub fn sim(bridged: &Bridged, args: &SimArgs) -> Outcome {
    refuse_what_is_of_one_bus(args)?;
    check_files(args, bridged.run.replications)?;
    let told = bridged.warnings(|plan| warnings(plan).collect());
    told.iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    let interrupts = interrupts_of_a_run()?;
    let begin = Instant::now();
    let runs = match bridged.run.replications {
        1 => vec![once(bridged, args, &interrupts)?],
        count => replicas(count, args, &interrupts, |number, go_on| {
            let replica = bridged.replica(number);
            let unobserved = vec![(); replica.buses.len()];
            Ok(Some(run(&replica, unobserved, 1, go_on).map_err(super::unobserved)?).filter(BridgedRun::is_whole))
        })?,
    };
    let took = begin.elapsed().as_secs_f64();
    let (whole, done) = (runs.iter().all(BridgedRun::is_whole), runs.len() as u64);
    if done == 0 {
        say("ethbus: interrupted before a run was done\n");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let results = results(bridged, runs);
    if args.timing.timing {
        say(&timing(results.buses.values(), took));
    }
    let text = match args.tabled.format {
        SimFormat::Json => serde_json::to_string_pretty(&results).expect("numbers and names") + "\n",
        SimFormat::Csv => csv_of_buses(&results.buses).map_err(|error| CommandError::Output(error.into()))?,
        SimFormat::Table => in_locale(tables(&results)),
    };
    print(&text)?;
    if whole && done == bridged.run.replications {
        tell_ends(bridged, &results);
        return Ok(ExitCode::SUCCESS);
    }
    say("ethbus: interrupted; the figures are of the part that was run\n");
    Ok(ExitCode::from(INTERRUPTED))
}

/// How well each bus knows the metric that was to be known. The run does not wait for a bus that sends nothing.
fn tell_ends(bridged: &Bridged, results: &BridgedResults) {
    let until = |bus: &Results| bus.config.run.as_ref().and_then(|run| run.until.clone());
    let some_know = results.buses.values().filter_map(until).any(|until| until.half_width.is_some());
    for ((bus, plan), of_bus) in bridged.names.iter().zip(&bridged.buses).zip(results.buses.values()) {
        if let Some(until) = until(of_bus).filter(|until| until.half_width.is_some() || !some_know) {
            say(&format!("ethbus: {bus}: {}\n", ended(&until, plan, of_bus)));
        }
    }
}

/// One run, each bus beside its observers if it has some.
fn once(bridged: &Bridged, args: &SimArgs, interrupts: &Receiver<Signal>) -> Result<BridgedRun, CommandError> {
    let (mut of_buses, mut trailing) = (Vec::new(), Vec::new());
    for (plan, bus) in bridged.buses.iter().zip(&bridged.names) {
        let (observers, ends) = observers(plan, &args_of_bus(args, bus))?.unzip();
        of_buses.push(observers);
        trailing.extend(ends.unwrap_or_default());
    }
    let bar = progress("simulating", 1.0);
    let measured = run(bridged, of_buses, pool::threads(args.jobs.jobs), |done| {
        bar(done);
        interrupts.is_empty()
    });
    bar(1.0);
    // A file that could not be written any further is what was wrong with the pipe to it.
    windows::finish(trailing)?;
    measured.map_err(|error| match error {
        RunError::Config(error) => CommandError::Medium(error),
        RunError::Traffic(error) => CommandError::Traffic(error),
        RunError::Observer(error) => CommandError::Write(error),
    })
}

fn tables(results: &BridgedResults) -> String {
    let buses = results.buses.iter().map(|(name, bus)| format!("Bus {name}: {}\n", table(bus)));
    buses.collect::<String>() + &bridges::bridges(results)
}

/// A live view is of one bus, and so is a stream.
fn refuse_what_is_of_one_bus(args: &SimArgs) -> Result<(), CommandError> {
    let is_stream = |path: &Path| is_stdout(path) || std::fs::metadata(path).is_ok_and(|there| !there.is_file());
    let streams = outputs(args).into_iter().map(|(option, path)| (option, path.is_some_and(is_stream)));
    let Some((option, _)) = [("--watch", args.drawn.watch)].into_iter().chain(streams).find(|(_, given)| *given) else {
        return Ok(());
    };
    let instead = match option {
        "--watch" => "leave it out, or write `--events FILE`, which gives a trace of each bus for `ethbus watch`",
        "--series" => "add `--series-out FILE`, which gives a file of each bus",
        _ => "write the name of a FILE, which gives one of each bus",
    };
    let what = format!("{option} is of one bus here, and the scenario has several: {instead}");
    Err(PlanError::option(option, what).into())
}

/// The options of one bus: each file is its own.
fn args_of_bus(args: &SimArgs, bus: &str) -> SimArgs {
    let mut own = args.clone();
    let files = [&mut own.windows.pcapng, &mut own.frames, &mut own.series_out].into_iter();
    let traces = own.traces.0.iter_mut().map(|(path, _)| path);
    files.flatten().chain(traces).for_each(|path| *path = of_bus(path, bus));
    own
}

/// The file of a bus: `run.jsonl` is `run.front.jsonl` for the bus front.
fn of_bus(path: &Path, bus: &str) -> PathBuf {
    if packing::is_named(path) && path.with_extension("").extension().is_some() {
        let inner = of_bus(&path.with_extension(""), bus);
        return inner.with_added_extension(path.extension().unwrap_or_default());
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{bus}"));
    let own = path.with_file_name(name);
    path.extension().map_or_else(|| own.clone(), |ending| own.with_added_extension(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bus_has_a_file_with_the_same_ending() {
        for (path, own) in [
            ("a/run.jsonl", "a/run.front.jsonl"),
            ("run", "run.front"),
            ("a.b.ebe", "a.b.front.ebe"),
            ("run.pcapng.zst", "run.front.pcapng.zst"),
            ("a.d/run.zst", "a.d/run.front.zst"),
        ] {
            assert_eq!(of_bus(Path::new(path), "front"), Path::new(own));
        }
    }
}
