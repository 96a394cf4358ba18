//! A station's kernel as a process: where the kernel is, its command line, and its death.

use crate::{confine, sys};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::iter;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What packaging/kernel/build.sh calls the kernel that it builds from its present configuration and patches.
pub const NAME: &str = "linux-5834b68f0c52";
/// Where a package puts it.
const PACKAGED: &str = "/usr/lib/ethbus";

/// Why there is no kernel to run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// None was built, and none was named.
    #[error(
        "a virtual lab needs a kernel, and {} does not exist: run `ethbus kernel build` (five minutes), or name one with --kernel",
        path.display()
    )]
    Missing {
        /// Where it would be.
        path: PathBuf,
    },
    /// The one that was named cannot be used.
    #[error("--kernel: {} cannot be read: name a kernel that `ethbus kernel build` has built", path.display())]
    Unreadable {
        /// Its name.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is a program, and not such a kernel.
    #[error(
        "--kernel: {} has no {lacks}: name a kernel that `ethbus kernel build` has built",
        path.display()
    )]
    Unfit {
        /// Its name.
        path: PathBuf,
        /// What it lacks.
        lacks: &'static str,
    },
}

/// Below a cache.
const BUILDS: &str = "ethbus/kernel";

/// Where `ethbus kernel build` puts kernels.
pub fn folder_of_builds() -> PathBuf {
    match named_cache() {
        Some(cache) => cache.join(BUILDS),
        None => builds_of(Path::new(&std::env::var_os("HOME").unwrap_or_else(|| "/".into()))),
    }
}

/// Where it put them before sudo set root's home.
fn folder_before_sudo() -> Option<PathBuf> {
    let user = std::env::var("SUDO_UID").ok().filter(|_| named_cache().is_none())?;
    let home = home_of(&user, &std::fs::read_to_string("/etc/passwd").ok()?)?;
    Some(builds_of(&home))
}

fn named_cache() -> Option<PathBuf> {
    std::env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

fn builds_of(home: &Path) -> PathBuf {
    home.join(".cache").join(BUILDS)
}

/// The home that a line of passwd(5) gives a user.
fn home_of(user: &str, passwd: &str) -> Option<PathBuf> {
    let home = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.len() == 7 && fields[2] == user).then(|| PathBuf::from(fields[5]))
    };
    passwd.lines().find_map(home)
}

/// The kernel that is named, or the built or packaged one.
///
/// # Errors
/// There is none, or it is no User-Mode Linux with our patches.
pub fn find_kernel(named: Option<&Path>) -> Result<PathBuf, KernelError> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => iter::once_with(folder_of_builds)
            .chain(iter::once_with(folder_before_sudo).flatten())
            .chain([PathBuf::from(PACKAGED)])
            .map(|folder| folder.join(NAME))
            .find(|path| path.is_file())
            .ok_or_else(|| KernelError::Missing { path: folder_of_builds().join(NAME) })?,
    };
    let unreadable = |source| KernelError::Unreadable { path: path.clone(), source };
    let absolute = std::fs::canonicalize(&path).map_err(unreadable)?;
    let octets = std::fs::read(&absolute).map_err(unreadable)?;
    let has = |text: &str| octets.windows(text.len()).any(|part| part == text.as_bytes());
    for (option, lacks) in [
        ("time-travel-clock-external", "time travel (CONFIG_UML_TIME_TRAVEL_SUPPORT)"),
        ("clock-read-cost=", "parameter `clock-read-cost` (1-clock-cost.patch)"),
        ("random-seed=", "parameter `random-seed` (2-seed.patch)"),
        ("virtio_console", "virtio console (CONFIG_VIRTIO_CONSOLE)"),
    ] {
        if !has(option) {
            return Err(KernelError::Unfit { path, lacks });
        }
    }
    Ok(absolute)
}

