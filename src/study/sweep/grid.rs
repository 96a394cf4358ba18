//! A grid: every combination of the values of some scenario keys, each with every seed.
//!
//! A value is put into the scenario's table, and the text of that table is read by the same code as a file. So a grid knows no
//! key by name, except those that make no sense in it.

use super::values::{Value, values};
use crate::study::runaway;
use medium::BitTimes;
use sim::figures::metrics::places;
use sim::scenario::file::{Scenario, ScenarioError, file_text, value};
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::traffic::{Arrivals, Every, Sizes, TrafficSpec, replays};
use std::path::{Path, PathBuf};
use toml::Table;

/// The most runs of one grid.
pub const MOST_RUNS: u64 = 1_000_000;

/// One key and its values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key, with points between its parts.
    pub key: String,
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
}

/// Keys that a grid cannot have, and what to write instead.
const REFUSED: [(&str, &str); 2] =
    [("seed", "seeds are `--seeds`'s to say"), ("run.replications", "a sweep repeats each run with `--seeds`")];

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
    /// Reads the scenario and the values of the keys. `sets` are `KEY=VALUES`, `given` the keys that options say already, each
    /// with its option; `seeds` is a number of seeds, or a list of them.
    ///
    /// # Errors
    /// A scenario that cannot be read; a key, value or seed that makes no sense by itself.
    pub fn read(
        path: Option<&Path>,
        overrides: &Overrides,
        given: &[(&str, &str)],
        sets: &[String],
        seeds: &str,
        default_seed: u64,
    ) -> Result<Grid, sim::scenario::plan::ReadError> {
        let text = text(path)?;
        let (scenario, _) = Scenario::from_text(path.unwrap_or(Path::new("")), text.clone())?;
        let table = text.parse().expect("a scenario that was read is a table");
        let (path, overrides) = (path.map(Path::to_owned), overrides.clone());
        let mut grid = Grid { path, text, table, overrides, axes: Vec::new(), seeds: Vec::new() };
        for set in sets {
            let wrong = |what| PlanError::option(&format!("--set {set}"), what);
            let axis = grid.axis(set, given).map_err(wrong)?;
            grid.axes.push(axis);
        }
        grid.seeds = read_seeds(seeds, value(&scenario.seed).unwrap_or(default_seed))
            .map_err(|what| PlanError::option(&format!("--seeds {seeds}"), what))?;
        let runs =
            grid.axes.iter().fold(grid.seeds.len() as u64, |runs, axis| runs.saturating_mul(axis.values.len() as u64));
        if runs > MOST_RUNS {
            let what = format!("the grid has more than {MOST_RUNS} runs: leave values or seeds out");
            return Err(PlanError::option("--set", what).into());
        }
        Ok(grid)
    }

    fn axis(&self, set: &str, given: &[(&str, &str)]) -> Result<Axis, String> {
        let (key, written) = set.split_once('=').ok_or("write it like `--set stations=2,4,8`")?;
        let key = key.trim();
        if let Some(what) = refused(key) {
            return Err(what.to_owned());
        }
        if let Some((_, option)) = given.iter().find(|(given, _)| within(given, key)) {
            return Err(format!("{option} says `{key}` too: leave one of them out"));
        }
        if let Some(other) = self.axes.iter().find(|axis| within(&axis.key, key)) {
            return Err(format!("`{}` is in the grid already: give all its values at once", other.key));
        }
        let values = values(written)?.into_iter().map(|value| {
            let read = self.value(key, &value).map_err(|what| match what.contains(&format!("`{value}`")) {
                true => what,
                false => format!("`{value}`: {what}"),
            })?;
            Ok((value, read))
        });
        Ok(Axis { key: key.to_owned(), values: values.collect::<Result<_, String>>()? })
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

    /// How many combinations of values there are.
    pub fn points(&self) -> u64 {
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
        self.at(point).into_iter().map(|(_, value, _)| value.text.as_str()).collect()
    }

    fn at(&self, point: u64) -> Vec<(&str, &Value, &toml::Value)> {
        let mut rest = point;
        let mut values: Vec<_> = (self.axes.iter().rev())
            .map(|axis| {
                let number = axis.values.len() as u64;
                let (value, read) = &axis.values[(rest % number) as usize];
                rest /= number;
                (axis.key.as_str(), value, read)
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
        let (mut costs, mut warnings, mut collision_places) = (Vec::new(), Vec::new(), 0);
        for point in 0..self.points() {
            let plan = self.plan(point * self.seeds.len() as u64)?;
            replays(&plan.traffic)
                .map_err(|error| PlanError::option(&format!("with {}", self.describe(point)), error.to_string()))?;
            costs.push(cost(&plan));
            collision_places = collision_places.max(places(plan.medium.attempt_limit()));
            warnings.extend(runaway::warnings(&plan).map(|warning| match self.describe(point) {
                point if point.is_empty() => warning,
                point => format!("with {point}: {warning}"),
            }));
        }
        Ok(Checked { costs, warnings, collision_places })
    }
}

/// What a look at every combination gave.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What a run of each costs, in a unit of its own.
    pub costs: Vec<f64>,
    /// What is allowed, and perhaps not meant.
    pub warnings: Vec<String>,
    /// After how many collisions a frame can still get through, where that is the most.
    pub collision_places: usize,
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

/// `8`: eight seeds from `first` on; `3..10`, `1,2,5`: those.
fn read_seeds(text: &str, first: u64) -> Result<Vec<u64>, String> {
    let wrong = || "write a number of seeds like `8`, or seeds like `1..20` or `1,2,5`".to_owned();
    if let Ok(count) = text.trim().parse::<u64>() {
        return match count {
            1..=MOST_RUNS => Ok((0..count).map(|number| first.wrapping_add(number)).collect()),
            _ => Err(format!("there are 1 to {MOST_RUNS} seeds: {}", wrong())),
        };
    }
    let backwards = |part: &str| {
        let (low, high) = part.split_once("..")?;
        let (low, high): (u64, u64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        (high < low).then_some(())
    };
    if let Some(part) = text.split(',').find(|part| backwards(part).is_some()) {
        return Err(format!("`{}` ends before it begins: {}", part.trim(), wrong()));
    }
    values(text)?
        .iter()
        .map(|value| value.text.parse().map_err(|_| format!("{value} is no seed: {}", wrong())))
        .collect()
}

/// About how long a run takes: the frames that the medium has time for, and for each frame its own work and that of the
/// stations that contend for it. It only sets the order of runs and the estimate of the time left.
fn cost(plan: &Plan) -> f64 {
    /// Stations whose contention costs as much as the frame itself.
    const FRAME: f64 = 10.0;
    let bits = BitTimes::within(plan.run.warmup + plan.run.duration, plan.medium.rate).get() as f64;
    let frame = |spec: &TrafficSpec| {
        spec.sizes.as_ref().unwrap_or(&Sizes::DEFAULT).mean_bit_times(plan.medium.parameters.min_frame_size)
    };
    let load = |spec: &TrafficSpec| match spec.arrivals {
        Arrivals::Silent => 0.0,
        Arrivals::Saturated | Arrivals::Window(_) | Arrivals::Bernoulli { .. } => 1.0,
        Arrivals::Poisson { load } | Arrivals::OnOff { load, .. } => load,
        Arrivals::Periodic { every: Every::Load(load), .. } => load,
        Arrivals::Periodic { every: Every::Period(period), .. } => {
            frame(spec) / (period.as_secs_f64() * plan.medium.rate.get() as f64)
        }
        Arrivals::Replay { .. } => 1.0 / plan.traffic.len() as f64,
    };
    let (stations, offered) = (plan.traffic.len() as f64, plan.traffic.iter().map(load).sum::<f64>().min(1.0));
    let mean_frame = plan.traffic.iter().map(frame).sum::<f64>() / stations;
    1.0 + bits * offered / mean_frame * (FRAME + stations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(scenario: &str, sets: &[&str], seeds: &str) -> Result<Grid, String> {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("scenario.toml");
        std::fs::write(&path, scenario).expect("own folder");
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let given = [("medium.rate", "--rate")];
        Grid::read(Some(&path), &Overrides::default(), &given, &sets, seeds, 1).map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_key_changes_fastest_and_seeds_faster_still() {
        let grid = grid("seed = 7", &["stations=2,3", "medium.queue=5,6"], "2").expect("a grid");
        let order: Vec<_> = (0..grid.runs()).map(|run| grid.place(run)).collect();
        assert_eq!(order, [(0, 7), (0, 8), (1, 7), (1, 8), (2, 7), (2, 8), (3, 7), (3, 8)]);
        assert_eq!(
            (0..4).map(|point| grid.values_at(point).join(" ")).collect::<Vec<_>>(),
            ["2 5", "2 6", "3 5", "3 6"]
        );
        let plan = grid.plan(5).expect("a plan");
        assert_eq!((plan.stations.len(), plan.medium.queue_limit, plan.medium.seed), (3, 5, 8));
    }

    #[test]
    fn a_value_is_what_its_key_wants_with_or_without_quotes() {
        let sets = [
            "medium.slot_time=512BT",
            "run.duration=1,'2'",
            "medium.bursting=false",
            "traffic.frame_size=64,'64:7,1518:1'",
        ];
        let grid = grid("", &sets, "1..3").expect("a grid");
        let plan = grid.plan(grid.runs() - 1).expect("a plan");
        assert_eq!((plan.run.duration.as_secs(), plan.medium.seed), (2, 3));
        assert_eq!(plan.traffic[0].sizes.as_ref().map(ToString::to_string).as_deref(), Some("64:7,1518:1"));
    }

    #[test]
    fn a_key_of_one_station_is_that_stations() {
        let scenario = "medium.topology = 'bus:500m'\n[[station]]\n[[station]]\nposition = '0m'\n";
        let grid = grid(scenario, &["station.2.position=100m,200m"], "1").expect("a grid");
        let places: Vec<String> =
            (0..2).map(|run| format!("{:?}", grid.plan(run).expect("a plan").medium.topology)).collect();
        assert_ne!(places[0], places[1]);
    }

    #[test]
    fn what_makes_no_grid_is_named_with_key_and_value() {
        let cases: [(&[&str], &str, &[&str]); 13] = [
            (&["medium.raet=10M"], "1", &["--set medium.raet=10M", "raet: no such key", "did you mean `rate`"]),
            (&["medium.slot_time=512BT,x"], "1", &["--set medium.slot_time=512BT,x", "`x`"]),
            (&["stations=2,-3"], "1", &["`-3`", "out of range"]),
            (&["stations=abc"], "1", &["abc", "a whole number from 1 to 1024"]),
            (&["stations"], "1", &["--set stations", "write it like"]),
            (&["seed=1,2"], "1", &["--seeds"]),
            (&["medium.rate=10M"], "1", &["--rate", "leave one"]),
            (&["stations=2", "stations=3"], "1", &["already"]),
            (&["station.1.position=5m"], "1", &["station.1.position", "no [[station]]"]),
            (&[".=5"], "1", &["is no key"]),
            (&["stations=2"], "0", &["--seeds 0", "1 to"]),
            (&["stations=2"], "1..x", &["--seeds 1..x", "is no seed"]),
            (&["stations=1..1000", "medium.queue=1..1001"], "1", &["1000000 runs"]),
        ];
        for (sets, seeds, words) in cases {
            let error = grid("", sets, seeds).expect_err(sets[0]);
            assert!(words.iter().all(|word| error.contains(word)), "{sets:?}: {error}");
        }
        let error = grid("[[station]]\n", &["station.2.position=5m"], "1").expect_err("one section only");
        assert!(error.contains("station.1."), "{error}");
    }

    #[test]
    fn combinations_that_do_not_fit_are_named_before_anything_runs() {
        let grid =
            grid("", &["stations=2,4", "medium.bursting=false,true"], "1").expect("each value by itself makes sense");
        let error = grid.check().expect_err("bursting at 10 Mb/s").to_string();
        assert!(error.contains("with stations = 2, medium.bursting = true") && error.contains("1Gbit/s"), "{error}");
    }
}
