//! Rules of the house that a machine can hold: who may import whom, how long lines, functions and files may be.
//!
//! Each rule reads the source tree as text. A failure lists every place, so that one run is enough to mend them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Columns of prose in README and docs.
const WIDEST_PROSE: usize = 100;
/// Lines of a function: a screen.
const LONGEST_FUNCTION: usize = 70;
/// Lines of a file, unless its head says why it is longer.
const LONGEST_FILE: usize = 500;
/// How the head of a longer file begins its reason.
const REASON: &str = "One file above 500 lines because";
/// Words that hide the subject or the act of a sentence: a noun and a verb say it.
const TIRING: [&str; 18] = [
    "whoever",
    "nobody",
    "so many",
    "is told",
    "are told",
    "stands",
    "what is due",
    "that is so",
    "on and on",
    // As a subject; "whatever the rate" is plain.
    "whatever is",
    "whatever was",
    "whatever has",
    "whatever had",
    "whatever may",
    "whatever else",
    "whatever comes",
    "whatever came",
    "whatever stands",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below `folder` with this extension, in order.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = files_below(folder);
    found.retain(|path| path.extension().is_some_and(|found| found == extension));
    found
}

/// All files below `folder`, in order; nothing built, fetched or grown by a fuzzer.
pub fn files_below(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the source tree") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match path.is_dir() {
                true if matches!(name.as_str(), "target" | ".git" | "node_modules" | "artifacts") => {}
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found.sort();
    found
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn place(path: &Path, line: usize) -> String {
    format!("{}:{}", path.strip_prefix(root()).unwrap_or(path).display(), line + 1)
}

#[track_caller]
fn assert_none(what: &str, places: &[String]) {
    let mut list = String::new();
    places.iter().for_each(|place| writeln!(list, "  {place}").expect("a string takes any text"));
    assert!(places.is_empty(), "{what}:\n{list}");
}

/// Rooms of one crate, and what each may import: rooms to its right.
fn upward_arrows(folder: &str, order: &[&str]) -> Vec<String> {
    let mut arrows = Vec::new();
    for path in files(folder, "rs") {
        let inside = path.strip_prefix(root().join(folder)).expect("a file of the folder");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().replace(".rs", "");
        let Some(room) = order.iter().position(|name| *name == first) else { continue };
        for (number, line) in text(&path).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let imports = order[..room].iter().filter(|above| code.contains(&format!("crate::{above}::")));
            arrows.extend(imports.map(|above| format!("{}: {first} imports {above}", place(&path, number))));
        }
    }
    arrows
}

#[test]
fn rooms_import_downwards_only() {
    let mut arrows = upward_arrows("src", &["cli", "watch"]);
    arrows.extend(upward_arrows("crates/live/src", &["containers", "virt", "lab", "plane"]));
    arrows.extend(upward_arrows(
        "crates/sim/src",
        &["run", "windows", "explain", "scene", "scenario", "settings", "files", "traffic", "figures", "words"],
    ));
    assert_none("a room imports one above it (ARCHITECTURE.md, \"The rooms\")", &arrows);
}

/// A shared option is declared once and flattened; one of a setting is in a table.
#[test]
fn options_written_by_hand_are_few() {
    const MOST: usize = 169;
    let count =
        |folder: &str| files(folder, "rs").iter().map(|path| text(path).matches("#[arg").count()).sum::<usize>();
    let all = count("src");
    assert!(all <= MOST, "{all} options: lower MOST if they are fewer; flatten a shared one if they are more");
}

