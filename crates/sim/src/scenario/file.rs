//! How a scenario is read: from a file or a text, with all that is wrong in it and where. See docs/scenario.md.
//!
//! Its sections are those of the table of settings. `check` looks at each value by itself, and whether values fit together
//! is for `plan` to say.

pub use crate::settings::sections::{
    AccessSection, AtSection, BridgeSection, CutSection, EmulatorSection, FrameSection, Given, KernelSection,
    MediumSection, PlcaSection, RepeaterSection, RunSection, Scenario, SegmentSection, SourceSection, StationSection,
    TrafficSection, span, value,
};
pub use crate::settings::values::{
    AccessMethod, ArrivalsText, BackoffText, BitTimesText, CaptureText, ControlText, DurationText, FaultText,
    HostDelayText, InstantText, LengthText, MacText, MachineText, Network, OctetsNumber, OwnAddress, PersistenceText,
    PhyText, PlaceText, PopulationChoice, PortKind, PpmText, RateText, RetryLimitsText, RunTimeText, SizesText,
    SpeedText, SpiClockText, TopologyText, UntilText, WindowText,
};

use crate::files::output::LINES;
use crate::scenario::check;
use crate::scenario::wrong::{FilePlace, Wrong, Wrongs};
use serde::Deserialize;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// Where a scenario's text came from, so that an error can name the place.
#[derive(Clone, Debug)]
pub struct SourceText {
    path: PathBuf,
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl SourceText {
    /// The text of the file `path`.
    pub fn new(path: &Path, text: String) -> SourceText {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect();
        SourceText { path: path.to_owned(), text, lines }
    }

    /// File, line and column of the octets `span` of the text.
    pub fn place(&self, span: Range<usize>) -> FilePlace {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line = self.lines.partition_point(|begin| *begin <= before.len());
        let column = before[self.lines[line - 1]..].chars().count() + 1;
        FilePlace { file: self.path.display().to_string(), line, column }
    }

    /// All of it.
    pub fn whole(&self) -> &str {
        &self.text
    }

    /// The text at `span`.
    pub fn text(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The line in which the octet `at` is.
    pub fn line_at(&self, at: usize) -> &str {
        let at = at.min(self.text.len());
        let begin = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        self.text.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or_default()
    }
}

/// Why a scenario file could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file could not be read.
    #[error("{}: cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Keys are unknown, or values are wrong: all that are.
    #[error("{0}")]
    Content(Wrongs),
}

/// What a file says, as far as it makes sense.
#[derive(Debug)]
pub struct Reading {
    /// All that is right in it.
    pub scenario: Scenario,
    /// Where it came from.
    pub source: SourceText,
    /// All that is wrong in it.
    pub wrongs: Vec<Wrong>,
    /// Sections from which wrong values were taken out; empty text for the top of the file.
    pub broken: Vec<&'static str>,
    /// A line is no TOML, so the meaning of the file is unknown.
    pub is_broken: bool,
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// A file that cannot be read; unknown keys and bad values, all of them, with file, line, column and key.
    pub fn read(path: &Path) -> Result<(Scenario, SourceText), ScenarioError> {
        Scenario::from_text(path, file_text(path)?)
    }

    /// Reads a scenario from `text`, which is the content of the file `path`, or was made from it.
    ///
    /// # Errors
    /// Unknown keys and bad values, all of them, with file, line, column and key.
    pub fn from_text(path: &Path, text: String) -> Result<(Scenario, SourceText), ScenarioError> {
        let reading = Reading::of(path, text);
        match reading.wrongs.is_empty() {
            true => Ok((reading.scenario, reading.source)),
            false => Err(ScenarioError::Content(Wrongs::new(reading.wrongs))),
        }
    }
}

/// The longest scenario file. 1,024 stations with every key take a tenth of it.
const LARGEST: u64 = 4 << 20;

/// The octets of a file, a device or a pipe that is no longer than a scenario can be; of a trace, its beginning.
fn octets(path: &Path) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut octets)?;
    match octets.len() as u64 {
        ..=LARGEST => Ok(octets),
        _ if is_log(&octets) => Ok(octets),
        _ => Err(io::Error::other(format!("it has more than {} MiB, and no scenario has", LARGEST >> 20))),
    }
}

/// Whether a file begins like a trace of ours.
fn is_log(octets: &[u8]) -> bool {
    LINES.beginnings.iter().any(|beginning| octets.starts_with(beginning))
}

/// The text of a scenario file.
///
/// # Errors
/// The file cannot be read, or is no text.
pub fn file_text(path: &Path) -> Result<String, ScenarioError> {
    let octets = octets(path).map_err(|source| ScenarioError::Read { path: path.to_owned(), source })?;
    if is_log(&octets) {
        let place = FilePlace { file: path.display().to_string(), line: 1, column: 1 };
        let what = format!("this is {}, and no scenario: `ethbus explain` and `ethbus replay` read it", LINES.what);
        return Err(ScenarioError::Content(Wrong { place: Some(place), name: String::new(), what }.into()));
    }
    String::from_utf8(octets).map_err(|error| {
        let (right, octets) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let source = SourceText::new(path, String::from_utf8_lossy(&octets[..right]).into_owned());
        let what = format!("octet 0x{:02X} is no text in UTF-8: save the file as UTF-8", octets[right]);
        let place = Some(source.place(right..right));
        ScenarioError::Content(Wrong { place, name: String::new(), what }.into())
    })
}

