//! Results as Python has them: packaging/python/src/ethbus/results.py is made from the types of results and from the
//! tables of metrics. `BLESS=1 cargo test -p ethbus-sim --lib python::` rewrites it.

use crate::figures::bridge::BridgedResults;
use crate::figures::counters::COUNTERS;
use crate::figures::emulator::{self, LINKS};
use crate::figures::stacks::Protocol;
use crate::figures::table::{
    CSMA_CA, DELAYS, FIGURES, LONGEST, NUMBERS, SLOTTED, TCP_GOODPUT, WHOLE, label, of_stacks,
};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::path::Path;

const FILE: &str = "../../packaging/python/src/ethbus/results.py";

/// Words of Python, which are no names of members: `from_`.
const KEYWORDS: [&str; 6] = ["as", "class", "from", "in", "is", "pass"];

/// The results of one bus.
const RUN: &str = "Results";

/// The beginning of the file.
const HEAD: &str = r#""""Results of a run, as ethbus reports them; docs/results.md describes them.

Made from the types and tables of crates/sim/src/figures: BLESS=1 cargo test -p ethbus-sim --lib python:: rewrites it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from ._record import Record, Run
"#;

#[test]
fn the_classes_of_python_are_made_from_the_types_and_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let now = module();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &now).expect("the project's own folder");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == now, "{}: BLESS=1 cargo test -p ethbus-sim --lib python:: rewrites it", path.display());
}

fn module() -> String {
    let schema = schemars::schema_for!(BridgedResults).to_value();
    let types = schema["$defs"].as_object().expect("types of their own");
    let mut module = HEAD.to_owned();
    for (name, of) in types {
        // Half-widths are members of their own.
        if of["type"] == "object" && name != RUN {
            module += &class(name, "Record", of);
        }
    }
    module += &class(RUN, "Run", &types[RUN]);
    module += &class("BridgedResults", "Record", &schema);
    module + &labels()
}

/// A member of a class: its type in Python, and what it is.
struct Member {
    name: String,
    of: String,
    about: String,
}

fn class(name: &str, base: &str, schema: &Value) -> String {
    let about = schema["description"].as_str().unwrap_or_else(|| panic!("{name} has no comment"));
    let mut class = format!("\n\n@dataclass(frozen=True)\nclass {name}({base}):\n    {}\n", docstring(about));
    for Member { name, of, about } in members(schema) {
        write!(class, "\n    {name}: {of}\n    {}\n", docstring(&about)).expect("a string takes any text");
    }
    class
}

/// The members of a type: first those of no table, then those of tables in their order.
fn members(schema: &Value) -> Vec<Member> {
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let required = |name: &String| schema["required"].as_array().is_some_and(|all| all.contains(&name.clone().into()));
    // Those of stacks are in a table under longer names.
    let of_stack = |protocol: &Protocol| properties.keys().all(|name| about(&format!("{protocol}_{name}")).is_some());
    let prefix = Protocol::ALL.into_iter().find(of_stack).map_or(String::new(), |protocol| format!("{protocol}_"));
    let member = |(name, property): (&String, &Value)| Member {
        name: if KEYWORDS.contains(&name.as_str()) { format!("{name}_") } else { name.replace('-', "_") },
        of: if required(name) { of(property) } else { of_optional(property) },
        about: about(&format!("{prefix}{name}"))
            .unwrap_or_else(|| property["description"].as_str().expect("a comment").to_owned()),
    };
    let own = properties.iter().map(member);
    let mut members: Vec<Member> = own.chain(further(&schema["additionalProperties"])).collect();
    members.sort_by_key(|member| tabled().position(|(name, _)| name == member.name));
    members
}

/// Members that a map beside the others has: counters of a station, half-widths of metrics.
fn further(values: &Value) -> Vec<Member> {
    let Value::Object(values) = values else { return Vec::new() };
    let member = |name: &str, of: &str| Member {
        name: name.to_owned(),
        of: of.to_owned(),
        about: about(name).expect("of a table"),
    };
    if !values.contains_key("$ref") {
        return COUNTERS.iter().map(|it| member(it.name, "int")).collect();
    }
    let numbers = NUMBERS.iter().map(|it| it.name).chain(slotted().map(|(name, _)| name)).chain([TCP_GOODPUT]);
    let numbers = numbers.map(|name| member(name, "Optional[float]"));
    numbers.chain(DELAYS.iter().map(|it| member(it.name, "Optional[dict[str, float]]"))).collect()
}

