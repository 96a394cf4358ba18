//! The help of every command, word for word: a change of it is seen where it is reviewed.

use crate::common::process::{ethbus, run};
use std::fmt::Write as _;
use std::path::Path;

/// The groups of `ethbus --help` with their commands, each with what it does.
fn groups() -> Vec<(String, Vec<(String, String)>)> {
    let help = run(ethbus(["--help"])).succeeded().stdout;
    let mut groups = Vec::new();
    for paragraph in help.split("\n\n") {
        let mut lines = paragraph.lines();
        let title = lines.next().and_then(|line| line.strip_suffix(':'));
        let command = |line: &str| line.strip_prefix("  ").and_then(|line| line.split_once("  ")).map(split);
        if let (Some(title), Some(commands)) = (title, lines.map(command).collect::<Option<Vec<_>>>()) {
            groups.push((title.to_owned(), commands));
        }
    }
    groups.retain(|(title, _)| title != "Examples");
    groups
}

fn split((name, about): (&str, &str)) -> (String, String) {
    (name.trim().to_owned(), about.trim().to_owned())
}

/// Compares a file with what it must hold, or writes that into it.
#[track_caller]
pub fn holds(file: &str, now: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, now).expect("a file of the source tree");
    }
    assert_eq!(now, std::fs::read_to_string(&path).unwrap_or_default());
}

/// What a command does is said in one place, the program; the page has it from there.
#[test]
fn the_page_of_commands_says_what_the_help_says() {
    const HERE: &str = "<!-- From here on as `ethbus --help`: BLESS=1 cargo test --test house help:: -->\n";
    let page = include_str!("../../docs/commands.md");
    let (before, _) = page.split_once(HERE).expect("the line after which the commands come");
    let mut now = format!("{before}{HERE}");
    for (title, commands) in groups() {
        writeln!(now, "\n## {title}\n| command | what it does |\n|---|---|").expect("a string takes any text");
        for (name, about) in commands {
            writeln!(now, "| `ethbus {name}` | {about} |").expect("a string takes any text");
        }
    }
    holds("docs/commands.md", &now);
}

/// `BLESS=1 cargo test --test house help::` rewrites the file.
#[test]
fn the_help_is_what_is_written_down() {
    let mut now = String::new();
    let commands = groups().into_iter().flat_map(|(_, commands)| commands).map(|(name, _)| name);
    for command in [String::new()].into_iter().chain(commands) {
        for option in ["-h", "--help"] {
            let arguments: Vec<&str> = command.split_whitespace().chain([option]).collect();
            let told = run(ethbus(&arguments)).succeeded().stdout;
            let told: String = told.lines().map(|line| format!("{}\n", line.trim_end())).collect();
            now += &format!("$ ethbus {}\n{}\n\n", arguments.join(" "), told.trim_end());
        }
    }
    holds("tests/golden/help.txt", &now);
}