/// What a station's kernel is started with.
#[derive(Debug)]
pub struct Station {
    /// The station's name.
    pub name: String,
    /// Its network card's address.
    pub mac: [u8; 6],
    /// Its memory, in MiB.
    pub memory: u64,
    /// The seed of all its random numbers.
    pub seed: u64,
    /// The instant at which it is switched on, in nanoseconds.
    pub begins: u64,
    /// The folder in which it works, of its own: it makes a note of itself there, and removes and replaces nothing.
    pub folder: PathBuf,
    /// What leads to its root file system, from there.
    pub root: String,
    /// The shell's program that is its init.
    pub init: String,
    /// What it may read of this machine, and what it may write: folders, with what is below.
    pub reads: Vec<PathBuf>,
    /// See [`Station::reads`].
    pub writes: Vec<PathBuf>,
    /// What it and its programs print.
    pub console: File,
    /// What User-Mode Linux itself says.
    pub log: File,
}

/// What all kernels of a lab have in common.
#[derive(Debug)]
pub struct Common<'a> {
    pub kernel: &'a Path,
    /// The private folder: the sockets are in it.
    pub folder: &'a Path,
    /// The folder in which kernels make the files of their memory.
    pub memory: &'a Path,
    /// Virtual nanoseconds of a clock read.
    pub clock_cost: u64,
}

/// Starts the kernel of station `number`. It waits for the calendar.
///
/// # Errors
/// The system starts no program.
pub fn start(common: &Common<'_>, number: usize, station: &Station) -> io::Result<Child> {
    let mut command = Command::new(common.kernel);
    link_sockets(common, number, station)?;
    command.current_dir(&station.folder).env_clear().env("TMPDIR", common.memory).arg0("linux");
    command.args(arguments(common, number, station));
    command.stdin(Stdio::null()).stdout(station.console.try_clone()?).stderr(station.log.try_clone()?);
    // An interrupt of the terminal is for the controller.
    command.process_group(0);
    let reads = station.reads.iter().map(PathBuf::as_path);
    let writes = station.writes.iter().map(PathBuf::as_path).chain([common.memory]);
    let rules = confine::rules(common.kernel, &station.folder, reads, writes)?;
    sys::die_with_this_thread_and_be_the_same(&mut command);
    sys::confine(&mut command, rules);
    command.spawn()
}

/// Makes the names of the sockets in the folder where a kernel works: it may write in no folder of other kernels.
fn link_sockets(common: &Common<'_>, number: usize, station: &Station) -> io::Result<()> {
    let client = number + 1;
    let names = ["calendar".to_owned(), format!("card{client}"), format!("console{client}")];
    names.iter().try_for_each(|name| symlink(common.folder.join(name), station.folder.join(name)))
}

/// The kernel's command line. All names are relative: another folder must not change what the kernel draws.
fn arguments(common: &Common<'_>, number: usize, station: &Station) -> Vec<OsString> {
    let client = number + 1;
    [
        format!("mem={}M", station.memory),
        format!("time-travel=ext:{client}:calendar"),
        format!("virtio_uml.device=card{client}:1"),
        format!("virtio_uml.device=console{client}:3"),
        format!("random-seed={}", station.seed),
        format!("clock-read-cost={}", common.clock_cost),
        "quiet".into(),
        "loglevel=3".into(),
        format!("umid=k{client}"),
        "uml_dir=.".into(),
        // The console for commands is no console for what the station prints.
        "console=tty0".into(),
        "con=null".into(),
        "con0=null,fd:1".into(),
        "root=/dev/root".into(),
        "rootfstype=hostfs".into(),
        format!("rootflags=/proc/self/cwd/{}/.", station.root),
        "ro".into(),
        "panic=-1".into(),
        "init=/bin/sh".into(),
        "--".into(),
        "-c".into(),
        format!("\"{}\"", station.init),
    ]
    .into_iter()
    .map(OsString::from)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_of_a_user_is_in_her_line() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nshort:x:1000\nada:x:1000:100:Ada,,,:/home/ada:/bin/zsh\n";
        assert_eq!(home_of("1000", passwd), Some(PathBuf::from("/home/ada")));
        assert_eq!(home_of("0", passwd), Some(PathBuf::from("/root")));
        assert_eq!(home_of("100", passwd), None);
    }
}