fn slotted() -> impl Iterator<Item = (&'static str, &'static str)> {
    SLOTTED.iter().chain(CSMA_CA).chain(WHOLE).map(|it| (it.name, it.about))
}

/// Every name of a table, and what it is.
fn tabled() -> impl Iterator<Item = (&'static str, &'static str)> {
    let numbers = NUMBERS.iter().map(|it| (it.name, it.about)).chain(DELAYS.iter().map(|it| (it.name, it.about)));
    let counters = COUNTERS.iter().map(|it| (it.name, it.about));
    let figures = emulator::figures().map(|it| (it.name, it.about));
    let links = LINKS.iter().map(|it| (it.name, it.about));
    let stacks = of_stacks().map(|it| (it.name, it.about));
    numbers.chain(slotted()).chain(stacks).chain(counters).chain(figures).chain(links)
}

/// What a member is, if it is of a table.
fn about(name: &str) -> Option<String> {
    // The page says at more length above its table what a verdict is.
    tabled().find(|(it, about)| *it == name && *about != "see above").map(|(_, about)| about.to_owned())
}

/// The type of a value in Python.
fn of(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().expect("a name").to_owned();
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        return format!("Optional[{}]", of(&choices[0]));
    }
    match &schema["type"] {
        Value::Array(types) => format!("Optional[{}]", simple(types[0].as_str().expect("a type"), schema)),
        kind => simple(kind.as_str().unwrap_or_else(|| panic!("no type: {schema}")), schema),
    }
}

fn simple(kind: &str, schema: &Value) -> String {
    match kind {
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "string" => "str".to_owned(),
        "boolean" => "bool".to_owned(),
        "array" => format!("list[{}]", of(&schema["items"])),
        "object" => match (&schema["patternProperties"], &schema["additionalProperties"]) {
            (Value::Object(patterns), _) => format!("dict[int, {}]", of(patterns.values().next().expect("a pattern"))),
            (_, Value::Bool(true)) => "dict[str, Any]".to_owned(),
            (_, values) => format!("dict[str, {}]", of(values)),
        },
        other => panic!("no type of Python for {other}"),
    }
}

/// The type of a member that may be left out: a number or a text is then `None`, a list empty, a truth `False`.
fn of_optional(schema: &Value) -> String {
    let of = of(schema);
    let is_none = schema["default"].is_null() && ["int", "float", "str"].contains(&of.as_str());
    if is_none { format!("Optional[{of}]") } else { of }
}

/// Text of Markdown as a docstring, within the width of the file. A link is its text.
fn docstring(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((words, after)) = link.split_once("](") else { break };
        let (_, after) = after.split_once(')').expect("the end of a link");
        text += before;
        text += words;
        rest = after;
    }
    text += rest;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("a line");
        if line.chars().count() + word.chars().count() > 100 {
            lines.push(word.to_owned());
        } else {
            let space = if line.is_empty() { "" } else { " " };
            *line += &format!("{space}{word}");
        }
    }
    format!("\"\"\"{}\"\"\"", lines.join("\n    "))
}

/// Labels and units of metrics, under the names of their columns.
fn labels() -> String {
    let mut labels = "\n\nLABELS: dict[str, tuple[str, str]] = {\n".to_owned();
    let numbers = NUMBERS.iter().map(|it| it.name.to_owned());
    let figures = || FIGURES.iter().map(|it| it.name).chain([LONGEST.0]);
    let delays = DELAYS.iter().flat_map(|it| figures().map(move |figure| format!("{}_{figure}", it.name)));
    for column in numbers.chain(delays).chain(slotted().map(|(name, _)| name.to_owned())) {
        let (words, unit) = label(&column).expect("a column of the table");
        writeln!(labels, "    {column:?}: ({words:?}, {unit:?}),").expect("a string takes any text");
    }
    labels + "}\n\"\"\"Label and unit of each metric, under the name of its column in CSV.\"\"\"\n"
}