/// Cargo keeps what is no dependency out; this keeps it from becoming one.
#[test]
fn the_crates_know_only_what_they_may() {
    let forbidden = [
        ("crates/sim/Cargo.toml", &["ethbus-link", "clap", "plotters", "nix", "libc", "crossbeam"][..]),
        ("crates/medium/Cargo.toml", &["ethbus-link", "ethbus-sim", "nix", "libc", "serde_json", "crossbeam"]),
        ("crates/link/Cargo.toml", &["ethbus-medium", "ethbus-sim", "ethbus-backoff"]),
        ("crates/kernel/Cargo.toml", &["ethbus-medium", "ethbus-sim", "ethbus-backoff", "ethbus-link", "serde"]),
        ("crates/device/Cargo.toml", &["ethbus-sim", "ethbus-link", "nix", "libc", "serde", "crossbeam"]),
        ("crates/verify/Cargo.toml", &["ethbus-link", "ethbus-device", "clap", "nix", "libc"]),
        ("crates/page/Cargo.toml", &["ethbus-link", "clap", "plotters", "nix", "libc", "parquet"]),
        ("crates/backoff/Cargo.toml", &["ethbus-medium", "ethbus-link", "ethbus-sim"]),
        (
            "crates/say/Cargo.toml",
            &["ethbus-link", "ethbus-live", "ethbus-study", "clap", "nix", "libc", "ratatui", "plotters"],
        ),
        ("crates/study/Cargo.toml", &["ethbus-link", "ethbus-kernel", "ethbus-live", "clap", "nix", "libc", "ratatui"]),
        ("crates/retry-lab/Cargo.toml", &["ethbus-medium", "ethbus-link", "ethbus-live", "ethbus-study", "clap"]),
        ("crates/live/Cargo.toml", &["ethbus-study", "clap", "plotters", "parquet", "ratatui"]),
    ];
    let mut found = Vec::new();
    for (manifest, names) in forbidden {
        let manifest_text = text(&root().join(manifest));
        let dependencies = manifest_text.split("[dev-dependencies]").next().unwrap_or_default();
        for name in names {
            let named =
                dependencies.lines().any(|line| line.starts_with(name) || line.contains(&format!("\"{name}\"")));
            found.extend(named.then(|| format!("{manifest} depends on {name}")));
        }
    }
    let medium = text(&root().join("crates/medium/Cargo.toml"));
    let serde = medium.lines().find(|line| line.starts_with("serde = {")).expect("the text form of deeds");
    assert!(serde.contains("optional = true"), "the engine runs without serde: {serde}");
    assert_none("a crate depends on what it must not know", &found);
}

/// What the engine does wrong must not be wrong in the verifier too: it has the data of a configuration and of events, the
/// trace's reader, and nothing that computes.
#[test]
fn the_verifier_knows_nothing_of_the_engine() {
    let rooms =
        ["scene", "explain", "windows", "run", "figures", "traffic", "words"].map(|room| format!("sim::{room}"));
    let types = ["Medium", "Host", "Output", "Tally", "MediumTally", "Span", "Carried", "Clock", "Spans", "DcfStep"];
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    for path in files("crates/verify/src", "rs") {
        for (number, line) in text(&path).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let rooms = rooms.iter().filter(|room| code.contains(room.as_str())).map(String::as_str);
            // A row of the trace, and a part of the vocabulary of events.
            let plain = code.replace("Entry::Medium", "").replace("Part::Host(", "(");
            let named: Vec<&str> = plain.split(|letter| !is_name(letter)).collect();
            let types = types.into_iter().filter(|name| named.contains(name));
            found.extend(rooms.chain(types).map(|name| format!("{}: {name}", place(&path, number))));
        }
    }
    assert_none("the verifier uses what it checks", &found);
}

/// It is small enough to be read beside the standard.
#[test]
fn the_verifier_is_short() {
    const MOST: usize = 5_300;
    let lines: usize = files("crates/verify", "rs").iter().map(|path| text(path).lines().count()).sum();
    assert!(lines <= MOST, "{lines} lines: {MOST} is the most");
}

/// The program looks for the kernel that the script in packaging/kernel would build.
#[test]
fn the_kernel_is_the_one_that_the_script_builds() {
    let name = std::process::Command::new("bash").arg(root().join("packaging/kernel/build.sh")).arg("--name").output();
    let name = String::from_utf8(name.expect("bash runs").stdout).expect("UTF-8");
    assert_eq!(kernel::NAME, name.trim(), "write the new name into NAME of crates/kernel/src/process.rs");
}

/// The engine's contract with time: `now` is an argument, chance comes from a seed, no thread runs beside it.
#[test]
fn the_engine_has_no_clock_thread_file_or_entropy() {
    let forbidden = [
        "time::Instant",
        "SystemTime",
        "std::thread",
        "std::net",
        "std::fs",
        "std::env",
        "sync::Mutex",
        "sync::mpsc",
        "sync::atomic",
        "thread_rng",
        "getrandom",
    ];
    let mut found = Vec::new();
    for path in files("crates/medium/src", "rs") {
        for (number, line) in text(&path).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            found.extend(
                forbidden.iter().filter(|it| code.contains(**it)).map(|it| format!("{}: {it}", place(&path, number))),
            );
        }
    }
    assert_none("the engine uses what it must not know", &found);
}

