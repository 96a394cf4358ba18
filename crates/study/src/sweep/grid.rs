//! A grid: every combination of the values of some scenario keys, each with every seed.
//!
//! A value is put into the scenario's table, and the text of that table is read by the same code as a file. So a grid knows no
//! key by name, except those that make no sense in it.

use super::choice::{Choice, Wish, sobol};
use super::seeds;
use super::values::{Value, value_at, values};
use crate::runaway;
use medium::BitTimes;
use sim::figures::row::Columns;
use sim::scenario::file::{Scenario, ScenarioError, file_text, value};
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::settings::keys::{Key, SCENARIO, Takes};
use sim::traffic::{Arrivals, Every, TrafficSpec, Udp, replays};
use sim::words::configuration::slot;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use toml::Table;

/// The most runs of one grid.
pub const MOST_RUNS: u64 = 1_000_000;

/// One key and its values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key, with points between its parts.
    pub key: String,
    /// What was written of its values.
    pub written: String,
    /// Its values as they were written, and as TOML has them.
    values: Vec<(Value, toml::Value)>,
}

impl Axis {
    /// The values' texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(value, _)| value.text.as_str())
    }
}

/// What is run: a scenario, what the command line says over it, keys with their values, and seeds.
#[derive(Clone, Debug)]
pub struct Grid {
    path: Option<PathBuf>,
    text: String,
    table: Table,
    overrides: Overrides,
    axes: Vec<Axis>,
    seeds: Vec<u64>,
    /// How many of them `--seeds` has said; others may be added.
    first_seeds: usize,
    /// The combinations, where they are not all, and their values as TOML has them.
    chosen: Option<(Choice, Vec<Vec<toml::Value>>)>,
}

/// What a command line says of a grid.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// Keys that options say already, each with its option.
    pub given: &'a [(&'a str, &'a str)],
    /// `KEY=VALUES`, each.
    pub sets: &'a [String],
    /// A number of seeds, or a list of them.
    pub seeds: &'a str,
    /// Up to how many seeds are added to them.
    pub max_seeds: Option<u64>,
    /// Which combinations.
    pub wish: Wish,
}

/// Keys that a grid cannot have, and what to write instead.
const REFUSED: [(&str, &str); 2] = [
    ("seed", "seeds are given by `--seeds`, like `--seeds 1,2,5`"),
    ("run.replications", "a sweep repeats each run with `--seeds`"),
];

/// Why a grid cannot have a key, and what to write instead.
pub fn refused(key: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(refused, _)| *refused == key).map(|(_, what)| *what)
}

/// The scenario's text; none is an empty one.
///
/// # Errors
/// A file that cannot be read.
fn text(path: Option<&Path>) -> Result<String, ScenarioError> {
    path.map_or_else(|| Ok(String::new()), file_text)
}

impl Grid {
    /// Reads the scenario and the values of the keys.
    ///
    /// # Errors
    /// A scenario that cannot be read; a key, value or seed that makes no sense by itself.
    pub fn read(
        path: Option<&Path>,
        overrides: &Overrides,
        asked: &Asked<'_>,
        default_seed: u64,
    ) -> Result<Grid, sim::scenario::plan::ReadError> {
        Grid::of_text(path, text(path)?, overrides, asked, default_seed)
    }

