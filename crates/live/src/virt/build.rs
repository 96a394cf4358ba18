//! Building the kernel of virtual labs, by the script that packaging/kernel has.

use super::folder::Folder;
use link::process::effective_user;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The files of packaging/kernel: their names, and what they hold.
const FILES: [(&str, &str); 5] = [
    ("build.sh", include_str!("../../kernel/build.sh")),
    ("kernel.config", include_str!("../../kernel/kernel.config")),
    ("patches/1-clock-cost.patch", include_str!("../../kernel/patches/1-clock-cost.patch")),
    ("patches/2-seed.patch", include_str!("../../kernel/patches/2-seed.patch")),
    ("patches/3-registers.patch", include_str!("../../kernel/patches/3-registers.patch")),
];

/// Why the kernel is not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Somebody else could change what is built, and so what runs.
    #[error("{} {what}: others could change what is built there: {remedy}", path.display())]
    Open {
        /// The folder for the kernel, or one around it.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// What would be right.
        remedy: &'static str,
    },
    /// The system refused something.
    #[error("cannot build the kernel")]
    System(#[from] io::Error),
    /// The script failed.
    #[error("the kernel was not built: {said}")]
    Failed {
        /// What it said.
        said: String,
    },
}

/// Builds the kernel into `folder`, which is made. `told` gets each line of progress; the last one names the kernel.
///
/// # Errors
/// Others may write to the folder; the script could not be started, or failed.
pub fn build(folder: &Path, mut told: impl FnMut(&str)) -> Result<(), BuildError> {
    // Whatever `umask` says, no group may write there.
    fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    let folder = fs::canonicalize(folder)?;
    refuse_open(&folder)?;
    let own = Folder::new()?;
    fs::create_dir(own.path.join("patches"))?;
    FILES.iter().try_for_each(|(name, text)| fs::write(own.path.join(name), text))?;
    let mut command = Command::new("bash");
    command.arg(own.path.join("build.sh")).arg(folder).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let lines = child.stdout.take().map(BufReader::new);
    for line in lines.into_iter().flat_map(BufRead::lines) {
        told(&line?);
    }
    let ended = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    let said = said.trim().rsplit("error: ").next().unwrap_or_default().to_owned();
    if ended.status.success() { Ok(()) } else { Err(BuildError::Failed { said }) }
}

/// Refuses a folder in which somebody else could change what is built: its owner, and users who may write there or rename it.
fn refuse_open(folder: &Path) -> Result<(), BuildError> {
    const ROOT: u32 = 0;
    /// A group or all may write.
    const OTHERS: u32 = 0o022;
    /// Only the owner of a file may remove it.
    const STICKY: u32 = 0o1000;
    for path in folder.ancestors() {
        let found = fs::symlink_metadata(path)?;
        let refused = |what, remedy| Err(BuildError::Open { path: path.to_owned(), what, remedy });
        let is_around = path != folder;
        if found.uid() != effective_user() && !(is_around && found.uid() == ROOT) {
            return refused(format!("belongs to user {}", found.uid()), "name a folder of your own with --folder");
        }
        if found.mode() & OTHERS != 0 && !(is_around && found.mode() & STICKY != 0) {
            let what = format!("has mode {:04o}", found.mode() & 0o7777);
            return refused(what, "take their right by `chmod go-w`, or name another folder with --folder");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    /// What is built in a folder, the user runs. So no other user may write there, or rename a folder around it.
    #[test]
    fn a_folder_that_others_may_change_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let within = folder.path().join("within");
        fs::create_dir(&within).expect("a folder");
        let refusal = |outer: u32, inner: u32| {
            let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("own folder");
            set(folder.path(), outer);
            set(&within, inner);
            refuse_open(&fs::canonicalize(&within).expect("a folder")).map_err(|error| error.to_string())
        };
        for (outer, inner) in [(0o755, 0o755), (0o700, 0o700), (0o1777, 0o755)] {
            refusal(outer, inner).expect("nobody else may write there");
        }
        for (outer, inner, mode) in [(0o755, 0o775, "0775"), (0o755, 0o1777, "1777"), (0o777, 0o755, "0777")] {
            let said = refusal(outer, inner).expect_err("others may write there");
            assert!(said.contains(&format!("has mode {mode}: others could change")), "{said}");
        }
        if effective_user() == 0 {
            std::os::unix::fs::chown(&within, Some(12345), None).expect("root may");
            let said = refusal(0o755, 0o755).expect_err("it is another user's");
            assert!(said.contains("belongs to user 12345"), "{said}");
        }
    }
}
