//! Shell completions and man pages from the argument definitions, into `$OUT_DIR/completions` and `$OUT_DIR/man`.

// Files of other crates are links in the folder `build`: a package has them then, and nothing above its own folder.
extern crate self as retry_lab;
extern crate self as sim;

#[path = "src/cli/args.rs"]
#[allow(dead_code, unused_imports, missing_docs, reason = "only the definitions are used here")]
mod args;
#[path = "build/units.rs"]
#[allow(dead_code, missing_docs, reason = "only the definitions are used here")]
pub mod units;

/// What of the crate `sim` the definitions use, by the same path.
mod words {
    pub use super::units;
}
/// The table of settings, and the options in it.
#[allow(dead_code, missing_docs, reason = "only the definitions are used here")]
#[path = "build/settings"]
mod settings {
    pub mod options;
    pub(crate) mod table;
}

/// The settings of `ethbus retry service`.
#[allow(dead_code, missing_docs, reason = "only the definitions are used here")]
#[path = "build/service"]
mod service {
    pub mod keys;
}

use clap::{Arg, Command, ValueEnum};
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/cli/args.rs");
    println!("cargo::rerun-if-changed=src/cli/args");
    println!("cargo::rerun-if-changed=src/cli/completions");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let (completions, man) = (out.join("completions"), out.join("man"));
    std::fs::create_dir_all(&completions)?;
    std::fs::create_dir_all(&man)?;
    for &shell in clap_complete::Shell::value_variants() {
        let mut shown = without_hidden(&args::command());
        let file = clap_complete::generate_to(shell, &mut shown, "ethbus", &completions)?;
        let text = std::fs::read_to_string(&file)?;
        std::fs::write(&file, with_names(shell, &text))?;
    }
    clap_mangen::generate_to(in_full(args::command()), &man)?;
    pages(&man, &out.join("pages.rs"))
}

/// The command as man pages tell it: they leave out the text of an option that the short help does not have, unless it has a
/// longer one.
fn in_full(command: Command) -> Command {
    let told = command.mut_args(|argument| match (argument.get_long_help(), argument.get_help()) {
        (None, Some(help)) => {
            let help = help.clone();
            argument.long_help(help)
        }
        _ => argument,
    });
    told.mut_subcommands(in_full)
}

/// The command as people know it: completions would offer hidden commands and options too.
fn without_hidden(command: &Command) -> Command {
    // A command wants names that last as long as this program, which ends soon.
    let lasting = |name: &str| -> &'static str { name.to_owned().leak() };
    let mut shown = Command::new(lasting(command.get_name()));
    if let Some(version) = command.get_version() {
        shown = shown.version(lasting(version));
    }
    if let Some(about) = command.get_about() {
        shown = shown.about(about.clone());
    }
    if let Some(about) = command.get_long_about() {
        shown = shown.long_about(about.clone());
    }
    let aliases = command.get_visible_aliases().map(lasting);
    shown = aliases.fold(shown, |shown, alias| shown.visible_alias(alias));
    // `clap_complete` adds these two.
    let is_own =
        |argument: &&Arg| !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str());
    let arguments = command.get_arguments().filter(is_own);
    let commands = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    shown.args(arguments.cloned()).subcommands(commands.map(without_hidden)).disable_help_subcommand(true)
}

/// Completions that also know what only the program can tell while somebody types: names of labs and stations.
fn with_names(shell: clap_complete::Shell, text: &str) -> String {
    // What `clap_complete` writes may change its form: then this has to.
    let replaced = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "no `{from}` in the completions for {shell}");
        text.replace(from, to)
    };
    match shell {
        clap_complete::Shell::Bash => {
            let (functions, ends) = text.split_at(text.rfind("\nif [[ \"${BASH_VERSINFO").expect("the end"));
            let ends = replaced(ends, "complete -F _ethbus ", "complete -F _ethbus_names ");
            format!("{functions}{}{}", include_str!("src/cli/completions/names.bash"), ends.trim_start())
        }
        clap_complete::Shell::Zsh => {
            // `:LAB:_default` of an option, `:station -- The station:_default` of a place, with two colons if it may be left out.
            const NAMES: [&str; 16] = [
                ":LAB:",
                ":STATION:",
                ":DESTINATION:",
                ":TOPOLOGY:",
                ":METHOD:",
                ":TRAFFIC:",
                ":BACKOFF:",
                ":PERSISTENCE:",
                ":PHY:",
                ":KEY=VALUE:",
                ":KEY=VALUES:",
                ":FILTER:",
                ":station -- ",
                "':other -- ",
                "'::lab -- ",
                "'*::command -- ",
            ];
            let named = |line: &str| match NAMES.iter().any(|name| line.contains(name)) {
                true => replaced(line, ":_default'", ":_ethbus_names'"),
                false => line.to_owned(),
            };
            let text: String = text.split_inclusive('\n').map(named).collect();
            let end = "if [ \"$funcstack[1]\"";
            replaced(&text, end, &format!("{}{end}", include_str!("src/cli/completions/names.zsh")))
        }
        clap_complete::Shell::Fish => {
            // Some of these have other values in other commands: then ethbus has no names for them.
            const NAMES: [&str; 14] = [
                "name",
                "from",
                "to",
                "at",
                "station",
                "topology",
                "access",
                "traffic",
                "backoff",
                "persistence",
                "phy",
                "pick",
                "filter",
                "set",
            ];
            let is_named = |line: &str| NAMES.iter().any(|name| line.contains(&format!(" -l {name} -d ")));
            let named = |line: &str| match line.strip_suffix(" -r\n") {
                Some(option) if is_named(line) => {
                    format!("{option} -r -f -a '(__fish_ethbus_names)'\n")
                }
                Some(_) | None => line.to_owned(),
            };
            let text: String = text.split_inclusive('\n').map(named).collect();
            assert!(text.contains("__fish_ethbus_names"), "no option with a name in the completions for fish");
            text + include_str!("src/cli/completions/names.fish")
        }
        _ => text.to_owned(),
    }
}

/// All man pages as a Rust constant, by name, so that the program carries them.
fn pages(man: &Path, source: &Path) -> std::io::Result<()> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(man)?.map(|file| file.map(|file| file.path())).collect::<Result<_, _>>()?;
    files.sort();
    let page = |file: &PathBuf| {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        format!("    ({name:?}, include_str!({file:?})),\n")
    };
    let pages: String = files.iter().map(page).collect();
    let text = format!("/// The man pages by name.\nconst PAGES: &[(&str, &str)] = &[\n{pages}];\n");
    std::fs::write(source, text)
}
