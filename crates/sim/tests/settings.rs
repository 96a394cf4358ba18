//! The tables of settings and of metrics, and what is made of them: documentation, JSON Schema, options, defaults.

use sim::figures::table;
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use sim::settings::keys::{ACCESS, EMULATOR, Key, MEDIUM, RUN, TABLES};
use sim::settings::options::OPTIONS;
use sim::settings::schema::{rows, schema};
use std::path::Path;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// Compares a file with what it should be, or rewrites it with `BLESS=1`.
#[track_caller]
fn holds(path: &str, now: &str) {
    let path = Path::new(DOCS).join(path);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, now).expect("the project's own folder");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == now, "{}: BLESS=1 cargo test -p ethbus-sim --test settings rewrites it", path.display());
}

/// Between a line `<!-- settings NAME -->` and `<!-- end -->` are the rows of that section.
#[test]
fn the_tables_of_the_page_are_made_from_the_table_of_settings() {
    let there = page_holds("scenario.md", "settings", rows);
    let is_missing = |name: &&str| !there.iter().any(|there| there == name) && !["SOURCE", "BRIDGE"].contains(name);
    assert_eq!(TABLES.iter().map(|(name, ..)| *name).find(is_missing), None, "a section that the page lacks");
    assert_eq!(page_holds("bridge.md", "settings", rows), ["BRIDGE"]);
}

/// The same of metrics: `<!-- metrics NAME -->`.
#[test]
fn the_tables_of_metrics_are_made_from_the_table_of_metrics() {
    assert_eq!(
        page_holds("results.md", "metrics", table::rows),
        ["NUMBERS", "DELAYS", "TCP", "PING", "UDP", "COUNTERS", "EMULATOR", "LINKS"]
    );
    assert_eq!(page_holds("access.md", "metrics", table::rows), ["SLOTTED", "CSMA_CA"]);
}

/// Compares the tables of a page with what they are made from, and gives their names.
#[track_caller]
fn page_holds(page: &str, of: &str, rows: fn(&str) -> Option<String>) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(DOCS).join(page)).expect("the page");
    let mark = format!("<!-- {of} ");
    let mut parts = text.split(&mark);
    let mut now = parts.next().expect("a beginning").to_owned();
    let mut there = Vec::new();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").expect("a name");
        let (_, after) = rest.split_once("<!-- end -->\n").expect("an end");
        let rows = rows(name).unwrap_or_else(|| panic!("no table {name}"));
        now += &format!("{mark}{name} -->\n{rows}<!-- end -->\n{after}");
        there.push(name.to_owned());
    }
    holds(page, &now);
    there
}

#[test]
fn the_schema_is_the_one_that_is_checked_in() {
    holds("scenario.schema.json", &format!("{:#}\n", schema()));
}

/// The part of a plan that settings of a whole scenario make.
fn planned(text: &str) -> String {
    let (scenario, source) = Scenario::from_text(Path::new("lab.toml"), text.to_owned()).expect(text);
    let plan = Plan::new(&scenario, Some(&source), &Overrides::default(), 1).expect(text);
    format!("{:?} {:?} {:?} {:?} {:?}", plan.medium, plan.run, plan.pace, plan.fan_out, plan.filter)
}

/// A default that is written in the table is the one that a scenario without the key has.
#[test]
fn every_default_is_the_one_that_is_written() {
    let mut compared = 0;
    for (section, keys) in [("medium", MEDIUM), ("access", ACCESS), ("run", RUN), ("emulator", EMULATOR)] {
        for key in keys {
            let written = key.default.split(';').next().expect("a part").trim();
            let Some(value) = value(written, key) else { continue };
            let method = ["csma-cd", "csma", "csma-ca"].into_iter().find(|&method| {
                let text = format!("[access]\nmethod = \"{method}\"\n");
                let with = match section {
                    "access" if key.name == "method" => return true,
                    "access" => format!("{text}{} = {value}\n", key.name),
                    _ => format!("{text}[{section}]\n{} = {value}\n", key.name),
                };
                let Ok((scenario, _)) = Scenario::from_text(Path::new("lab.toml"), with) else { return false };
                Plan::new(&scenario, None, &Overrides::default(), 1).is_ok()
            });
            let method = method.unwrap_or_else(|| panic!("no method has {} = {value}", key.name));
            let without = format!("[access]\nmethod = \"{method}\"\n");
            let with = match section {
                "access" if key.name == "method" => format!("[access]\nmethod = {value}\n"),
                "access" => format!("{without}{} = {value}\n", key.name),
                _ => format!("{without}[{section}]\n{} = {value}\n", key.name),
            };
            assert_eq!(planned(&with), planned(&without), "{} = {value}", key.name);
            compared += 1;
        }
    }
    assert!(compared > 20, "only {compared} defaults are values");
}

