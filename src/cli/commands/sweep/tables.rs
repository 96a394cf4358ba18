//! The tables of a run beside its row: stations, series, frames and events.

use crate::cli::args::SweepArgs;
use crate::cli::commands::CommandError;
use medium::{BitInstant, BitTimes};
use sim::figures::results::Results;
use sim::figures::row::{Columns, station_columns};
use sim::files::event_log::Header;
use sim::files::json_lines::WriteError;
use sim::files::output::{NEW, OutputError};
use sim::files::table::{Column, Form, TableWriter};
use sim::run::frames::FrameTable;
use sim::run::observer::Both;
use sim::run::series::{Series, SeriesTable};
use sim::scenario::plan::{Plan, PlanError};
use sim::windows::Known;
use sim::windows::table::EventTable;
use sim::words::units::duration;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::sweep::further::{EVENTS, FRAMES, Further, NewFile, SERIES, STATIONS, TABLES, Wanted};
use study::sweep::lines::line;

/// Which tables there are, and where they begin.
pub struct Tables {
    /// The folder.
    pub folder: PathBuf,
    /// Which.
    pub wanted: Wanted,
    /// The interval of the series.
    pub every: Option<Duration>,
    /// The columns of a run's row.
    pub columns: Columns,
}

/// The tables that the command line asks for beside that of runs.
///
/// # Errors
/// A table that there is not, a series without an interval, or no folder.
pub fn wanted(args: &SweepArgs, is_folder: bool) -> Result<Wanted, PlanError> {
    let Some(text) = &args.tables else {
        return match args.over_time.series {
            Some(_) => {
                Err(PlanError::option("--series", "it is of the table `series`: add `--tables series`".to_owned()))
            }
            None => Ok(Wanted::default()),
        };
    };
    let wrong = |what: String| Err(PlanError::option("--tables", what));
    let asked: Vec<&str> = text.split(',').map(str::trim).collect();
    if let Some(other) = asked.iter().find(|name| !TABLES.contains(name)) {
        return wrong(format!("`{other}` is no table: write some of {}", TABLES.join(", ")));
    }
    // In one order, however they are typed.
    let tables: Vec<String> = TABLES.into_iter().filter(|name| asked.contains(name)).map(str::to_owned).collect();
    if asked.contains(&SERIES) != args.over_time.series.is_some() {
        return wrong(
            "a series needs its interval, and an interval its series: `--tables series --series 100ms`".to_owned(),
        );
    }
    if !is_folder {
        return wrong("one file has one table: write a folder to --out, like `--out runs/`".to_owned());
    }
    let series = args.over_time.series.map(|every| humantime::format_duration(every).to_string().replace(' ', ""));
    Ok(Wanted { tables, series })
}

/// What watches a run.
pub type Observers = Both<Option<FrameTable>, Both<Option<SeriesTable>, Option<EventTable>>>;

impl Tables {
    /// The same again, from what a command line has asked for.
    pub fn of(folder: &Path, wanted: &Wanted, columns: &Columns) -> Option<Tables> {
        let every = wanted.series.as_deref().and_then(|text| duration(text).ok());
        (!wanted.is_empty()).then(|| Tables {
            folder: folder.to_owned(),
            wanted: wanted.clone(),
            every,
            columns: columns.clone(),
        })
    }

    /// The observers of run `run`, from 0, and the files that they write.
    pub fn begin(&self, plan: &Plan, run: u64) -> Result<(Observers, Further), CommandError> {
        let names = plan.all_names();
        let begin = BitInstant::ZERO + BitTimes::within(plan.run.warmup, plan.medium.rate);
        let mut further = Further::default();
        let mut open = |table: &'static str, columns: &[Column]| {
            let path = self.folder.join(format!("{NEW}{}-{}-{table}", std::process::id(), run + 1));
            let system = |source| WriteError::from(OutputError::System { call: "create", path: path.clone(), source });
            let file = File::create(&path).map_err(system)?;
            further.files.push((table, NewFile::at(path.clone())));
            TableWriter::open_led(Form::Parquet, file, path.display().to_string(), columns, &[("run", run + 1)])
        };
        let mut frames = None;
        if self.wanted.has(FRAMES) {
            frames = Some(FrameTable::new(open(FRAMES, &FrameTable::columns())?, names.clone(), begin));
        }
        let mut series = None;
        if let Some(every) = self.every.filter(|_| self.wanted.has(SERIES)) {
            let own = Series::new(&plan.medium, names.clone(), begin, BitTimes::within(every, plan.medium.rate));
            series = Some(SeriesTable::new(own.with_columns(self.columns.clone()), |columns| open(SERIES, columns))?);
        }
        let mut events = None;
        if self.wanted.has(EVENTS) {
            let header = Header::new(&plan.name, &plan.medium, &plan.station_names());
            let known = Known::of(header).with_macs(plan.stations.iter().map(|station| station.mac.octets()));
            events = Some(EventTable::with(&known, |columns| open(EVENTS, columns))?);
        }
        Ok((Both(frames, Both(series, events)), further))
    }

    /// The rows of stations.
    pub fn stations(&self, run: u64, results: &Results) -> Option<(String, Vec<String>)> {
        if !self.wanted.has(STATIONS) {
            return None;
        }
        let mut header = String::new();
        let mut rows = Vec::new();
        for station in &results.stations {
            let columns = station_columns(station);
            header = line(["run", "station"].into_iter().chain(columns.iter().map(|(name, _)| name.as_str())));
            let values = columns.iter().map(|(_, value)| value.to_string());
            rows.push(line([(run + 1).to_string(), station.name.clone()].into_iter().chain(values)));
        }
        Some((header, rows))
    }
}
