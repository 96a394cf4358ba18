//! docs/trace.md names every kind of event and every column of it, and none that does not exist.

use medium::{Deed, Kind};
use std::collections::BTreeSet;

/// Columns of a line that are no fields of the event: the addressee of an offered frame.
const OF_THE_FRAME: [&str; 2] = ["destination", "tagged"];

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/trace.md");
    std::fs::read_to_string(path).expect("docs/trace.md is part of the source tree")
}

/// The rows of the first table that begins with `head`: in each cell, the words in backticks.
fn table(page: &str, head: &str) -> Vec<Vec<Vec<String>>> {
    let rows = page.lines().skip_while(|line| *line != head).skip(2).take_while(|line| line.starts_with('|'));
    let words = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let rows: Vec<_> = rows.map(|row| row.trim_matches('|').split('|').map(words).collect()).collect();
    assert!(!rows.is_empty(), "no table begins with {head}");
    rows
}

#[test]
fn every_kind_and_column_is_on_the_page() {
    let page = page();
    let kinds = table(&page, "| kind | columns | when | clause |");
    let told: Vec<&str> = kinds.iter().map(|row: &Vec<Vec<String>>| row[0][0].as_str()).collect();
    let known: Vec<&str> = Kind::ALL.iter().map(|(name, _)| *name).collect();
    assert_eq!(told, known, "the kinds, in order");
    for (row, (name, fields)) in kinds.iter().zip(Kind::ALL) {
        let mut own: Vec<&str> = fields.to_vec();
        if *name == "offered" {
            own.extend(OF_THE_FRAME);
        }
        assert_eq!(row[1], own, "the columns of {name}, in order");
    }
}

#[test]
fn every_column_says_what_it_is() {
    let columns = table(&page(), "| column | type, unit | what it is |");
    let told: BTreeSet<String> = columns.into_iter().flat_map(|row| row[0].clone()).collect();
    let fields = Kind::ALL.iter().flat_map(|(_, fields)| fields.iter().copied()).chain(OF_THE_FRAME);
    assert_eq!(told, fields.map(str::to_owned).collect());
}

#[test]
fn every_deed_is_on_the_page() {
    let deeds = table(&page(), "| deed | what |");
    let told: String = deeds.into_iter().flat_map(|row| row[0].clone()).collect();
    for word in <Deed>::WORDS {
        assert!(told.contains(&format!("\"{word}\":")), "{word}: {told}");
    }
}
