//! `ethbus sweep` and `ethbus sweep merge`: a grid of runs into one table.

mod row;
mod runs;
mod status;
mod tables;

use self::runs::{Sink, Sweep};
use self::tables::Tables;
use super::sim::DEFAULT_SEED;
use super::{CommandError, INTERRUPTED, Outcome, interrupts_of_a_run, print};
use crate::cli::args::{MergeArgs, SweepArgs, SweepCommand};
use say::say;
use sim::figures::until::Until;
use sim::files::output::{PARQUET, TABLE, create, place_name, ready};
use sim::files::table::{BUILD_WITH_PARQUET, Form};
use sim::run::pool;
use sim::scenario::plan::{Overrides, PlanError};
use sim::settings::overrides::dotted_key;
use sim::words::units::{self, group, many};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use study::sweep::choice::Wish;
use study::sweep::grid::{Asked, Grid};
use study::sweep::journal::{Journal, Provenance};
use study::sweep::lines::line;
use study::sweep::manifest::Manifest;
use study::sweep::merge::STANDARD_OUTPUT;
use study::sweep::output::{Output, TableError, is_folder, with_slash};
use study::sweep::part::{Part, Shard, Span, spans};
use study::sweep::{again, enough, environment, seeds};

/// Runs a grid, or what is left of it.
///
/// # Errors
/// A grid that makes no sense anywhere, a table that is of another grid or cannot be written, a run that fails.
pub fn sweep(args: &SweepArgs) -> Outcome {
    match &args.command {
        Some(SweepCommand::Status(args)) => status::status(args),
        Some(SweepCommand::Merge(args)) => merge(args),
        Some(SweepCommand::Row(args)) => row::row(args),
        None => grid(args),
    }
}

