//! The commit that a clone is at. The build script asks, and `tests/house/commit.rs` checks the answers.

use std::path::Path;
use std::process::Command;

/// What is compiled. A clone in which one of these was changed is no longer its commit.
const SOURCES: [&str; 6] = ["Cargo.toml", "Cargo.lock", "build.rs", "build", "src", "crates"];

/// The state of a clone.
pub struct Clone {
    /// The commit, with `-changed` where the sources differ from it.
    pub commit: String,
    /// The paths that change when the state does.
    pub watched: Vec<String>,
}

/// The state of the clone whose top folder is `folder`; none if it is no such folder, or git does not answer.
pub fn clone(folder: &Path) -> Option<Clone> {
    // A folder within a clone, like an unpacked archive, is not the clone.
    if !folder.join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let mut commit = git(&["rev-parse", "HEAD"])?;
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    if git(&[&status[..], &SOURCES].concat()).is_none_or(|changes| !changes.is_empty()) {
        commit += "-changed";
    }
    let head = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| folder.join(log).exists());
    Some(Clone { commit, watched: head.into_iter().chain(SOURCES.map(str::to_owned)).collect() })
}