/// Each type of host for which the engine is compiled adds 200 kB to the program; with 33 of them it was 7.4 MB.
#[test]
fn the_engine_is_compiled_for_the_simulator_alone() {
    let simulator = root().join("crates/sim/src/run/simulator.rs");
    let (mut found, mut allowed) = (Vec::new(), 0);
    for path in ["src", "crates"].into_iter().flat_map(|folder| files(folder, "rs")) {
        let inside = path.to_string_lossy();
        if inside.contains("/tests/") || inside.contains("/examples/") {
            continue;
        }
        for (number, line) in text(&path).lines().enumerate() {
            if line.contains(".run_until_for(") || line.contains(".give_for(") {
                allowed += usize::from(path == simulator);
                found.extend((path != simulator).then(|| place(&path, number)));
            }
        }
    }
    assert_none("the engine is compiled for one more host: call `run_until` and `give`", &found);
    assert_eq!(allowed, 2, "the simulator has both calls, once each");
}

/// The map of the house names no room that is not there. `NAME` is a placeholder.
#[test]
fn the_map_names_what_is_there() {
    let sources: Vec<String> = ["src", "crates", "tests", "benches"]
        .iter()
        .flat_map(|folder| files(folder, "rs"))
        .map(|path| place(&path, 0))
        .collect();
    let map = text(&root().join("ARCHITECTURE.md"));
    let named = map.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches("/*"));
    let is_path = |name: &&str| name.contains('/') && !name.contains([' ', '*', '=', ':']) && !name.starts_with('/');
    let is_there =
        |name: &str| root().join(name).exists() || sources.iter().any(|source| source.contains(&format!("/{name}")));
    let missing: Vec<String> =
        named.filter(is_path).filter(|name| !name.contains("NAME") && !is_there(name)).map(str::to_owned).collect();
    assert_none("ARCHITECTURE.md names what is not there", &missing);
}

/// Words of the documents: this number only falls. The list of runs grows with each.
#[test]
fn the_documents_are_short() {
    const MOST: usize = 64_800;
    let read = |path: &&PathBuf| !path.ends_with("tested.md");
    let words: usize = files("docs", "md").iter().filter(read).map(|path| text(path).split_whitespace().count()).sum();
    assert!(words <= MOST, "{words} words: {MOST} is the most");
}

/// Tables, code and addresses cannot be wrapped; all else is wrapped at 100 columns.
#[test]
fn prose_is_wrapped() {
    let mut pages = files("docs", "md");
    pages.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root().join(name)));
    let mut wide = Vec::new();
    for path in pages {
        let mut in_code = false;
        for (number, line) in text(&path).lines().enumerate() {
            in_code ^= line.trim_start().starts_with("```");
            let free = in_code || line.starts_with('|') || line.starts_with("    ") || line.contains("://");
            if !free && line.chars().count() > WIDEST_PROSE {
                wide.push(format!("{}: {} columns", place(&path, number), line.chars().count()));
            }
        }
    }
    assert_none("prose wider than 100 columns", &wide);
}

/// The prose of a file by lines, other lines empty: comments of code; a page without its code and headings.
///
/// Words in backticks are names, not prose.
fn prose(path: &Path) -> Vec<String> {
    let is_page = path.extension().is_some_and(|extension| extension == "md");
    let mut in_code = false;
    let of_line = |line: &str| {
        in_code ^= is_page && line.trim_start().starts_with("```");
        let text = match line.trim_start() {
            _ if is_page && (in_code || line.starts_with("    ") || line.starts_with('#')) => "",
            _ if is_page => line,
            comment if ["//", "/*", "*"].iter().any(|begin| comment.starts_with(begin)) => comment,
            code => code.split_once(" // ").map_or("", |(_, comment)| comment),
        };
        let plain = text.split('`').step_by(2).collect::<Vec<_>>().join("`");
        plain.trim_start_matches(['/', '!', '*', ' ', '-']).trim_end().to_lowercase()
    };
    text(path).lines().map(of_line).collect()
}

