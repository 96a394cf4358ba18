//! What a build knows of its source (docs/sweep.md, provenance): a release build from a clone names its commit, one from an
//! archive has none.

#[path = "../../crates/study/build/commit.rs"]
mod source;

use crate::common::process::{program, run};
use crate::tidy::files_below;
use std::fs;
use std::path::{Path, PathBuf};

/// What git prints in `folder`.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let person = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let mut command = program("git", person.iter().chain(arguments));
    command.current_dir(folder);
    run(command).succeeded().stdout.trim().to_owned()
}

fn commit(folder: &Path) -> Option<String> {
    source::clone(folder).map(|clone| clone.commit)
}

/// A clone is its commit as long as what is compiled is; a worktree is one too; an archive within a clone is not.
#[test]
fn a_clone_is_its_commit_and_an_archive_is_none() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let clone = folder.path().join("clone");
    fs::create_dir_all(clone.join("src")).expect("own folder");
    for name in ["Cargo.toml", "src/lib.rs", "README.md"] {
        fs::write(clone.join(name), "as it was\n").expect("own folder");
    }
    assert_eq!(commit(&clone), None, "no clone yet");
    git(&clone, &["init", "--quiet"]);
    assert_eq!(commit(&clone), None, "no commit yet");
    git(&clone, &["add", "."]);
    git(&clone, &["commit", "--quiet", "-m", "first"]);
    let head = git(&clone, &["rev-parse", "HEAD"]);
    assert_eq!(commit(&clone).as_deref(), Some(&head[..]));
    let watched = source::clone(&clone).expect("a clone").watched;
    assert!(watched[0].ends_with("logs/HEAD"), "a further commit is a change: {watched:?}");
    git(&clone, &["worktree", "add", "--quiet", "../worktree"]);
    git(&clone, &["archive", "--output", "source.tar", "HEAD"]);
    fs::create_dir(clone.join("archive")).expect("own folder");
    let mut unpack = program("tar", ["-xf", "source.tar", "-C", "archive"]);
    unpack.current_dir(&clone);
    run(unpack).succeeded();
    assert!(clone.join("archive/src/lib.rs").exists());
    assert_eq!(commit(&clone.join("archive")), None);
    fs::write(clone.join("README.md"), "other words\n").expect("own folder");
    fs::write(clone.join("src/notes.txt"), "nothing of the clone\n").expect("own folder");
    assert_eq!(commit(&clone).as_deref(), Some(&head[..]), "what is compiled is the same");
    fs::write(clone.join("src/lib.rs"), "other code\n").expect("own folder");
    assert_eq!(commit(&clone), Some(format!("{head}-changed")));
    assert_eq!(commit(&folder.path().join("worktree")), Some(head));
}

/// A build script sets variables for its own crate alone.
#[test]
fn the_crate_that_reads_the_commit_is_the_one_whose_build_asks_for_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let reads = |path: &PathBuf| {
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        is_source && fs::read_to_string(path).is_ok_and(|text| text.contains("option_env!(\"ETHBUS_COMMIT\")"))
    };
    let mut readers = Vec::new();
    for package in fs::read_dir(root.join("crates")).expect("crates").map(|entry| entry.expect("an entry").path()) {
        let sources = files_below(&package.join("src").to_string_lossy());
        let script = fs::read_to_string(package.join("build.rs")).unwrap_or_default();
        readers.extend(sources.iter().any(reads).then_some(script));
    }
    assert!(!files_below("src").iter().any(reads), "the program's own build script does not ask");
    assert!(readers.len() == 1 && readers[0].contains("rustc-env=ETHBUS_COMMIT="), "{readers:?}");
}
