//! An ordinary user: a unique uid, and the folder that a login would make for it.

use super::process::{Finished, copy_program, program, run};
use super::{ETHBUS, PATIENCE, skip, wait_until};
use std::fs::{DirBuilder, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// Whether users may make user namespaces here; prints the reason if not.
pub fn users_may_have_labs() -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "true"]).uid(65534).gid(65534);
    let tried = run(unshare);
    if !tried.status.success() {
        skip(&format!("no user namespaces for users here: {}", tried.stderr.trim()));
    }
    tried.status.success()
}

/// The program in a folder that all users may enter: a home, with the build folder in it, may be closed to them.
///
/// It ends with the folder.
pub struct PublicCopy(TempDir);

impl PublicCopy {
    /// Copies the program under test.
    pub fn new() -> PublicCopy {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("own folder");
        copy_program(Path::new(ETHBUS), &folder.path().join("ethbus"));
        PublicCopy(folder)
    }

    /// Where it is.
    pub fn path(&self) -> String {
        self.0.path().join("ethbus").display().to_string()
    }

    /// Its command, by a user without any right.
    pub fn by_nobody(&self, arguments: &[&str]) -> Command {
        let mut command = program("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]);
        command.arg(self.path()).args(arguments);
        command
    }
}

/// A user, with `/run/user/ID`. The user's processes and folder are removed when this is dropped.
pub struct User {
    /// The uid.
    pub id: u32,
}

impl User {
    /// A user who has just logged in.
    pub fn logged_in() -> User {
        let user = User::new();
        DirBuilder::new().recursive(true).mode(0o755).create("/run/user").expect("root may");
        DirBuilder::new().mode(0o700).create(user.login()).expect("a fresh number");
        chown(user.login(), Some(user.id), Some(user.id)).expect("root may");
        user
    }

    /// A user without the folder of a login.
    pub fn new() -> User {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        User { id: 1_000_000_000 + std::process::id() * 64 + COUNTER.fetch_add(1, Ordering::Relaxed) }
    }

    /// Makes the folder of a login.
    pub fn login(&self) -> PathBuf {
        PathBuf::from(format!("/run/user/{}", self.id))
    }

    /// The record of a lab of this user.
    pub fn record(&self, lab: &str) -> PathBuf {
        self.login().join("ethbus").join(lab)
    }

    /// A program that this user runs.
    pub fn program(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(name);
        command.args(arguments).uid(self.id).gid(self.id).current_dir("/");
        command
    }

    /// The program under test. It is named by its descriptor: the folder may be closed to other users.
    pub fn ethbus(&self, arguments: &[&str]) -> Command {
        static PROGRAM: OnceLock<File> = OnceLock::new();
        let program = PROGRAM.get_or_init(|| File::open(ETHBUS).expect("it has been built"));
        self.program(&format!("/proc/self/fd/{}", program.as_raw_fd()), arguments)
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Finished {
        run(self.ethbus(arguments))
    }

    /// The command lines of this user's processes; those that have ended and wait for their parent do not count.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let entries = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
        let his = entries.filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
            let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().next()?;
            let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
            (uid == self.id.to_string() && !line.is_empty()).then(|| (pid, line.replace('\0', " ")))
        });
        his.collect()
    }

    /// The process that keeps a lab of this user up in the background.
    #[track_caller]
    pub fn supervisor(&self, lab: &str) -> u32 {
        let mut processes = self.processes();
        processes.retain(|(_, line)| line.contains("--in-background") && line.contains(lab));
        assert_eq!(processes.len(), 1, "supervisors of {lab}: {processes:?}");
        processes[0].0
    }

    /// Checks that this user has no record and, in a moment, no process: a supervisor reports that its lab is down
    /// before it ends.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let records = std::fs::read_dir(self.login().join("ethbus"))
            .map_or(Vec::new(), |entries| entries.flatten().map(|entry| entry.file_name()).collect());
        assert_eq!(records, Vec::<std::ffi::OsString>::new());
        wait_until(PATIENCE, "no process of his", || self.processes().is_empty());
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.processes().iter().for_each(|(pid, _)| super::process::signal("KILL", &pid.to_string()));
        if std::fs::symlink_metadata(self.login()).is_ok_and(|folder| folder.uid() == self.id) {
            std::fs::remove_dir_all(self.login()).expect("root may");
        }
    }
}
