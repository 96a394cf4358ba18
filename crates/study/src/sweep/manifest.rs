//! The file beside a sweep's table that names the table's grid: all that determines the table's content.
//!
//! So another command never continues a sweep, and shards of different grids are never merged.

use super::choice::Choice;
use super::error::TableError;
use super::further::Wanted;
use super::grid::{Axis, Grid};
use super::part::{Part, Shard, Span};
use super::seeds::Enough;
use serde::{Deserialize, Serialize};
use sim::files::output::{Kind, OutputError, replace};
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// The format's version.
const VERSION: u32 = 1;

/// The manifest as a file.
const MANIFEST: Kind = Kind { what: "what `ethbus sweep` writes beside its table", beginnings: &[b"{"] };

/// What a table is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    version: u32,
    /// The program's version: another may have other columns, or another engine.
    ethbus: String,
    /// The scenario file's text.
    scenario: String,
    /// Options over the scenario.
    options: Vec<(String, String)>,
    /// Each key and its values.
    set: Vec<(String, Vec<String>)>,
    /// The combinations, where they are not all that the values give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<Choice>,
    seeds: Vec<u64>,
    /// When a combination needs no further one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enough: Option<Enough>,
    timing: bool,
    /// What a folder has beside the rows of runs.
    #[serde(default, skip_serializing_if = "Wanted::is_empty")]
    beside: Wanted,
    /// Which runs of the grid.
    shard: Shard,
    /// The same where they follow one another; then `shard` is the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<Span>,
    /// The scenario file's name as it was given: for messages, and no part of what the table is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// CRC-32 of the finished table, header and rows in the grid's order; none before it is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows_crc32: Option<u32>,
}

/// Why there is no manifest to be had.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is no manifest.
    #[error("{}: this is not what `ethbus sweep` writes beside its table", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
}

impl Manifest {
    /// The manifest for a table of `part` of `grid`; `options` override the scenario.
    pub fn new(grid: &Grid, options: &[(&str, String)], timing: bool, part: Part) -> Manifest {
        let axes = grid.axes().iter();
        let choice = grid.choice().cloned();
        let is_sampled = choice.as_ref().is_some_and(|choice| choice.wish.sample.is_some());
        let texts = |axis: &Axis| match is_sampled {
            true => vec![axis.written.clone()],
            false => axis.texts().map(str::to_owned).collect(),
        };
        Manifest {
            version: VERSION,
            ethbus: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: grid.text().to_owned(),
            options: options.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect(),
            set: axes.map(|axis| (axis.key.clone(), texts(axis))).collect(),
            choice,
            seeds: grid.seeds().to_owned(),
            enough: None,
            timing,
            beside: Wanted::default(),
            shard: Shard::WHOLE,
            rows: None,
            file: grid.path().map(|path| path.display().to_string()),
            rows_crc32: None,
        }
        .of(part)
    }

    /// The same where seeds are added until they are enough.
    #[must_use]
    pub fn with_enough(self, enough: Option<Enough>) -> Manifest {
        Manifest { enough, ..self }
    }

    /// The same where a folder has more than a row for each run.
    #[must_use]
    pub fn with_beside(self, beside: Wanted) -> Manifest {
        Manifest { beside, ..self }
    }

    /// What a folder has beside the rows of runs.
    pub fn beside(&self) -> &Wanted {
        &self.beside
    }

    /// When a combination has enough seeds, where that is before it has all.
    pub fn enough(&self) -> Option<&Enough> {
        self.enough.as_ref()
    }

    /// Which runs of the grid the table has.
    pub fn part(&self) -> Part {
        self.rows.map_or(Part::Shard(self.shard), Part::Rows)
    }

    /// How many runs go to one shard together: where seeds are added, all of a combination, since their number follows from them.
    pub fn together(&self) -> u64 {
        self.enough.as_ref().map_or(1, |_| self.seeds.len().max(1) as u64)
    }

    /// Whether the table has, or may have, run `run`, from 0.
    pub fn has(&self, run: u64) -> bool {
        self.part().has(run, self.together())
    }

    /// How many runs the table has; where seeds are added, at most.
    pub fn share(&self) -> u64 {
        self.part().share(self.runs(), self.together())
    }

    /// The checksum of the finished table, if it is finished.
    pub fn rows_crc32(&self) -> Option<u32> {
        self.rows_crc32
    }

