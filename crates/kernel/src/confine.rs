//! What a station's kernel may reach of this machine, by Landlock.
//!
//! A program in a station that is root there can mount any folder of this machine (hostfs), and a fault of the station's
//! kernel gives it the kernel's process. So the process may open what its station is given, and nothing else. It may
//! neither use TCP nor signal other processes.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use std::io;
use std::path::Path;

/// The rights that are taken away: those of Linux 6.12. An older kernel takes away those that it knows.
const RIGHTS: ABI = ABI::V6;

/// Where the libraries of the kernel's program can be.
const LIBRARIES: [&str; 7] = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store"];
/// What else it reads: the list of libraries, the processor's features.
const READ: [&str; 3] = ["/etc/ld.so.cache", "/etc/ld.so.preload", "/proc/cpuinfo"];
/// The input of its consoles, which it opens for writing too.
const NOTHING: &str = "/dev/null";

/// Whether this machine's kernel can confine a process to some files: since Linux 5.13, if it is built so.
pub fn can_confine() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
}

/// What the process of `kernel` may do, as far as this machine can hold it to that: make files in the folder `own`, read what
/// is below `reads`, and write what is below `writes`.
///
/// # Errors
/// The system refuses.
pub fn rules<'a>(
    kernel: &Path,
    own: &Path,
    reads: impl IntoIterator<Item = &'a Path>,
    writes: impl IntoIterator<Item = &'a Path>,
) -> io::Result<RulesetCreated> {
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(RIGHTS)).map_err(refused)?;
    let ruleset = ruleset.handle_access(AccessNet::from_all(RIGHTS)).map_err(refused)?;
    let mut ruleset = ruleset.scope(Scope::from_all(RIGHTS)).and_then(Ruleset::create).map_err(refused)?;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = AccessFs::from_all(RIGHTS) & !(AccessFs::Execute | AccessFs::IoctlDev);
    for path in LIBRARIES.iter().map(Path::new).chain([kernel]) {
        ruleset = with(ruleset, path, read | AccessFs::Execute)?;
    }
    // The caller trusts the names in this folder: they cannot be replaced.
    let make = AccessFs::MakeDir | AccessFs::MakeReg | AccessFs::WriteFile | AccessFs::Truncate;
    ruleset = with(ruleset, own, read | make)?;
    for path in READ.iter().map(Path::new).chain(reads) {
        ruleset = with(ruleset, path, read)?;
    }
    ruleset = with(ruleset, Path::new(NOTHING), AccessFs::ReadFile | AccessFs::WriteFile)?;
    for path in writes {
        ruleset = with(ruleset, path, write)?;
    }
    Ok(ruleset)
}

/// Also gives rights to what is below `path`, if it is there.
fn with(ruleset: RulesetCreated, path: &Path, rights: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let Ok(place) = PathFd::new(path) else { return Ok(ruleset) };
    ruleset.add_rule(PathBeneath::new(place, rights)).map_err(refused)
}

fn refused(error: RulesetError) -> io::Error {
    io::Error::other(error)
}