/// The lines on which tiring words begin, and the words; they may go on in the next line.
fn tiring(prose: &[String]) -> Vec<(usize, &'static str)> {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let mut found = Vec::new();
    for (number, line) in prose.iter().enumerate() {
        let next = prose.get(number + 1).map_or("", String::as_str);
        let both = format!("{line} {next}");
        for words in TIRING {
            let is_whole = |at: usize| {
                !is_letter(both[..at].chars().next_back()) && !is_letter(both[at + words.len()..].chars().next())
            };
            let begins = both.match_indices(words).filter(|(at, _)| *at < line.len() && is_whole(*at));
            found.extend(begins.map(|_| (number, words)));
        }
    }
    found
}

#[test]
fn prose_has_plain_subjects() {
    let mut places = Vec::new();
    for path in ["rs", "h", "c", "md"].iter().flat_map(|extension| files("", extension)) {
        let found = tiring(&prose(&path));
        places.extend(found.iter().map(|(number, words)| format!("{}: \"{words}\"", place(&path, *number))));
    }
    assert_none("words that hide the subject or the act of a sentence", &places);
}

fn sources() -> Vec<PathBuf> {
    let folders = ["build", "src", "crates", "tests", "benches", "ffi-tests", "fuzz"];
    folders.iter().flat_map(|folder| files(folder, "rs")).collect()
}

/// The line on which each function begins, and its number of lines. Functions of rustfmt's layout: the closing brace is
/// under the first letter.
fn functions(source: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let begins = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(6).collect();
        let fn_at = words.iter().position(|word| *word == "fn");
        fn_at.is_some_and(|at| words[..at].iter().all(|word| is_qualifier(word)))
    };
    let function = |(number, line): (usize, &&str)| {
        let own = indent(line);
        let end =
            lines[number..].iter().position(|later| indent(later) == own && later.trim_start().starts_with('}'))?;
        let declared = lines[number..number + end].iter().any(|later| indent(later) == own && later.ends_with(';'));
        (!declared).then_some((number, end + 1))
    };
    lines.iter().enumerate().filter(|(_, line)| begins(line)).filter_map(function).collect()
}

fn is_qualifier(word: &str) -> bool {
    word.starts_with("pub")
        || matches!(word, "const" | "unsafe" | "extern" | "\"C\"" | "async" | "in" | "super)" | "crate)")
}

/// Of the program and its crates; a test may be one long table.
#[test]
fn a_function_fits_a_screen() {
    let mut long = Vec::new();
    let is_test =
        |path: &Path| path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "benches");
    for path in sources().into_iter().filter(|path| !is_test(path.strip_prefix(root()).unwrap_or(path))) {
        let of_file = functions(&text(&path)).into_iter().filter(|(_, lines)| *lines > LONGEST_FUNCTION);
        long.extend(of_file.map(|(number, lines)| format!("{}: {lines} lines", place(&path, number))));
    }
    assert_none("functions longer than 70 lines", &long);
}

#[test]
fn a_long_file_says_why() {
    let mut long = Vec::new();
    for path in sources() {
        let source = text(&path);
        let lines = source.lines().count();
        let reason = source.lines().take_while(|line| line.starts_with("//")).any(|line| line.contains(REASON));
        if lines > LONGEST_FILE && !reason {
            long.push(format!("{}: {lines} lines", path.strip_prefix(root()).unwrap_or(&path).display()));
        }
    }
    assert_none(&format!("files above {LONGEST_FILE} lines whose head does not say \"{REASON} …\""), &long);
}

/// A rule that finds nothing anywhere would be no rule.
#[test]
fn the_rules_find_what_they_are_for() {
    let source = format!("fn short() {{\n}}\n\n    pub(crate) fn long() {{\n{}    }}\n", "        x();\n".repeat(70));
    assert_eq!(functions(&source), [(0, 2), (3, 72)]);
    assert!(!functions(&text(&root().join("tests/house/tidy.rs"))).is_empty());
    assert!(files("src", "rs").len() > 50);
    let prose = ["who is", "told? nobody, or whatever", "is there; it notwithstands"].map(str::to_owned);
    assert_eq!(tiring(&prose), [(0, "is told"), (1, "nobody"), (1, "whatever is")]);
    assert!(
        upward_arrows("crates/live/src", &["plane", "lab", "virt", "containers"]).len() > 10,
        "the wrong way round, arrows are found"
    );
}
