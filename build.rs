//! Shell completions and man pages from the argument definitions, into `$OUT_DIR/completions` and `$OUT_DIR/man`.

extern crate self as sim;

#[path = "src/cli/args.rs"]
#[allow(dead_code, unused_imports, missing_docs, reason = "only the definitions are used here")]
mod args;
#[path = "crates/sim/src/words/units.rs"]
#[allow(dead_code, missing_docs, reason = "only the definitions are used here")]
pub mod units;

/// What of the crate `sim` the definitions use, by the same path.
mod words {
    pub use super::units;
}

use clap::{CommandFactory, ValueEnum};
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=src/cli/args.rs");
    println!("cargo::rerun-if-changed=src/cli/args");
    println!("cargo::rerun-if-changed=crates/sim/src/words/units.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let (completions, man) = (out.join("completions"), out.join("man"));
    std::fs::create_dir_all(&completions)?;
    std::fs::create_dir_all(&man)?;
    for &shell in clap_complete::Shell::value_variants() {
        clap_complete::generate_to(shell, &mut args::Cli::command(), "ethbus", &completions)?;
    }
    clap_mangen::generate_to(args::Cli::command(), &man)?;
    pages(&man, &out.join("pages.rs"))
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