    /// The same of a scenario's text that was read already.
    ///
    /// # Errors
    /// As [`Grid::read`].
    pub fn of_text(
        path: Option<&Path>,
        text: String,
        overrides: &Overrides,
        asked: &Asked<'_>,
        default_seed: u64,
    ) -> Result<Grid, sim::scenario::plan::ReadError> {
        let Asked { given, sets, seeds, max_seeds, ref wish } = *asked;
        let named = |(option, what): (String, String)| PlanError::option(&option, what);
        let sample = wish.sampled().map_err(named)?;
        let (scenario, _) = Scenario::from_text(path.unwrap_or(Path::new("")), text.clone())?;
        let table = text.parse().expect("a scenario that was read is a table");
        let (path, overrides) = (path.map(Path::to_owned), overrides.clone());
        let mut grid =
            Grid { path, text, table, overrides, axes: Vec::new(), seeds: Vec::new(), first_seeds: 0, chosen: None };
        for set in sets {
            let wrong = |what| PlanError::option(&format!("--set {set}"), what);
            let axis = grid.axis(set, given, sample).map_err(wrong)?;
            grid.axes.push(axis);
        }
        let wrong = |what| PlanError::option(&format!("--seeds {seeds}"), what);
        let first = seeds::read(seeds, value(&scenario.seed).unwrap_or(default_seed)).map_err(wrong)?;
        grid.first_seeds = first.len();
        grid.seeds = seeds::with_more(first, max_seeds).map_err(wrong)?;
        if let (Some(_), true) = (sample, grid.axes.is_empty()) {
            return Err(
                named(("--sample".to_owned(), "a sample needs keys: give their ranges with --set".to_owned())).into()
            );
        }
        let axes = if sample.is_some() { &[] } else { &grid.axes[..] };
        let runs =
            axes.iter().fold(grid.seeds.len() as u64, |runs, axis| runs.saturating_mul(axis.values.len() as u64));
        if runs > MOST_RUNS {
            let what = format!("the grid has more than {MOST_RUNS} runs: leave values or seeds out");
            return Err(PlanError::option("--set", what).into());
        }
        if !wish.is_empty() {
            grid.chosen = Some(grid.choose(wish, given)?);
        }
        Ok(grid)
    }

    /// The combinations that `wish` leaves, with the values of all keys.
    fn choose(&self, wish: &Wish, given: &[(&str, &str)]) -> Result<(Choice, Vec<Vec<toml::Value>>), PlanError> {
        let axes: Vec<(&str, Vec<&str>)> =
            self.axes.iter().map(|axis| (axis.key.as_str(), axis.texts().collect())).collect();
        let choice = wish.choose(&axes).map_err(|(option, what)| PlanError::option(&option, what))?;
        for key in choice.keys.iter().skip(axes.len()) {
            let option = given.iter().find(|(given, _)| within(given, key)).map(|(_, option)| *option);
            let what = option.map(|option| format!("{option} says `{key}` too: leave one of them out"));
            if let Some(what) = what.or_else(|| refused(key).map(str::to_owned)) {
                return Err(PlanError::option(&format!("--derive {key}"), what));
            }
        }
        let mut known: HashMap<(&str, &str), toml::Value> = HashMap::new();
        for axis in &self.axes {
            known.extend(
                axis.values.iter().map(|(value, read)| ((axis.key.as_str(), value.text.as_str()), read.clone())),
            );
        }
        let mut points = Vec::with_capacity(choice.points.len());
        for point in &choice.points {
            let mut values = Vec::with_capacity(point.len());
            for (key, text) in choice.keys.iter().zip(point) {
                if !known.contains_key(&(key.as_str(), text.as_str())) {
                    let read = self.value(key, &Value { text: text.clone(), quoted: false });
                    let read = read.map_err(|what| PlanError::option(&format!("--derive {key}={text}"), what))?;
                    known.insert((key, text), read);
                }
                values.push(known[&(key.as_str(), text.as_str())].clone());
            }
            points.push(values);
        }
        drop(known);
        Ok((choice, points))
    }

