//! The commit that results name as their source.

#[path = "build/commit.rs"]
mod commit;

use std::path::Path;

/// The clone that this crate is in.
const CLONE: &str = "../..";

/// That of `ETHBUS_COMMIT`, or, in a release build from a clone, the clone's. A debug build has none, so that a commit rebuilds
/// nothing; neither has an archive.
fn main() {
    println!("cargo::rerun-if-env-changed=ETHBUS_COMMIT");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if std::env::var_os("ETHBUS_COMMIT").is_some() || !is_release {
        return;
    }
    let Some(commit::Clone { commit, watched }) = commit::clone(Path::new(CLONE)) else { return };
    watched.iter().for_each(|path| println!("cargo::rerun-if-changed={}", Path::new(CLONE).join(path).display()));
    println!("cargo::rustc-env=ETHBUS_COMMIT={commit}");
}
