//! What the tests of libbackoff share: the library as a user builds it, and commands that must succeed.

// Each test takes what it needs.
#![allow(dead_code)]

pub mod headers;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The workspace.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Every warning is an error, as in the strictest of our users' builds.
pub const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-Wredundant-decls", "-Werror", "-pedantic", "-O1"];

/// The most octets of the stripped library: small enough for a device that has little else.
pub const MOST_OCTETS: u64 = 64 * 1024;

/// The folder of `libbackoff.so` and `libbackoff.a`, built once for all tests.
pub static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let library = built("libbackoff", &[]);
    let soname = library.join("libbackoff.so.1");
    if !soname.exists() {
        std::os::unix::fs::symlink("libbackoff.so", soname).expect("the target folder takes a link");
    }
    library
});

/// Builds the library with these variables, in a target folder of its own: the cargo that runs the tests may hold the lock of
/// the common one.
pub fn built(target: &str, variables: &[(&str, &str)]) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(target);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--offline", "-p", "ethbus-backoff-c", "--target-dir"]).arg(&target);
    run(cargo.current_dir(ROOT).env_remove("CARGO_BUILD_TARGET").envs(variables.iter().copied()));
    target.join("release")
}

/// Runs it to its end, which must be a success, and gives what it printed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{stdout}{stderr}", output.status);
    stdout.into_owned()
}

/// Says why something was not tested. Not by a macro: the test runner would keep what a passing test says to itself.
pub fn say_skipped(why: &str) {
    let line = format!("SKIPPED: {why}\n");
    std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).expect("standard error is open");
}

/// gcc must be there; without another program its part of a test is skipped, and says so.
pub fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    assert!(there || program != "gcc", "gcc is needed to test libbackoff");
    if !there {
        say_skipped(&format!("no {program} on this machine"));
    }
    there
}

/// The files of a folder whose names end so, in order.
pub fn files_with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is readable");
    let paths = entries.map(|entry| entry.expect("the folder is readable").path());
    let mut found: Vec<_> = paths.filter(|path| path.extension() == Some(OsStr::new(extension))).collect();
    found.sort();
    found
}