    fn axis(&self, set: &str, given: &[(&str, &str)], sample: Option<u32>) -> Result<Axis, String> {
        let (key, written) = set.split_once('=').ok_or("write it like `--set stations=2,4,8`")?;
        let key = key.trim();
        if let Some(what) = refused(key) {
            return Err(what.to_owned());
        }
        if let Some(what) = self.section(key, written) {
            return Err(what);
        }
        if let Some((_, option)) = given.iter().find(|(given, _)| within(given, key)) {
            return Err(format!("{option} says `{key}` too: leave one of them out"));
        }
        if let Some(other) = self.axes.iter().find(|axis| within(&axis.key, key)) {
            return Err(format!("`{}` is in the grid already: give all its values at once", other.key));
        }
        let all = match sample {
            None => values(written)?,
            Some(number) => {
                let one = |index| value_at(written, sobol(index, self.axes.len()));
                (0..number).map(one).collect::<Result<_, _>>()?
            }
        };
        let values = all.into_iter().map(|value| {
            let read = self.value(key, &value).map_err(|what| match what.contains(&format!("`{value}`")) {
                true => what,
                false => format!("`{value}`: {what}"),
            })?;
            Ok((value, read))
        });
        Ok(Axis { key: key.to_owned(), written: written.to_owned(), values: values.collect::<Result<_, String>>()? })
    }

    /// Why `key` has no values, if it is a section, and the key of that section which takes these.
    fn section(&self, key: &str, written: &str) -> Option<String> {
        match SCENARIO.iter().find(|own| own.name == key)?.takes {
            Takes::Section(keys) => {
                let first = values(written).ok()?.into_iter().next()?;
                let dotted = |own: &Key| format!("{key}.{}", own.name);
                let taker = keys.iter().map(dotted).find(|dotted| self.value(dotted, &first).is_ok());
                let known = || keys.iter().map(|own| format!("`{}`", dotted(own))).collect::<Vec<_>>().join(", ");
                let next = taker.map_or_else(known, |taker| format!("`--set {taker}={written}`"));
                Some(format!("`{key}` is a section, and its keys have values: write {next}"))
            }
            Takes::Sections(keys) => {
                let like = format!("`--set {key}.1.{}=…`", keys.first()?.name);
                Some(format!(
                    "`{key}` is a section, and its keys have values: write the section's number and a key, like {like}"
                ))
            }
            _ => None,
        }
    }

    /// The value as TOML, if it makes sense at `key`: as what it looks like, or else as text, so that `10M` needs no quotes.
    fn value(&self, key: &str, value: &Value) -> Result<toml::Value, String> {
        let as_text = toml::Value::String(value.text.clone());
        if value.quoted {
            return self.try_value(key, as_text);
        }
        let bare = format!("v = {}", value.text).parse::<Table>().ok().and_then(|mut table| table.remove("v"));
        let Some(bare) = bare else { return self.try_value(key, as_text) };
        self.try_value(key, bare).or_else(|what| {
            // Where text is what the key wants, what is wrong with the text says more.
            let wants_text = what.contains(" in quotes");
            self.try_value(key, as_text).map_err(|as_text| if wants_text { as_text } else { what })
        })
    }

    fn try_value(&self, key: &str, value: toml::Value) -> Result<toml::Value, String> {
        let mut table = self.table.clone();
        put(&mut table, key, value.clone())?;
        self.scenario(&table)?;
        Ok(value)
    }