impl Reading {
    /// Reads what can be read of `text`, and finds all that is wrong in it.
    pub fn of(path: &Path, text: String) -> Reading {
        let source = SourceText::new(path, text.clone());
        let (mut table, errors) = DeTable::parse_recoverable(&text);
        let mut wrongs: Vec<Wrong> =
            errors.iter().take(Wrongs::MOST).map(|error| check::syntax(&source, error)).collect();
        // One error leads to others on its line.
        wrongs.sort_by(|one, other| one.place.cmp(&other.place));
        wrongs.dedup_by_key(|wrong| wrong.place.as_ref().map(|place| place.line));
        // Behind a heading that is none, values would belong to another section.
        let is_value =
            |error: &toml::de::Error| source.line_at(error.span().map_or(0, |span| span.start)).contains('=');
        if !errors.iter().all(is_value) {
            return Reading { scenario: Scenario::default(), source, wrongs, broken: Vec::new(), is_broken: true };
        }
        let found = check::check(&source, table.get_mut());
        let line = |wrong: &Wrong| wrong.place.as_ref().map(|place| place.line);
        let mut is_broken = !wrongs.is_empty();
        let known: HashSet<Option<usize>> = wrongs.iter().map(line).collect();
        wrongs.extend(found.wrongs.into_iter().filter(|wrong| !known.contains(&line(wrong))));
        let scenario = Scenario::deserialize(toml::de::Deserializer::from(table)).unwrap_or_else(|error| {
            is_broken = true;
            let place = Some(source.place(error.span().unwrap_or(0..0)));
            let wrong = Wrong { place, name: String::new(), what: error.message().to_owned() };
            // What is no TOML was said of that line already.
            wrongs.extend(Some(wrong).filter(|wrong| !known.contains(&line(wrong))));
            Scenario::default()
        });
        Reading { scenario, source, wrongs, broken: found.broken, is_broken }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn error(text: &str) -> String {
        Scenario::from_text(Path::new("lab.toml"), text.to_owned()).expect_err(text).to_string()
    }

    #[test]
    fn a_whole_scenario_is_read() {
        let scenario: Scenario = toml::from_str(
            "name = 'lab'\nseed = 7\nipv4 = '10.1.0.0/24'\n[medium]\nrate = '100Mbit/s'\ntopology = 'bus:500m'\n\
             propagation_speed = '0.66c'\nqueue = 50\n[[station]]\nname = 'a'\nposition = '10 m'\n\
             mac = '02:00:00:00:00:01'\nipv6 = 'fd00::1/64'\n",
        )
        .expect("a valid scenario");
        assert_eq!(scenario.medium.rate.map(|rate| rate.into_inner()), Some(RateText(100_000_000)));
        assert_eq!(scenario.station.len(), 1);
    }

    /// A trace that was given by mistake is one error, and not one for each of its lines.
    #[test]
    fn a_log_is_no_scenario() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("run.events");
        let log = "{\"format\":\"ethbus event log\",\"version\":1}\n".to_owned() + &"{\"t\":5}\n".repeat(1 << 20);
        std::fs::write(&path, log).expect("own folder");
        let told = file_text(&path).expect_err("a log").to_string();
        assert!(
            told.ends_with(":1:1: this is a trace, and no scenario: `ethbus explain` and `ethbus replay` read it"),
            "{told}"
        );
    }

    /// Each unknown key costs a search for what was meant.
    #[test]
    fn the_check_stops_after_fifty_errors() {
        let keys = |count: usize| (0..count).map(|number| format!("key{number} = 1\n")).collect::<String>();
        assert!(error(&keys(49)).ends_with("\nand 29 errors more"), "{}", error(&keys(49)));
        assert!(error(&keys(100_000)).ends_with("\nand more: the check stops after 50 errors"));
    }

    /// The place of each of n errors costs the same, wherever it is.
    #[test]
    fn places_are_found_at_ends_and_between() {
        let source = SourceText::new(Path::new("lab.toml"), "ab\né=1\n".to_owned());
        let place = |at: usize| {
            let FilePlace { line, column, .. } = source.place(at..at);
            (line, column)
        };
        assert_eq!([0, 2, 3, 5, 8, 99].map(place), [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (3, 1)]);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_what_would_be_allowed() {
        let error = error("[medium]\nraet = '10M'\n");
        assert!(error.contains("lab.toml:2:1:") && error.contains("raet") && error.contains("`rate`"), "{error}");
    }

    #[test]
    fn a_bad_unit_is_named_with_its_line_and_what_would_be_right() {
        let error = error("seed = 1\n[medium]\nrate = '10 bananas'\n");
        assert!(
            error.contains("lab.toml:3:8: rate:") && error.contains("bananas") && error.contains("10Mbit/s"),
            "{error}"
        );
        for text in [
            "[medium]\ntopology = 'ring:5m'",
            "[medium]\ntopology = 'bus:5'",
            "ipv4 = '10.0.0.0'",
            "ipv4 = '10.0.0.0/33'",
        ] {
            assert!(self::error(text).contains("write"), "{text}");
        }
        assert!(self::error("[[station]]\nmac = '01:00:00:00:00:01'").contains("group"));
    }
}