fn grid(args: &SweepArgs) -> Outcome {
    check_parquet(args.packed.parquet.as_deref())?;
    let options = options(args);
    let given: Vec<(&str, &str)> = options.iter().map(|(option, key, _)| (key.as_str(), option.as_str())).collect();
    let (part, learned) = part(args)?;
    let out = again::named(args.made.out.as_deref().unwrap_or(Path::new(STANDARD_OUTPUT)), part);
    let out = check_place(&out)?;
    let wanted = tables::wanted(args, is_folder(&out))?;
    let enough = enough(args)?;
    let overrides = Overrides::of(args.run.given().filter(|(long, _)| enough.is_none() || *long != UNTIL))?;
    let grid = Grid::read(args.file.scenario.as_deref(), &overrides, &asked(args, &given), DEFAULT_SEED)?;
    check_rows(part, &grid)?;
    let texts: Vec<(&str, String)> = options.iter().map(|(option, _, text)| (option.as_str(), text.clone())).collect();
    let enough = enough.map(|until| seeds::Enough { until, first: grid.first_seeds() });
    let manifest = Manifest::new(&grid, &texts, args.timing.timing, part).with_enough(enough).with_beside(wanted);
    if args.list {
        print(&list(&grid, &manifest))?;
        return Ok(ExitCode::SUCCESS);
    }
    let checked = grid.check()?;
    checked.warnings.iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    if let Some(whom) = learned {
        say(&format!("ethbus: this is {part}, as told by {whom}\n"));
    }
    args.packed.parquet.iter().try_for_each(|path| ready(path, PARQUET)).map_err(TableError::from)?;
    let (output, mut todo) = open(args, &out, &manifest)?;
    let seen = manifest.enough().map(|it| Ok::<_, TableError>((it.metric(), enough::values(&out, &manifest)?)));
    let seen = seen.transpose()?;
    let cost = |run: u64| checked.costs[grid.place(run).0 as usize];
    let jobs = pool::threads(args.jobs.jobs);
    if let Some((_, seen)) = &seen {
        todo = enough::due(&manifest, seen);
    } else if !is_stream(&out) {
        // The longest first, so that no core is left alone with one at the end.
        todo.sort_by(|one, other| cost(*other).total_cmp(&cost(*one)));
    }
    let journal = (!is_stream(&out) && !todo.is_empty()).then(|| {
        let (seeds, is_fresh) = (grid.seeds().len() as u64, output.kept() == 0 && !is_folder(&out));
        Journal::begin(&out, &Provenance::here(), is_fresh, seeds, jobs)
    });
    let interrupts = interrupts_of_a_run()?;
    let columns = checked.columns.clone();
    let (timing, limit) = (args.timing.timing, args.time_limit);
    let tables = Tables::of(&out, manifest.beside(), &columns);
    let sweep = Sweep { grid: &grid, timing, limit, columns, tables, interrupts: &interrupts };
    let (begin, before) = (Instant::now(), output.kept());
    let sink = Sink { output, journal: journal.transpose()?, failed: Vec::new(), seen };
    let (sink, runs) = rounds(&sweep, todo, cost, jobs, (sink, &manifest))?;
    let Sink { output, journal, failed, .. } = sink;
    let kept = output.kept();
    output.finish()?;
    journal.map_or(Ok(()), Journal::end)?;
    tell_failed(&failed, &out);
    if kept + (failed.len() as u64) < runs {
        let (kept, runs, place) = (group(kept), many(runs, "run"), out.display());
        let next = if is_stream(&out) { "" } else { "; the same command goes on from there" };
        say(&format!("ethbus: interrupted: {kept} of {runs} done: {place}{next}\n"));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    args.packed.parquet.as_deref().map_or(Ok(()), |path| write_parquet(&out, path))?;
    let there = if before > 0 { format!(", {} were there", group(before)) } else { String::new() };
    let (done, took) = (many(kept - before, "run"), begin.elapsed().as_secs_f64());
    say(&format!("ethbus: {done} in {took:.1} s{there}: {}\n", out.display()));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs `todo`, and then what is to be added to it as long as there is something; tells how many rows there should be.
fn rounds(
    sweep: &Sweep<'_>,
    mut todo: Vec<u64>,
    cost: impl Fn(u64) -> f64 + Sync,
    jobs: usize,
    (mut sink, manifest): (Sink, &Manifest),
) -> Result<(Sink, u64), CommandError> {
    let mut runs = sink.output.kept();
    loop {
        runs += todo.len() as u64;
        sink = sweep.all(&todo, &cost, jobs, sink)?;
        if sink.output.kept() + (sink.failed.len() as u64) < runs {
            return Ok((sink, runs));
        }
        todo = sink.seen.as_ref().map_or(Vec::new(), |(_, seen)| enough::due(manifest, seen));
        if todo.is_empty() {
            return Ok((sink, runs));
        }
        sink.output.flush()?;
    }
}

/// Names the rows that are not in the table, and how they are tried again.
fn tell_failed(failed: &[(u64, String)], out: &Path) {
    let Some((first, why)) = failed.iter().min_by_key(|(run, _)| *run) else { return };
    let mut rows: Vec<u64> = failed.iter().map(|(run, _)| run + 1).collect();
    rows.sort_unstable();
    let names: Vec<String> = spans(rows).iter().map(Span::to_string).collect();
    let next = if is_stream(out) { "" } else { "; the same command tries them again" };
    let (runs, rows) = (many(failed.len() as u64, "run"), if failed.len() == 1 { "row" } else { "rows" });
    say(&format!("ethbus: {runs} failed: {rows} {}{next}\n  row {}: {why}\n", names.join(", "), first + 1));
}

/// The option that tells how well a metric is to be known.
const UNTIL: &str = "until";

/// The half-width at which a combination has enough seeds, if seeds are added.
fn enough(args: &SweepArgs) -> Result<Option<String>, PlanError> {
    if args.max_seeds.is_none() {
        return Ok(None);
    }
    if args.rows.is_some() {
        let what = "how many seeds a combination gets follows from all its rows: give each task whole combinations, with \
                    --shard instead of --rows";
        return Err(PlanError::option("--max-seeds", what.to_owned()));
    }
    let Some(text) = args.run.get(UNTIL) else {
        let what = "it needs a half-width at which seeds are enough: give it like `--until 2%`";
        return Err(PlanError::option("--max-seeds", what.to_owned()));
    };
    let until: Until = text.parse().map_err(|what| PlanError::option("--until", what))?;
    if until.is_collapse() {
        let what = "a collapse ends a run, and has no half-width: leave --max-seeds out";
        return Err(PlanError::option("--until collapse", what.to_owned()));
    }
    let out = args.made.out.as_deref().unwrap_or(Path::new(STANDARD_OUTPUT));
    match is_stream(out) && !args.list {
        true => Err(PlanError::option("--max-seeds", "it needs a file: write one to --out".to_owned())),
        false => Ok(Some(until.to_string())),
    }
}

/// The seeds that `--seeds` says, or else one, or as many as an interval wants.
fn seeds_text(args: &SweepArgs) -> &str {
    args.seeds.as_deref().unwrap_or(if args.max_seeds.is_some() { seeds::FIRST } else { "1" })
}

/// What the command line says of the grid.
fn asked<'a>(args: &'a SweepArgs, given: &'a [(&'a str, &'a str)]) -> Asked<'a> {
    let (when, derive, pair) = (args.when.clone(), args.derive.clone(), args.pair.clone());
    let wish = Wish { when, derive, pair, sample: args.sample.clone() };
    Asked { given, sets: &args.grid.set, seeds: seeds_text(args), max_seeds: args.max_seeds, wish }
}

/// Which part of the grid is run, and the scheduler that named it, if any.
fn part(args: &SweepArgs) -> Result<(Part, Option<String>), PlanError> {
    let variable = |name: &str| std::env::var(name).ok();
    if let Some(text) = &args.rows {
        let rows = environment::rows(text, variable).map_err(|what| PlanError::option("--rows", what))?;
        return Ok((Part::Rows(rows.0), rows.1));
    }
    let shard = args.shard.as_deref().map(|text| environment::shard(text, variable));
    let shard = shard.unwrap_or(Ok((Shard::WHOLE, None))).map_err(|what| PlanError::option("--shard", what))?;
    Ok((Part::Shard(shard.0), shard.1))
}

/// Rows that the grid does not have are a mistake, and no empty table.
fn check_rows(part: Part, grid: &Grid) -> Result<(), PlanError> {
    match part {
        Part::Rows(span) if span.last > grid.runs() => {
            let what = format!("the grid has rows 1 to {}: write one of them", grid.runs());
            Err(PlanError::option(&format!("--rows {span}"), what))
        }
        Part::Rows(_) | Part::Shard(_) => Ok(()),
    }
}

/// The rows of a table: number, keys and seed of each.
fn list(grid: &Grid, manifest: &Manifest) -> String {
    let keys = grid.keys().into_iter();
    let header = line(std::iter::once("run").chain(keys).chain(["seed"]));
    let row = |run: u64| {
        let (point, seed) = grid.place(run);
        let (number, seed) = ((run + 1).to_string(), seed.to_string());
        line([number.as_str()].into_iter().chain(grid.values_at(point)).chain([seed.as_str()]))
    };
    let rows = (0..grid.runs()).filter(|run| manifest.has(*run)).map(row);
    std::iter::once(header).chain(rows).map(|line| line + "\n").collect()
}

/// Puts parts together.
///
/// # Errors
/// Parts that do not make a whole, a file that cannot be read or written.
fn merge(args: &MergeArgs) -> Outcome {
    check_parquet(args.packed.parquet.as_deref())?;
    if args.packed.parquet.is_some() && args.merged.out == Path::new(STANDARD_OUTPUT) {
        return Err(PlanError::option("--parquet", "it needs a file: write one to --out".to_owned()).into());
    }
    args.packed.parquet.iter().try_for_each(|path| ready(path, PARQUET)).map_err(TableError::from)?;
    let runs = study::sweep::merge::merge(&args.merged.out, &args.shards.tables).map_err(|error| match error {
        TableError::File { what: "write", path, source } if path == Path::new(STANDARD_OUTPUT) => {
            CommandError::Output(source)
        }
        error => error.into(),
    })?;
    args.packed.parquet.as_deref().map_or(Ok(()), |path| write_parquet(&args.merged.out, path))?;
    say(&format!("ethbus: {}: {}\n", many(runs, "run"), args.merged.out.display()));
    Ok(ExitCode::SUCCESS)
}

/// What options say over the scenario: each with its key and its value.
fn options(args: &SweepArgs) -> Vec<(String, String, String)> {
    let option = |(long, value): (&str, &str)| (format!("--{long}"), dotted_key(long), in_manifest(long, value));
    // With --max-seeds it is no setting of a run.
    let is_of_run = |(long, _): &(&str, &str)| args.max_seeds.is_none() || *long != UNTIL;
    args.run.given().filter(is_of_run).map(option).collect()
}

/// A value as manifests have it, so that `10M` is the same as `10Mbit/s`.
fn in_manifest(long: &str, value: &str) -> String {
    let plain = match long {
        "rate" => units::rate(value).map(|rate| rate.to_string()),
        "duration" | "warmup" => units::run_time(value).map(|time| time.to_string()),
        _ => Ok(value.to_owned()),
    };
    plain.unwrap_or_else(|_| value.to_owned())
}

/// The table's place, with a `/` at the end of a folder's. A folder, or a file in Parquet, needs a program that can write them.
fn check_place(out: &Path) -> Result<PathBuf, PlanError> {
    let place = with_slash(out);
    if is_folder(&place) && !Form::Parquet.is_built() {
        let what = format!("a folder has Parquet files, and this ethbus was built without it: {BUILD_WITH_PARQUET}");
        return Err(PlanError::option(&format!("--out {}", out.display()), what));
    }
    if out.extension().is_some_and(|extension| extension == "parquet") && !is_folder(&place) {
        let what = "one file in Parquet cannot grow: write `--out DIR/` for Parquet files, or `--out FILE.csv --parquet \
                    FILE.parquet`";
        return Err(PlanError::option(&format!("--out {}", out.display()), what.to_owned()));
    }
    Ok(place)
}

/// Rows can only be added, not read again.
fn is_stream(out: &Path) -> bool {
    out == Path::new("-") || std::fs::metadata(out).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// The table, and the runs that are still to be done.
fn open(args: &SweepArgs, out: &Path, manifest: &Manifest) -> Result<(Output, Vec<u64>), CommandError> {
    let runs = (0..manifest.runs()).filter(|&run| manifest.has(run));
    if !is_stream(out) {
        let (output, done) = open_table(args, out, manifest.clone())?;
        let done: std::collections::HashSet<u64> = done.into_iter().collect();
        return Ok((output, runs.filter(|run| !done.contains(run)).collect()));
    }
    let needs_file = [("--shard", args.shard.is_some()), ("--parquet", args.packed.parquet.is_some())];
    if let Some((option, _)) = needs_file.iter().find(|(_, given)| *given) {
        return Err(PlanError::option(option, "it needs a file: write one to --out".to_owned()).into());
    }
    let file = create(out, TABLE).map_err(TableError::from)?;
    Ok((Output::stream(file, place_name(out), runs.clone()), runs.collect()))
}

/// The table at a place that is no stream, and the runs that it has.
#[cfg(feature = "parquet")]
fn open_table(args: &SweepArgs, out: &Path, manifest: Manifest) -> Result<(Output, Vec<u64>), CommandError> {
    if !is_folder(out) {
        return Ok(Output::file(out, manifest)?);
    }
    if args.packed.parquet.is_some() {
        let what = "the folder of --out has Parquet files: leave one of them out".to_owned();
        return Err(PlanError::option("--parquet", what).into());
    }
    Ok(Output::folder(out, &manifest)?)
}

#[cfg(not(feature = "parquet"))]
fn open_table(_: &SweepArgs, out: &Path, manifest: Manifest) -> Result<(Output, Vec<u64>), CommandError> {
    Ok(Output::file(out, manifest)?)
}

#[cfg(feature = "parquet")]
fn check_parquet(_: Option<&Path>) -> Result<(), PlanError> {
    Ok(())
}

#[cfg(feature = "parquet")]
fn write_parquet(table: &Path, path: &Path) -> Result<(), CommandError> {
    study::sweep::parquet::write(table, path).map_err(|source| CommandError::Parquet { path: path.to_owned(), source })
}

#[cfg(not(feature = "parquet"))]
fn check_parquet(path: Option<&Path>) -> Result<(), PlanError> {
    match path {
        None => Ok(()),
        Some(_) => {
            let what = format!("this ethbus was built without it: {}", BUILD_WITH_PARQUET);
            Err(PlanError::option("--parquet", what))
        }
    }
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Path, _: &Path) -> Result<(), CommandError> {
    unreachable!("check_parquet has refused")
}
