//! `ethbus init`: a scenario to begin with.

use super::{CommandError, Outcome, print};
use crate::cli::args::{Beginning, InitArgs};
use say::program::program;
use say::say;
use sim::files::json_lines::WriteError;
use sim::files::output::{SCENARIO, replace};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The file, unless said otherwise.
const DEFAULT_FILE: &str = "lab.toml";

/// Writes a scenario with comments.
///
/// # Errors
/// A file that is there already, or cannot be made.
pub fn init(args: &InitArgs) -> Outcome {
    let path = args.made.out.as_deref().unwrap_or(Path::new(DEFAULT_FILE));
    if path == Path::new("-") {
        print(&named(args.kind, DEFAULT_FILE))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = named(args.kind, &path.display().to_string());
    // The user may have edited a file of ours since; an empty file contains no work.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file() || there.len() > 0) {
        let source = io::Error::other("it exists: name another file with --out");
        return Err(CommandError::Init { path: path.to_owned(), source });
    }
    replace(path, SCENARIO, text.as_bytes()).map_err(WriteError::from)?;
    let (ethbus, file) = (program(), path.display());
    say(&format!(
        "ethbus: wrote {file}. Next:\n  {ethbus} check {file}\n  {ethbus} sim {file}\n  {ethbus} up {file}\n"
    ));
    Ok(ExitCode::SUCCESS)
}

/// The scenario whose comments call it `file`: the commands there can be pasted.
fn named(kind: Beginning, file: &str) -> String {
    let own = |line: &str| match OWN_FILES.iter().find(|own| line.starts_with("# ") && line.contains(**own)) {
        Some(own) => line.replace(own, file),
        None => line.to_owned(),
    };
    text(kind).split_inclusive('\n').map(own).collect()
}

/// What the examples call themselves.
const OWN_FILES: [&str; 3] = ["examples/bus.toml", "examples/segments.toml", "lab.toml"];

fn text(kind: Beginning) -> &'static str {
    match kind {
        Beginning::Star => include_str!("../../../examples/star.toml"),
        Beginning::Bus => include_str!("../../../examples/bus.toml"),
        Beginning::Segments => include_str!("../../../examples/segments.toml"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::scenario::file::Scenario;
    use sim::scenario::plan::{Overrides, Plan};

    #[test]
    fn every_beginning_is_right() {
        for kind in [Beginning::Star, Beginning::Bus, Beginning::Segments] {
            let read = Scenario::from_text(Path::new("lab.toml"), text(kind).to_owned());
            let (scenario, source) = read.expect("a scenario");
            let plan = Plan::new(&scenario, Some(&source), &Overrides::default(), 1).expect("a plan");
            assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
            let own = named(kind, "my.toml");
            assert!(own.contains(" my.toml") && !own.contains("examples/") && !own.contains("lab.toml"), "{own}");
        }
    }
}