    fn scenario(&self, table: &Table) -> Result<Scenario, String> {
        let text = toml::to_string(table).map_err(|error| error.to_string())?;
        match Scenario::from_text(Path::new(""), text) {
            Ok((scenario, _)) => Ok(scenario),
            // The text was made here: a place in it means nothing to the user.
            Err(ScenarioError::Content(wrongs)) => {
                Err(wrongs.iter().map(|wrong| format!("{}: {}", wrong.name, wrong.what)).collect::<Vec<_>>().join("; "))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// The scenario file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The scenario's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The keys, the last of which changes fastest.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The seeds; they change faster than any key.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// Which combinations are run; `None` if all are.
    pub fn choice(&self) -> Option<&Choice> {
        self.chosen.as_ref().map(|(choice, _)| choice)
    }

    /// How many seeds a combination has before others are added.
    pub fn first_seeds(&self) -> usize {
        self.first_seeds
    }

    /// The names of the keys, those that follow from others last.
    pub fn keys(&self) -> Vec<&str> {
        match self.choice() {
            Some(choice) => choice.keys.iter().map(String::as_str).collect(),
            None => self.axes.iter().map(|axis| axis.key.as_str()).collect(),
        }
    }

    /// How many combinations of values there are.
    pub fn points(&self) -> u64 {
        if let Some(choice) = self.choice() {
            return choice.points.len() as u64;
        }
        self.axes.iter().map(|axis| axis.values.len() as u64).product()
    }

    /// How many runs there are.
    pub fn runs(&self) -> u64 {
        self.points() * self.seeds.len() as u64
    }

    /// The combination of run `run`, from 0, and its seed.
    pub fn place(&self, run: u64) -> (u64, u64) {
        let seeds = self.seeds.len() as u64;
        (run / seeds, self.seeds[(run % seeds) as usize])
    }

    /// The values of a combination, in the order of the keys.
    pub fn values_at(&self, point: u64) -> Vec<&str> {
        self.at(point).into_iter().map(|(_, value, _)| value).collect()
    }

    fn at(&self, point: u64) -> Vec<(&str, &str, &toml::Value)> {
        if let Some((choice, values)) = &self.chosen {
            let (texts, values) = (&choice.points[point as usize], &values[point as usize]);
            let keys = choice.keys.iter().zip(texts).zip(values);
            return keys.map(|((key, text), value)| (key.as_str(), text.as_str(), value)).collect();
        }
        let mut rest = point;
        let mut values: Vec<_> = (self.axes.iter().rev())
            .map(|axis| {
                let number = axis.values.len() as u64;
                let (value, read) = &axis.values[(rest % number) as usize];
                rest /= number;
                (axis.key.as_str(), value.text.as_str(), read)
            })
            .collect();
        values.reverse();
        values
    }

    /// The plan of run `run`.
    ///
    /// # Errors
    /// Values that do not fit together.
    pub fn plan(&self, run: u64) -> Result<Plan, PlanError> {
        let (point, seed) = self.place(run);
        let mut table = self.table.clone();
        let wrong = |what: String| match self.describe(point) {
            point if point.is_empty() => PlanError::option("the scenario", what),
            point => PlanError::option(&format!("with {point}"), what),
        };
        for (key, _, value) in self.at(point) {
            put(&mut table, key, value.clone()).map_err(wrong)?;
        }
        let scenario = self.scenario(&table).map_err(wrong)?;
        let overrides = self.overrides.clone().with("seed", seed);
        let plan = Plan::new(&scenario, None, &overrides, seed)
            .map_err(|error| wrong(error.to_string().replace('\n', "; ")))?;
        if plan.run.replications > 1 {
            let what = format!("{} replications: {}", plan.run.replications, REFUSED[1].1);
            return Err(PlanError::option("run.replications", what));
        }
        Ok(plan)
    }

    /// `key = value, …` of a combination.
    pub fn describe(&self, point: u64) -> String {
        let values: Vec<_> = self.at(point).iter().map(|(key, value, _)| format!("{key} = {value}")).collect();
        values.join(", ")
    }

    /// Checks every combination, and tells what a run of each will cost and what is allowed there and perhaps not meant.
    ///
    /// # Errors
    /// Values that do not fit together, or a capture file that cannot be replayed.
    pub fn check(&self) -> Result<Checked, PlanError> {
        let (mut costs, mut warnings, mut columns) = (Vec::new(), Vec::new(), Columns::default());
        for point in 0..self.points() {
            let plan = self.plan(point * self.seeds.len() as u64)?;
            replays(&plan.traffic)
                .map_err(|error| PlanError::option(&format!("with {}", self.describe(point)), error.to_string()))?;
            costs.push(cost(&plan));
            columns = columns.and(Columns::of(&plan.medium, plan.protocols()));
            warnings.extend(runaway::warnings(&plan).map(|warning| match self.describe(point) {
                point if point.is_empty() => warning,
                point => format!("with {point}: {warning}"),
            }));
        }
        Ok(Checked { costs, warnings, columns })
    }
}

/// What a look at every combination gave.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What a run of each costs, in a unit of its own.
    pub costs: Vec<f64>,
    /// What is allowed, and perhaps not meant.
    pub warnings: Vec<String>,
    /// The columns that runs have together.
    pub columns: Columns,
}

/// One key is the other, or a part of it.
fn within(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Puts a value at a key with points between its parts; `station.2` is the second `[[station]]` section.
fn put(table: &mut Table, key: &str, value: toml::Value) -> Result<(), String> {
    let (mut here, mut parts) = (table, key.split('.').peekable());
    while let Some(part) = parts.next() {
        if part.is_empty() {
            return Err(format!("`{key}` is no key: write it like `stations` or `medium.rate`"));
        }
        if parts.peek().is_none() {
            here.insert(part.to_owned(), value);
            return Ok(());
        }
        if parts.peek().is_some_and(|next| next.parse::<usize>().is_ok()) && !here.contains_key(part) {
            return Err(format!("the scenario has no [[{part}]] sections, so there is no `{key}`"));
        }
        let next = here.entry(part).or_insert_with(|| toml::Value::Table(Table::new()));
        here = match next {
            toml::Value::Table(table) => table,
            toml::Value::Array(sections) => {
                let (number, count) = (parts.next().unwrap_or_default(), sections.len());
                let section = number.parse::<usize>().ok().and_then(|number| sections.get_mut(number.checked_sub(1)?));
                let table = section.and_then(toml::Value::as_table_mut).filter(|_| parts.peek().is_some());
                table.ok_or_else(|| {
                    format!("`{key}` is no key here: write `{part}.1.` to `{part}.{count}.` and the section's key, since the scenario has {count} of them")
                })?
            }
            _ => return Err(format!("`{part}` has a value of its own in the scenario, so there is no `{key}`")),
        };
    }
    Ok(())
}

/// About how long a run takes: the frames that the medium has time for, and for each frame its own work and that of the
/// stations that contend for it. It only sets the order of runs and the estimate of the time left.
fn cost(plan: &Plan) -> f64 {
    /// Stations whose contention costs as much as the frame itself.
    const FRAME: f64 = 10.0;
    let bits = BitTimes::within(plan.run.warmup + plan.run.duration, plan.medium.rate).get() as f64;
    let frame = |spec: &TrafficSpec| spec.mean_frame(&plan.medium);
    let slot = slot(&plan.medium.method);
    let load = |spec: &TrafficSpec| match spec.arrivals {
        Arrivals::Silent => 0.0,
        Arrivals::Saturated | Arrivals::Window(_) | Arrivals::Tcp(_) | Arrivals::Bernoulli { .. } => 1.0,
        Arrivals::Poisson { load }
        | Arrivals::OnOff { load, .. }
        | Arrivals::Periodic { every: Every::Load(load), .. }
        | Arrivals::Udp(Udp { every: Every::Load(load), .. }) => load.of_rate(frame(spec), slot),
        Arrivals::Periodic { every: Every::Period(period), frames, .. } => {
            f64::from(frames) * frame(spec) / (period.as_secs_f64() * plan.medium.rate.get() as f64)
        }
        Arrivals::Ping(_) | Arrivals::Udp(_) => 0.1,
        Arrivals::Replay { .. } => 1.0 / plan.traffic.len() as f64,
    };
    let (stations, offered) = (plan.traffic.len() as f64, plan.traffic.iter().map(load).sum::<f64>().min(1.0));
    let mean_frame = plan.traffic.iter().map(frame).sum::<f64>() / stations;
    1.0 + bits * offered / mean_frame * (FRAME + stations)
}

#[cfg(test)]
mod tests;
