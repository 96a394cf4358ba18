//! The options that Python's functions take are those of the commands: packaging/python/src/ethbus/_options.py is made
//! from the command line. `BLESS=1 cargo test --test house python::` rewrites it.

use clap::{ArgAction, Command};
use ethbus::cli::args;
use std::fmt::Write as _;

const FILE: &str = "packaging/python/src/ethbus/_options.py";

/// The functions, their commands, and the options that they give themselves.
const FUNCTIONS: &[(&str, &[&str])] = &[
    ("up", &["format", "background"]),
    ("sim", &["format"]),
    ("sweep", &["out", "set"]),
    ("explain", &["format", "frame"]),
    ("plot", &["out"]),
    ("report", &["out"]),
];

const HEAD: &str = r#""""The options of commands, for editors and type checkers: a name of Python has `_` for `-`.

Made from the command line: BLESS=1 cargo test --test house python:: rewrites it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypedDict, Union

Value = Union[str, int, float, "os.PathLike[str]"]
"#;

#[test]
fn functions_of_python_have_the_options_of_their_commands() {
    let mut now = HEAD.to_owned();
    let whole = args::command();
    for (name, own) in FUNCTIONS {
        let command = whole.find_subcommand(name).unwrap_or_else(|| panic!("no command {name}"));
        now += &options(command, own);
    }
    super::help::holds(FILE, &now);
}

fn options(command: &Command, own: &[&str]) -> String {
    let name = command.get_name();
    let title = name[..1].to_uppercase() + &name[1..];
    let mut class =
        format!("\n\nclass {title}Options(TypedDict, total=False):\n    \"\"\"Options of `ethbus {name}`.\"\"\"\n");
    let is_wanted = |option: &&clap::Arg| {
        let long = option.get_long().unwrap_or_default();
        !option.is_hide_set() && !own.contains(&long) && !["", "help", "version"].contains(&long)
    };
    for option in command.get_arguments().filter(is_wanted) {
        let takes = match option.get_action() {
            ArgAction::Append => "Union[Value, Sequence[Value]]",
            _ if option.get_num_args().is_some_and(|values| values.takes_values()) => "Value",
            _ => "bool",
        };
        let name = name_of(option.get_long().expect("an option"));
        let help = option.get_help().unwrap_or_else(|| panic!("no help of {name}")).to_string();
        let help = help.lines().next().expect("a line").replace('\\', "\\\\");
        write!(class, "\n    {name}: {takes}\n    \"\"\"{help}\"\"\"\n").expect("a string takes any text");
    }
    class
}

/// The name of an option in Python, where `from` and `lambda` are words of the language.
fn name_of(option: &str) -> String {
    let name = option.replace('-', "_");
    if ["from", "lambda", "in", "is"].contains(&name.as_str()) { name + "_" } else { name }
}
