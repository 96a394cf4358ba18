//! The commands: how many there are, and that no page names another.

use crate::common::process::{ethbus, run};
use crate::tidy::files_below;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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

/// A stranger reads all of them.
#[test]
fn the_commands_are_few() {
    let rows: usize = groups().iter().map(|(_, commands)| commands.len()).sum();
    assert!(rows <= 28 && groups().len() == 6, "{rows} in {:?}", groups());
}

/// The paragraphs after the first line of a man page's description, as plain words.
fn explained(page: &str) -> Vec<String> {
    let (_, rest) = page.split_once(".SH DESCRIPTION\n").expect("a description");
    let (text, _) = rest.split_once("\n.SH ").expect("options");
    let plain = text.replace("\\-", "-").replace("\\*(Aq", "'");
    plain.split(".PP").skip(1).map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// A command whose options have one line each printed its short help for `--help`.
#[test]
fn a_long_help_says_what_the_man_page_says() {
    let verbs = ["add", "remove", "plug", "unplug", "fault", "cut", "mend", "pause", "step", "resume"];
    let commands = groups().into_iter().flat_map(|(_, commands)| commands).map(|(name, _)| name);
    let mut compared = 0;
    for name in commands.filter(|name| name != "help").chain(verbs.map(str::to_owned)) {
        let page = run(ethbus(["help", "man", &name])).succeeded().stdout;
        let help = run(ethbus([&*name, "--help"])).succeeded().stdout;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for paragraph in explained(&page) {
            compared += 1;
            assert!(help.contains(&paragraph), "ethbus {name} --help lacks: {paragraph}");
        }
    }
    assert!(compared >= 15, "only {compared} paragraphs");
}

/// Commands of earlier versions: each answers with the one to type, and no file of the project tells of it.
#[test]
fn a_removed_command_answers_with_the_new_one() {
    const REMOVED: [(&str, &str); 11] = [
        ("merge", "sweep merge"),
        ("reproduce", "sweep row"),
        ("metrics", "serve prometheus"),
        ("docker", "serve docker"),
        ("completions", "help completions"),
        ("man", "help man"),
        ("validate", "theory check"),
        ("bench", "doctor --measure"),
        ("shell", "exec"),
        ("keep", "capture --last"),
        ("story", "theory check"),
    ];
    let told = |name: &str| format!("ethbus {name}");
    let folders = ["src", "crates", "docs", "examples", "packaging", ".ci", "tests"];
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let files: Vec<PathBuf> = folders.into_iter().flat_map(files_below).chain([readme]).collect();
    for (name, now) in REMOVED {
        run(ethbus([name])).failed_with(2, &[&format!("`{name}` is no command"), &told(now)]);
        let old = told(name);
        let is_old = |line: &str| {
            let mut rests = line.split(&old).skip(1);
            rests.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_'))
        };
        for file in &files {
            let Ok(text) = std::fs::read_to_string(file) else { continue };
            let lines: Vec<&str> = text.lines().filter(|line| is_old(line)).collect();
            assert!(lines.is_empty(), "{}: {lines:?}", file.display());
        }
    }
}

/// The option of an earlier version answers with the new one, and no file of the project tells of it.
#[test]
fn a_removed_option_answers_with_the_new_one() {
    for command in ["sim", "up", "run", "replay"] {
        let answer = format!("--record: no such option of `ethbus {command}`");
        let now = if command == "replay" { "lists them" } else { "write `--events FILE --events-level inputs`" };
        run(ethbus([command, "--record", "x"])).failed_with(2, &[&answer, now]);
    }
    let old = ["--rec", "ord "].concat();
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let folders = ["crates", "docs", "examples", "packaging", ".ci", "benches"];
    for file in folders.into_iter().flat_map(files_below).chain([readme]) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        assert!(!text.contains(&old), "{}", file.display());
    }
}