    /// The same, of a finished table with this checksum.
    pub fn finished(&self, rows_crc32: u32) -> Manifest {
        Manifest { rows_crc32: Some(rows_crc32), ..self.clone() }
    }

    /// The version of the program that wrote it.
    pub fn version(&self) -> &str {
        &self.ethbus
    }

    /// The scenario file's text.
    pub fn scenario(&self) -> &str {
        &self.scenario
    }

    /// The scenario file's name as it was given.
    pub fn scenario_file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Options over the scenario, each with its value.
    pub fn options(&self) -> &[(String, String)] {
        &self.options
    }

    /// Each key and its values.
    pub fn set(&self) -> &[(String, Vec<String>)] {
        &self.set
    }

    /// Every value of a key, if the grid has it.
    pub fn values_of(&self, key: &str) -> Option<Vec<&str>> {
        if let Some(Choice { keys, points, .. }) = &self.choice {
            let place = keys.iter().position(|known| known == key)?;
            return Some(points.iter().filter_map(|point| point.get(place)).map(String::as_str).collect());
        }
        let (_, values) = self.set.iter().find(|(known, _)| known == key)?;
        Some(values.iter().map(String::as_str).collect())
    }

    /// Which combinations are run, where it is not all of them.
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_ref()
    }

    /// The seeds of every combination.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// Whether the table has wall-clock times.
    pub fn timing(&self) -> bool {
        self.timing
    }

    /// The same grid's, for another part of it.
    pub fn of(self, part: Part) -> Manifest {
        let (shard, rows) = match part {
            Part::Shard(shard) => (shard, None),
            Part::Rows(span) => (Shard::WHOLE, Some(span)),
        };
        Manifest { shard, rows, rows_crc32: None, ..self }
    }

    /// How many runs the whole grid has.
    pub fn runs(&self) -> u64 {
        if let Some(choice) = &self.choice {
            return (choice.points.len() as u64).saturating_mul(self.seeds.len() as u64);
        }
        self.set.iter().fold(self.seeds.len() as u64, |runs, (_, values)| runs.saturating_mul(values.len() as u64))
    }

    /// Each key with its value in run `run`, from 0.
    pub fn values(&self, run: u64) -> Vec<(&str, &str)> {
        let mut rest = run / self.seeds.len().max(1) as u64;
        if let Some(Choice { keys, points, .. }) = &self.choice {
            let point = usize::try_from(rest).ok().and_then(|place| points.get(place));
            return keys.iter().map(String::as_str).zip(point.into_iter().flatten().map(String::as_str)).collect();
        }
        let mut pairs = Vec::new();
        for (key, values) in self.set.iter().rev() {
            let number = values.len().max(1) as u64;
            pairs.extend(values.get((rest % number) as usize).map(|value| (key.as_str(), value.as_str())));
            rest /= number;
        }
        pairs.reverse();
        pairs
    }

    /// The seed of run `run`, from 0.
    pub fn seed(&self, run: u64) -> u64 {
        self.seeds[(run % self.seeds.len() as u64) as usize]
    }

    /// Whether `other` differs in nothing but further seeds. Shards are left alone: the others would not have them.
    pub fn has_fewer_seeds(&self, other: &Manifest) -> bool {
        let more = self.seeds.len() < other.seeds.len() && other.seeds.starts_with(&self.seeds);
        more && self.part() == Part::WHOLE && {
            let (seeds, file) = (other.seeds.clone(), other.file.clone());
            Manifest { seeds, file, rows_crc32: other.rows_crc32, ..self.clone() } == *other
        }
    }

    /// The number in `other`, which has further seeds, of run `run`.
    pub fn run_in(&self, other: &Manifest, run: u64) -> u64 {
        let (own, others) = (self.seeds.len() as u64, other.seeds.len() as u64);
        run / own * others + run % own
    }

    /// Its place, beside the table.
    pub fn path(table: &Path) -> PathBuf {
        let mut name = table.as_os_str().to_owned();
        name.push(".grid.json");
        name.into()
    }

    /// Reads the one beside `table`; `None` if there is none.
    ///
    /// # Errors
    /// The file cannot be read, or is no manifest.
    pub fn read(table: &Path) -> Result<Option<Manifest>, ManifestError> {
        let path = Manifest::path(table);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ManifestError::Read { path, source }),
        };
        Manifest::of_json(&text).map(Some).map_err(|source| ManifestError::Content { path, source })
    }

    /// Reads the one beside `table`, which has one if a sweep wrote it.
    ///
    /// # Errors
    /// There is none, it cannot be read, or is none.
    pub fn of_table(table: &Path) -> Result<Manifest, TableError> {
        Manifest::read(table)?.ok_or_else(|| TableError::Unknown { path: table.to_owned() })
    }

    /// Reads one that others may have written.
    ///
    /// # Errors
    /// The text is no manifest.
    pub fn of_json(text: &[u8]) -> Result<Manifest, serde_json::Error> {
        let manifest: Manifest = serde_json::from_slice(text)?;
        match manifest.is_sound() {
            true => Ok(manifest),
            false => Err(serde::de::Error::custom("a shard, rows, seeds or combinations that cannot be")),
        }
    }

    /// Whether a sweep can have written it.
    pub fn is_sound(&self) -> bool {
        let Shard { number, of } = self.shard;
        let mut widths =
            self.choice.iter().flat_map(|choice| choice.points.iter().map(|it| it.len() == choice.keys.len()));
        let spans = self.rows.is_none_or(|Span { first, last }| (1..=last).contains(&first) && last < u64::MAX);
        (1..=of).contains(&number) && spans && !self.seeds.is_empty() && widths.all(|fits| fits)
    }

    /// Writes it beside `table`, whole or not at all.
    ///
    /// # Errors
    /// The disk is full, or the like.
    pub fn write(&self, table: &Path) -> Result<(), OutputError> {
        let text = serde_json::to_string_pretty(self).expect("numbers and names") + "\n";
        replace(&Manifest::path(table), MANIFEST, text.as_bytes())
    }

    /// What differs from `other`, in words; `None` if the grids are the same, whatever the shard.
    pub fn difference(&self, other: &Manifest) -> Option<String> {
        let both =
            |what: &str, one: &dyn Display, another: &dyn Display| format!("{what}: there {one}, here {another}");
        if self.version != other.version || self.ethbus != other.ethbus {
            return Some(both("the version of ethbus", &self.ethbus, &other.ethbus));
        }
        if self.scenario != other.scenario {
            return Some("the scenario's text".to_owned());
        }
        if self.timing != other.timing {
            return Some(both("--timing", &self.timing, &other.timing));
        }
        let enough = |known: &Manifest| match &known.enough {
            Some(Enough { until, first }) => format!("--until {until} from {first} seeds on"),
            None => "none".to_owned(),
        };
        if self.enough != other.enough {
            return Some(both("--max-seeds", &enough(self), &enough(other)));
        }
        let tables = |known: &Manifest| match known.beside.is_empty() {
            true => "none".to_owned(),
            false => known.beside.options().iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" "),
        };
        if self.beside != other.beside {
            return Some(both("--tables", &tables(self), &tables(other)));
        }
        let pairs =
            |pairs: &[(String, String)]| pairs.iter().map(|(name, text)| format!("{name} {text}")).collect::<Vec<_>>();
        let sets = |sets: &[(String, Vec<String>)]| -> Vec<String> {
            sets.iter().map(|(key, values)| format!("--set {key}={}", values.join(","))).collect()
        };
        let wishes = |choice: &Option<Choice>| -> Vec<String> {
            let options = choice.iter().flat_map(|choice| choice.wish.options());
            options.map(|(option, text)| format!("{option} {text}")).collect()
        };
        let lists = [
            ("conditions", wishes(&self.choice), wishes(&other.choice)),
            ("options", pairs(&self.options), pairs(&other.options)),
            ("keys", sets(&self.set), sets(&other.set)),
        ];
        let Some((what, one, another)) = lists.into_iter().find(|(_, one, another)| one != another) else {
            return (self.seeds != other.seeds).then(|| both("seeds", &listed(&self.seeds), &listed(&other.seeds)));
        };
        let only = |here: &[String], there: &[String]| {
            let own: Vec<&str> = here.iter().filter(|text| !there.contains(text)).map(String::as_str).collect();
            if own.is_empty() { "nothing more".to_owned() } else { own.join(" ") }
        };
        let (there, here) = (only(&one, &another), only(&another, &one));
        Some(if there == here { format!("the order of {what}") } else { both(what, &there, &here) })
    }
}

/// Seeds as `--seeds` takes them: `1..5` where one follows the other.
fn listed(seeds: &[u64]) -> String {
    match seeds {
        [first, .., last] if seeds.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1])) => {
            format!("{first}..{last}")
        }
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    }
}