/// The text of a default that is a TOML value.
fn value<'a>(default: &'a str, key: &Key) -> Option<&'a str> {
    let value = default.trim_matches('`');
    let is_value = format!("v = {value}").parse::<toml::Table>().is_ok() && !key.default.is_empty();
    is_value.then_some(value)
}

/// An option's value is its key's: it makes the same plan, and a wrong one is refused with the option's name.
#[test]
fn an_option_says_what_its_key_says() {
    let option = |long: &str, value: &str| {
        let overrides = Overrides::default().with(long, value);
        let plan = Plan::new(&Scenario::default(), None, &overrides, 1).expect(long);
        format!("{:?} {:?} {:?} {:?} {:?}", plan.medium, plan.run, plan.pace, plan.fan_out, plan.filter)
    };
    for (long, value, text) in [
        ("rate", "100M", "[medium]\nrate = '100M'"),
        ("stations", "7", "stations = 7"),
        ("topology", "bus:500m", "[medium]\ntopology = 'bus:500m'"),
        ("access", "csma", "[access]\nmethod = 'csma'"),
        ("backoff", "uniform:7", "[access]\nbackoff = 'uniform:7'"),
        ("duration", "3s", "[run]\nduration = '3s'"),
        ("until", "2%", "[run]\nuntil = '2%'"),
        ("time-scale", "0.25", "[emulator]\ntime_scale = 0.25"),
        ("latency", "low", "[emulator]\nlatency = 'low'"),
        ("seed", "7", "seed = 7"),
    ] {
        assert_eq!(option(long, value), planned(text), "--{long} {value}");
    }
    let largest = Overrides::default().with("seed", u64::MAX);
    assert_eq!(Plan::new(&Scenario::default(), None, &largest, 1).expect("a plan").medium.seed, u64::MAX);
    for overruling in OPTIONS {
        let long = overruling.option.long;
        let error = Overrides::default().and(long, "no value, surely");
        match error {
            Err(error) => assert!(error.to_string().starts_with(&format!("--{long}: `no value")), "{error}"),
            Ok(_) => panic!("--{long} takes anything"),
        }
    }
}

/// A value of the command line replaces the file's, and an error about it names the option.
#[test]
fn an_option_overrules_the_file() {
    let text = "[medium]\nrate = '1Gbit/s'\n[access]\nmethod = 'csma'\n";
    let (scenario, source) = Scenario::from_text(Path::new("lab.toml"), text.to_owned()).expect(text);
    let plan = |overrides: &Overrides| Plan::new(&scenario, Some(&source), overrides, 1);
    let slower = plan(&Overrides::default().with("rate", "10M")).expect("a plan");
    assert_eq!(slower.medium.rate.get(), 10_000_000);
    let error = plan(&Overrides::default().with("access", "plca")).expect_err("1 Gbit/s").to_string();
    assert!(error.starts_with("lab.toml:2:8: rate: "), "{error}");
    let both = Overrides::default().with("access", "plca").with("rate", "100M");
    let error = plan(&both).expect_err("100 Mbit/s").to_string();
    assert!(error.starts_with("--rate: `100Mbit/s`: "), "{error}");
    let error = plan(&Overrides::default().with("bursting", "on")).expect_err("of CSMA/CD").to_string();
    assert_eq!(error, "--bursting: CSMA detects no collision, and has no such thing: leave it out");
}
