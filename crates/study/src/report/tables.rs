//! A report's tables of one run: what was done to the medium, each station's counters, who met whom, and backoff by
//! attempt.

use super::gather::Run;
use medium::{Deed, Input, Kind, StationId};
use sim::figures::counters::COUNTERS;
use sim::run::told::Told;
use sim::words::cable;
use sim::words::prose::escape;
use sim::words::units::group;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const ANY: &str = "a string takes any text";
/// Changes that are listed; further ones are counted.
const MOST_CHANGES: usize = 8;
/// Stations whose meetings are a matrix; of more, the pairs that met most often are listed.
const MOST_IN_MATRIX: usize = 24;
/// Pairs of that list.
const MOST_PAIRS: usize = 20;

/// What was done to the medium, with its instant in bit times.
pub fn changes(told: &Told) -> Vec<(u64, String)> {
    let name = |station: StationId| told.header.stations[station.index()].as_str();
    let topology = told.header.config().topology;
    let change = |input: &Input| match *input {
        Input::Deed(Deed::Cut(Some(cut))) => match cable::sides(cut, &topology) {
            Some([near, far]) => format!("the cable is cut between {} and {}", name(near), name(far)),
            None => format!("the cable is cut {} BT from its end", group(cut.position.get())),
        },
        Input::Deed(deed) => deed.sentence(name),
        Input::Offer { .. } => unreachable!("`Told::input` leaves them out"),
    };
    told.inputs.iter().map(|(_, at, input)| (at.get(), change(input))).collect()
}

/// The changes in lines, each after its instant as `when` writes it.
pub fn changes_told(told: &Told, when: impl Fn(u64) -> String) -> Vec<String> {
    let all = changes(told);
    let mut lines: Vec<String> =
        all.iter().take(MOST_CHANGES).map(|(at, change)| format!("{}: {change}", when(*at))).collect();
    let further = all.len().saturating_sub(MOST_CHANGES);
    if further > 0 {
        lines.push(format!("and {} more", group(further as u64)));
    }
    lines
}

/// All tables of a run, folded up.
pub fn tables(run: &Run) -> String {
    let mut text = format!("<h2>In detail: {}</h2>\n", escape(&run.label()));
    text += &fold("Counters of the stations", &counters(run));
    if let Some(told) = &run.told {
        text += &fold("Who met whom", &met(told));
        text += &fold("Backoff by attempt", &backoff(told));
    }
    text
}

fn fold(what: &str, table: &str) -> String {
    if table.is_empty() {
        return String::new();
    }
    format!("<details><summary>{what}</summary>\n<div class=\"wide\">{table}</div></details>\n")
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = "<table>\n<tr>".to_owned();
    head.iter().for_each(|one| write!(text, "<th>{}</th>", escape(one)).expect(ANY));
    text += "</tr>\n";
    for row in rows {
        text += "<tr>";
        for (number, cell) in row.iter().enumerate() {
            let class = if number == 0 { "" } else { " class=\"number\"" };
            write!(text, "<td{class}>{}</td>", escape(cell)).expect(ANY);
        }
        text += "</tr>\n";
    }
    text + "</table>"
}

/// Counters that count something, under their names of results.
fn counters(run: &Run) -> String {
    let stations = &run.results.stations;
    let counts = |name: &str| stations.iter().any(|station| station.counter(name) > 0);
    let used: Vec<&str> = COUNTERS.iter().map(|counter| counter.name).filter(|name| counts(name)).collect();
    let head: Vec<String> =
        std::iter::once("station").chain(used.iter().copied()).map(|name| name.replace('_', " ")).collect();
    let row = |station: &sim::figures::results::StationResults| {
        let counted = used.iter().map(|name| group(station.counter(name)));
        std::iter::once(station.name.clone()).chain(counted).collect()
    };
    table(&head, stations.iter().map(row))
}

/// How often two stations were in one collision.
fn meetings(told: &Told) -> BTreeMap<(usize, usize), u64> {
    let mut parties: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for event in told.events.iter().filter(|event| event.at >= told.begin) {
        if let Kind::Collision { episode: episode @ 1.., .. } = event.kind {
            parties.entry(episode).or_default().insert(event.frame.station.index());
        }
    }
    let mut pairs = BTreeMap::new();
    for all in parties.into_values() {
        for (place, one) in all.iter().enumerate() {
            for other in all.iter().skip(place + 1) {
                *pairs.entry((*one, *other)).or_insert(0) += 1;
            }
        }
    }
    pairs
}

fn met(told: &Told) -> String {
    let (pairs, names) = (meetings(told), &told.header.stations);
    if pairs.is_empty() {
        return String::new();
    }
    if names.len() > MOST_IN_MATRIX {
        let mut often: Vec<_> = pairs.into_iter().collect();
        often.sort_by_key(|(pair, count)| (std::cmp::Reverse(*count), *pair));
        let row = |((one, other), count): ((usize, usize), u64)| {
            vec![format!("{} and {}", names[one], names[other]), group(count)]
        };
        let head = ["the pairs that met most often", "collisions with both"].map(str::to_owned);
        return table(&head, often.into_iter().take(MOST_PAIRS).map(row));
    }
    let count = |one: usize, other: usize| pairs.get(&(one.min(other), one.max(other))).copied().unwrap_or(0);
    let head: Vec<String> =
        std::iter::once("collisions with both").chain(names.iter().map(String::as_str)).map(str::to_owned).collect();
    let row = |one: usize| {
        let cell = |other| if one == other { "–".to_owned() } else { group(count(one, other)) };
        std::iter::once(names[one].clone()).chain((0..names.len()).map(cell)).collect()
    };
    table(&head, (0..names.len()).map(row))
}

/// What was drawn after the first, second, third … collision of a frame.
fn backoff(told: &Told) -> String {
    let mut drawn: BTreeMap<u32, (u64, u64, u64)> = BTreeMap::new();
    for event in told.events.iter().filter(|event| event.at >= told.begin) {
        if let Kind::Backoff { attempt, slots } = event.kind {
            let (count, sum, most) = drawn.entry(attempt).or_default();
            (*count, *sum, *most) = (*count + 1, *sum + slots, slots.max(*most));
        }
    }
    if drawn.is_empty() {
        return String::new();
    }
    let row = |(attempt, (count, sum, most)): (u32, (u64, u64, u64))| {
        vec![attempt.to_string(), group(count), format!("{:.2}", sum as f64 / count as f64), group(most)]
    };
    let head = ["after attempt", "draws", "slots, mean", "slots, most"].map(str::to_owned);
    table(&head, drawn.into_iter().map(row))
}
