//! What `ethbus` and `ethbus-test`, the commands of README, do on machines that lack something. The machine is a folder with
//! stand-ins for everything that they ask; `.ci/bare` runs them on a bare Debian.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Programs that every Linux has; all others are stand-ins.
const ALWAYS_THERE: [&str; 24] = [
    "awk", "bash", "cat", "chmod", "cp", "cut", "dirname", "env", "find", "grep", "head", "mkdir", "mktemp",
    "realpath", "rm", "sed", "sh", "sort", "stat", "tail", "tee", "test", "tr", "uniq",
];
/// Acts as a compiler with the C library's start files.
const CC: &str = "echo /lib/crt1.o";
/// Says what it is asked, and "builds" a program that says what it is given.
const CARGO: &str = r#"echo "cargo $* (HOME=$HOME)" >> "$MACHINE/log"
case $1 in
build) mkdir -p target/release
       printf '#!/bin/sh\necho "program: $*"\nexit 7\n' > target/release/ethbus
       chmod +x target/release/ethbus ;;
test)  echo "test result: ok. $TESTS passed; 0 failed; 0 ignored" ;;
esac"#;
const APT_GET: &str = r#"echo "apt-get $*" >> "$MACHINE/log""#;

/// A checkout and a home in a folder, and a search path with nothing that is not put there.
struct Machine {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Machine {
    /// Root's, by sudo of alice; with a compiler and her Rust.
    fn new() -> Machine {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let machine = Machine { folder, variables: Vec::new() };
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        for name in ["ethbus", "ethbus-test", ".ci/setup", "Cargo.toml", "Cargo.lock", "build.rs"] {
            let to = machine.path("tree").join(name);
            fs::create_dir_all(to.parent().expect("a folder")).expect("own folder");
            fs::copy(source.join(name), to).expect("a file of the source tree");
        }
        for folder in ["bin", "home", "tree/src", "tree/crates"] {
            fs::create_dir_all(machine.path(folder)).expect("own folder");
        }
        let path = std::env::var_os("PATH").expect("a search path");
        for name in ALWAYS_THERE {
            let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
            symlink(found.expect(name), machine.path("bin").join(name)).expect("own folder");
        }
        let machine = machine.with("bin/id", "[ $1 = -u ] && echo $ID || echo $NAME");
        let machine = machine.with("bin/getent", "echo alice:x:1000:1000::$MACHINE/home:/bin/sh");
        let machine = machine.with("bin/runuser", "echo \"runuser $2\" >> \"$MACHINE/log\"; shift 3; exec \"$@\"");
        let machine = machine.with("bin/chown", "exit 0").with("bin/cc", CC).with("bin/unshare", "exit 0");
        let machine = machine.with("home/.cargo/bin/cargo", CARGO).with("home/.cargo/bin/rustc", "echo rustc 1.95.0");
        machine.variable("ID", "0").variable("NAME", "root").variable("SUDO_USER", "alice").variable("TESTS", "3")
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// A stand-in: a script of these lines.
    fn with(self, name: &str, script: &str) -> Machine {
        let file = self.path(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("own folder");
        // A link to the machine's own program is no file to write to.
        if file.is_symlink() {
            fs::remove_file(&file).expect("own folder");
        }
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("own folder");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("own file");
        self
    }

    fn without(self, name: &str) -> Machine {
        fs::remove_file(self.path(name)).expect("it is there");
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Machine {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn without_root(self) -> Machine {
        let home = self.path("home").display().to_string();
        self.variable("ID", "1000").variable("NAME", "alice").variable("SUDO_USER", "").variable("HOME", &home)
    }

    /// Runs a command line in the checkout. The shell between is what sudo is elsewhere: the parent with the user's environment.
    fn run(&self, line: &str) -> Told {
        let mut command = Command::new(self.path("bin/bash"));
        command.args(["-c", &format!("{line}; exit $?")]).current_dir(self.path("tree")).env_clear();
        command.env("MACHINE", self.folder.path()).env("PATH", self.path("bin")).env("HOME", "/root");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let Output { status, stdout, stderr } = command.output().expect("bash starts");
        Told {
            code: status.code().expect("no signal"),
            stdout: String::from_utf8(stdout).expect("text"),
            stderr: String::from_utf8(stderr).expect("text"),
            log: fs::read_to_string(self.path("log")).unwrap_or_default(),
        }
    }
}

#[derive(Debug)]
struct Told {
    code: i32,
    stdout: String,
    stderr: String,
    /// What stand-ins were asked.
    log: String,
}

impl Told {
    /// It gave up with one sentence, after what it may have asked the archive for, and built nothing.
    #[track_caller]
    fn gave_up(&self, words: &[&str]) {
        let sentences = self.stderr.lines().filter(|line| !line.contains("asking Debian's archive for")).count();
        assert_eq!((self.code, sentences), (1, 1), "{self:#?}");
        assert!(words.iter().all(|word| self.stderr.contains(word)), "{words:?}: {self:#?}");
        assert!(!self.log.contains("cargo build"), "{self:#?}");
    }
}

/// As the user, with her home, whatever sudo makes of HOME; then the program has the arguments and the last word.
#[test]
fn the_users_cargo_builds_and_the_program_runs() {
    let machine = Machine::new();
    let told = machine.run("./ethbus -t '1 s'");
    assert_eq!((told.code, told.stdout.as_str()), (7, "program: -t 1 s\n"), "{told:#?}");
    let home = machine.path("home").display().to_string();
    assert!(told.log.contains(&format!("cargo build --release --locked -p ethbus (HOME={home})")), "{told:#?}");
    assert!(told.log.contains("runuser alice"), "{told:#?}");
}

/// A second run needs no compiler, no Rust and no network.
#[test]
fn what_is_built_is_not_built_again() {
    let machine = Machine::new();
    machine.run("./ethbus");
    let machine = machine.without("bin/cc").without("home/.cargo/bin/cargo").without("log");
    let told = machine.run("./ethbus list");
    assert_eq!((told.stdout.as_str(), told.stderr.as_str(), told.log.as_str()), ("program: list\n", "", ""));
    // But a source that is newer is.
    let machine = machine.with("bin/cc", CC).with("home/.cargo/bin/cargo", CARGO).with("tree/src/main.rs", "");
    assert!(machine.run("./ethbus list").log.contains("cargo build"));
}

/// sudo passes on neither PATH nor CARGO_HOME; its parent's environment has them.
#[test]
fn rust_is_found_where_the_user_has_it() {
    let elsewhere = || Machine::new().without("home/.cargo/bin/cargo").without("home/.cargo/bin/rustc");
    let machine = elsewhere().with("rust/bin/cargo", CARGO).with("rust/bin/rustc", "echo rustc 1.99.0");
    let path = machine.path("rust").display().to_string();
    let machine = machine.variable("CARGO_HOME", &path);
    let told = machine.run("env -u CARGO_HOME ./ethbus");
    assert_eq!(told.code, 7, "{told:#?}");
    elsewhere().run("./ethbus").gave_up(&["Rust is missing"]);
}

#[test]
fn a_missing_compiler_is_installed_or_named() {
    let bare = || Machine::new().without("bin/cc");
    bare().run("./ethbus").gave_up(&["a C compiler is missing (Debian: gcc, libc6-dev)", "no apt-get here"]);
    let with_apt =
        || bare().with("bin/apt-get", &format!("{APT_GET}\n[ $1 = update ] || cp $MACHINE/cc $MACHINE/bin/cc"));
    let refused = with_apt().run("./ethbus --no-install");
    refused.gave_up(&["a C compiler is missing", "--no-install"]);
    assert_eq!(refused.log, "");
    with_apt().without_root().run("./ethbus sim").gave_up(&["so type: sudo apt-get install gcc libc6-dev"]);
    let installed = with_apt().with("cc", CC).run("./ethbus");
    assert!(installed.stderr.contains("installing the Debian packages gcc libc6-dev\n"), "{installed:#?}");
    assert!(installed.log.contains("--no-install-recommends gcc libc6-dev\n") && installed.code == 7, "{installed:#?}");
    // Without the network.
    let offline = bare().with("bin/apt-get", "echo 'E: Unable to locate package gcc' >&2; exit 100").run("./ethbus");
    assert!(offline.stderr.contains("could not install gcc libc6-dev: is the network there?"), "{offline:#?}");
    assert_eq!(offline.code, 1);
}

#[test]
fn a_missing_rust_is_installed_or_named() {
    let bare = || Machine::new().without("home/.cargo/bin/cargo").without("home/.cargo/bin/rustc");
    bare().run("./ethbus").gave_up(&["Rust is missing (1.95 or later); type: curl ", "sh.rustup.rs"]);
    // Debian 12 has no package rustup, Debian 13 has.
    let with_apt = |list: &str| bare().with("bin/apt-get", APT_GET).with("bin/apt-cache", list);
    with_apt("exit 0").run("./ethbus").gave_up(&["Rust is missing", "sh.rustup.rs"]);
    let refused = with_apt("echo rustup - installer").run("./ethbus --no-install");
    refused.gave_up(&["Rust is missing", "type: sudo apt-get install rustup && rustup default stable"]);
    let rustup =
        "[ $1 = default ] && echo 'echo rustc 1.97.1' > $MACHINE/rustc && cat $MACHINE/rustc > $MACHINE/bin/rustc";
    let apt = format!("{APT_GET}\n[ $1 = update ] || for f in cargo rustup; do cp $MACHINE/$f $MACHINE/bin/; done");
    let machine = with_apt("echo rustup - installer").with("bin/apt-get", &apt);
    let machine = machine.with("cargo", CARGO).with("rustup", rustup).with("bin/rustc", "echo no default >&2; exit 1");
    let told = machine.run("./ethbus");
    assert!(told.stderr.contains("installing the Debian packages rustup") && told.code == 7, "{told:#?}");
    assert!(told.stderr.contains("fetching Rust for alice: rustup default stable"), "{told:#?}");
}

#[test]
fn a_rust_that_is_too_old_or_has_no_toolchain_is_named() {
    let told = Machine::new().with("home/.cargo/bin/rustc", "echo rustc 1.85.0").run("./ethbus");
    told.gave_up(&["Rust 1.85.0 is too old, ethbus needs 1.95; type: curl "]);
    let rustup = || Machine::new().with("home/.cargo/bin/rustup", "[ $1 = --version ]");
    let told = rustup().with("home/.cargo/bin/rustc", "echo rustc 1.85.0").run("./ethbus");
    told.gave_up(&["type: rustup update stable"]);
    let broken = "echo 'error: rustup could not choose a version of rustc to run' >&2; exit 1";
    let told = rustup().with("home/.cargo/bin/rustc", broken).run("./ethbus");
    assert!(told.code == 1 && told.stderr.contains("rustup could not fetch Rust: is the network there?"), "{told:#?}");
    let told = rustup().with("home/.cargo/bin/rustc", broken).run("./ethbus --no-install");
    told.gave_up(&["could not choose a version", "type: rustup default stable"]);
}

/// Minutes of building are not spent on a demonstration that cannot run; the simulator always can.
#[test]
fn without_root_the_kernel_is_asked_first() {
    let forbidden = || Machine::new().without_root().with("bin/unshare", "exit 1");
    forbidden().run("./ethbus").gave_up(&["only root make network namespaces", "sudo ./ethbus"]);
    forbidden().run("./ethbus -t 1s").gave_up(&["only root make network namespaces"]);
    assert_eq!(forbidden().run("./ethbus sim").stdout, "program: sim\n");
    assert_eq!(Machine::new().without_root().run("./ethbus -t 1s").stdout, "program: -t 1s\n");
}

#[test]
fn a_run_in_which_no_test_ran_fails() {
    let told = Machine::new().run("./ethbus-test --test help");
    assert!(told.code == 0 && told.stdout.ends_with("\ntests: 3 passed, 0 failed, 0 skipped\n"), "{told:#?}");
    assert!(told.log.contains("cargo test --locked --no-run --test help"), "{told:#?}");
    let told = Machine::new().variable("TESTS", "0").run("./ethbus-test --test help -- nothing");
    assert!(
        told.code == 1 && told.stdout.ends_with("\nno test ran\ntests: 0 passed, 0 failed, 0 skipped\n"),
        "{told:#?}"
    );
    let told = Machine::new().with("home/.cargo/bin/cargo", "echo error: no; exit 101").run("./ethbus-test");
    assert!(told.code == 101 && told.stdout.contains("\nno test ran\n"), "{told:#?}");
}

/// Tools that only tests use may be missing; their tests are skipped.
#[test]
fn missing_tools_of_tests_are_named() {
    let told = Machine::new().run("./ethbus-test");
    assert!(told.stderr.contains("tests are skipped that need iproute2") && told.code == 0, "{told:#?}");
    let all = || {
        let machine = Machine::new().with("bin/apt-cache", "[ $2 = chromium ] || echo '  Candidate: 1.0'");
        machine.with("tree/packaging/kernel/build.sh", "echo kernel >> \"$MACHINE/log\"").with("bin/dpkg", "exit 1")
    };
    let told = all().with("bin/apt-get", APT_GET).run("./ethbus-test --all");
    assert!(told.stderr.contains("need chromium: apt-get knows no such package here"), "{told:#?}");
    assert!(told.log.contains("iperf3") && told.log.contains("tshark") && told.log.contains("\nkernel\n"), "{told:#?}");
    assert!(!told.log.contains("chromium") && told.code == 0, "{told:#?}");
    // Without --all, neither browsers nor servers.
    let told = all().with("bin/apt-get", APT_GET).run("./ethbus-test");
    assert!(told.log.contains("make") && !told.log.contains("tshark") && !told.log.contains("docker"), "{told:#?}");
    assert!(!told.log.contains("kernel"), "{told:#?}");
    // A package is unknown, too, where the archive could not be asked.
    let offline = all().with("bin/apt-get", "echo 'W: Failed to fetch http://deb.debian.org/'");
    offline.run("./ethbus-test --all").gave_up(&["knows no chromium", "is the network there?", "--no-install"]);
}

/// The end says what was skipped, why, and which option runs it.
#[test]
fn what_was_skipped_is_said_at_the_end() {
    let cargo = format!("{CARGO}\nfor n in 1 2; do echo SKIPPED: needs tmux; done; echo SKIPPED: needs fish");
    let told = Machine::new().with("home/.cargo/bin/cargo", &cargo).run("./ethbus-test");
    let end = "\nskipped: 3 tests, by what they need:\n needs tmux (2); needs fish (1)\n\
        with all that can be installed: sudo ./ethbus-test --all\ntests: 0 passed, 0 failed, 3 skipped\n";
    assert!(told.stdout.ends_with(end), "{told:#?}");
}

/// Another shell has bash read the script.
#[test]
fn any_shell_may_begin() {
    let told = Machine::new().run("sh ./ethbus list");
    assert_eq!((told.code, told.stdout.as_str()), (7, "program: list\n"), "{told:#?}");
    let told = Machine::new().run("sh ./ethbus-test --test help");
    assert!(told.code == 0 && told.stdout.ends_with("tests: 3 passed, 0 failed, 0 skipped\n"), "{told:#?}");
}

/// Root by `su` has no SUDO_USER; what is built in a user's clone is the user's all the same.
#[test]
fn the_owner_of_the_clone_builds() {
    let by_su = || Machine::new().variable("SUDO_USER", "").with("bin/stat", "echo alice");
    let told = by_su().run("./ethbus list");
    assert!(told.code == 7 && told.log.contains("runuser alice"), "{told:#?}");
    // An owner without an account, as in a container: root.
    let told = by_su().with("bin/getent", "exit 2").variable("HOME", "/root").run("./ethbus list");
    assert!(!told.log.contains("runuser"), "{told:#?}");
}
