//! An installed copy in a prefix of its own: found by pkg-config and by CMake, used by a program that knows nothing but
//! the header, moved by DESTDIR, and removed again.

mod harness;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use harness::{LIBRARY, ROOT, is_there, run};

/// Written from the header alone.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <backoff_presets.h>

int main(void)
{
    static const struct backoff_policy policy = BACKOFF_PRESET_SIP_TIMER_A;
    struct backoff_retry retry;
    uint64_t delay, total = 0;
    int delays = 0;
    if (backoff_retry_init(&retry, 1, 2, 0) != BACKOFF_STATUS_OK)
        return 1;
    while (backoff_retry_fail(&retry, &policy, total, 0, &delay) == BACKOFF_STATUS_OK) {
        total += delay;
        delays++;
    }
    printf("%d delays, %llu ms, version %s\n", delays, (unsigned long long)(total / 1000000), backoff_version_text());
    return 0;
}
"#;

/// The headers that are made from the source.
const HEADERS: [&str; 4] = ["backoff.h", "backoff_limits.h", "backoff_schedule.h", "backoff_presets.h"];

const ANSWER: &str = "6 delays, 31500 ms, version 1.0.0\n";

/// A folder with the program, and a prefix with an installed copy, made once for all tests.
static INSTALLED: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder is writable");
    fs::write(folder.join("program.c"), PROGRAM).expect("the folder is writable");
    install(&folder, &[], "");
    folder
});

/// Runs the install script with that prefix; the library is built already.
fn install(prefix: &Path, arguments: &[&str], destdir: &str) {
    let mut script = Command::new(Path::new(ROOT).join("crates/backoff-c/install.sh"));
    script.arg("--prefix").arg(prefix).args(arguments);
    script.arg("--target-dir").arg(LIBRARY.parent().expect("it lies in a target folder"));
    run(script.env("DESTDIR", destdir).env("CARGO_NET_OFFLINE", "true").env_remove("CARGO_BUILD_TARGET"));
}

fn pkg_config(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    let flags = run(command.env("PKG_CONFIG_PATH", INSTALLED.join("lib/pkgconfig")).args(arguments).arg("backoff"));
    flags.split_whitespace().map(str::to_owned).collect()
}

/// A program that needs a function of a later version than the installed one gets an error when it starts. The map
/// names every function of the header once.
#[test]
fn the_installed_library_has_versions_of_its_symbols() {
    let map = fs::read_to_string(Path::new(ROOT).join("crates/backoff-c/backoff.map")).expect("it is checked in");
    let mut expected: Vec<String> = Vec::new();
    let mut version = "";
    for line in map.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(" {") {
            version = name;
        } else if let Some(name) = line.strip_suffix(';').filter(|name| name.starts_with("backoff_")) {
            expected.push(format!("{name}@@{version}"));
        }
    }
    expected.sort();
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(INSTALLED.join("lib/libbackoff.so")));
    let symbols = symbols.lines().filter(|line| line.contains(" T ")).filter_map(|line| line.split_whitespace().nth(2));
    let mut exported: Vec<&str> = symbols.collect();
    exported.sort_unstable();
    assert_eq!(exported, expected);
    let octets = fs::metadata(INSTALLED.join("lib/libbackoff.so")).expect("it is installed").len();
    assert!(octets < harness::MOST_OCTETS, "{octets} octets");
    let read = |name: &&str| fs::read_to_string(INSTALLED.join("include").join(name)).expect("it is installed");
    let header: String = HEADERS.iter().map(read).collect();
    for symbol in &exported {
        let name = symbol.split('@').next().unwrap_or_default();
        assert!(header.contains(&format!("{name}(")), "the header has no {name}");
    }
}

/// The sentence that says when the library is done: this line, and nothing else read.
#[test]
fn pkg_config_finds_the_installed_copy() {
    if !is_there("pkg-config") {
        return;
    }
    let program = INSTALLED.join("by_pkg_config");
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]).arg(INSTALLED.join("program.c"));
    run(compiler.args(pkg_config(&["--cflags", "--libs"])).arg("-o").arg(&program));
    assert_eq!(run(Command::new(&program).env("LD_LIBRARY_PATH", INSTALLED.join("lib"))), ANSWER);
    assert_eq!(pkg_config(&["--modversion"]), ["1.0.0"]);
}

#[test]
fn cmake_finds_the_installed_copy() {
    if !is_there("cmake") {
        return;
    }
    let folder = INSTALLED.join("by_cmake");
    fs::create_dir_all(&folder).expect("the folder is writable");
    let lists = "cmake_minimum_required(VERSION 3.13)\nproject(program C)\nfind_package(backoff 1.0 REQUIRED)\n\
        add_executable(shared ../program.c)\ntarget_link_libraries(shared backoff::backoff)\n\
        add_executable(static ../program.c)\ntarget_link_libraries(static backoff::backoff-static)\n";
    fs::write(folder.join("CMakeLists.txt"), lists).expect("the folder is writable");
    let build = folder.join("build");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", INSTALLED.display());
    run(Command::new("cmake").arg("-S").arg(&folder).arg("-B").arg(&build).arg(prefix));
    run(Command::new("cmake").arg("--build").arg(&build));
    for program in ["shared", "static"] {
        assert_eq!(run(&mut Command::new(build.join(program))), ANSWER, "{program}");
    }
}

/// What was installed, by its names; the links lead from the name of the linker to the soname to the file.
#[test]
fn everything_is_where_it_belongs() {
    for file in ["include/backoff.h", "lib/libbackoff.a", "lib/pkgconfig/backoff.pc"] {
        assert!(INSTALLED.join(file).is_file(), "{file}");
    }
    let link = |name: &str| fs::read_link(INSTALLED.join("lib").join(name)).expect("it is a link");
    assert_eq!(link("libbackoff.so"), Path::new("libbackoff.so.1"));
    assert_eq!(link("libbackoff.so.1"), Path::new("libbackoff.so.1.0.0"));
}

/// Each function of the header has a page, and the pages are clean for the formatter.
#[test]
fn every_function_has_a_man_page() {
    let read = |name: &&str| fs::read_to_string(Path::new(ROOT).join("include").join(name)).expect("it is checked in");
    let header: String = HEADERS.iter().map(read).collect();
    let starts = header.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let names = starts.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    let mut names: Vec<&str> = names.collect();
    assert!(names.len() > 20, "{names:?}");
    names.extend([
        "backoff",
        "backoff_kind",
        "backoff_law",
        "backoff_jitter",
        "backoff_status",
        "backoff_policy",
        "backoff_ticket",
    ]);
    for name in names {
        let page = INSTALLED.join(format!("share/man/man3/{name}.3"));
        assert!(page.is_file(), "{name} has no page");
        if is_there("mandoc") {
            let found = Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&page).output();
            let found = found.expect("mandoc runs");
            assert!(found.stdout.is_empty(), "{name}: {}", String::from_utf8_lossy(&found.stdout));
        }
        if is_there("groff") {
            let output =
                Command::new("groff").args(["-man", "-Tascii", "-ww"]).arg(&page).output().expect("groff runs");
            let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(complaints.is_empty(), "{name}: {complaints}");
            assert!(text.contains(name), "{name}: {text}");
        }
    }
}

/// Programs that were linked with the versioned library would end in the loader if one without versions took its place: where
/// no C compiler can link it, nothing is installed, and the library that is there stays.
#[test]
fn without_a_working_compiler_nothing_is_installed() {
    let folder = tempfile::tempdir().expect("there is room for a prefix");
    let real = folder.path().join("lib/libbackoff.so.1.0.0");
    let script = |compiler: &str| {
        let mut script = Command::new(Path::new(ROOT).join("crates/backoff-c/install.sh"));
        script.arg("--prefix").arg(folder.path()).env("CC", compiler).env("CARGO_NET_OFFLINE", "true");
        script.arg("--target-dir").arg(LIBRARY.parent().expect("it lies in a target folder"));
        script.env_remove("CARGO_BUILD_TARGET").env_remove("DESTDIR").output().expect("the script runs")
    };
    for compiler in ["false", "/nowhere/cc"] {
        let refused = script(compiler);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("nothing is installed"), "{compiler}: {said}");
        assert!(fs::read_dir(folder.path()).expect("it is there").next().is_none(), "{compiler}");
    }
    assert!(script("gcc").status.success());
    let before = fs::read(&real).expect("it is installed");
    assert!(!script("false").status.success());
    assert_eq!(fs::read(&real).expect("it is still there"), before);
}

/// As cargo links it: relocations are read-only from the start, and unwinders find the frames.
#[test]
fn the_installed_library_is_hardened_as_that_of_cargo() {
    for library in [LIBRARY.join("libbackoff.so"), INSTALLED.join("lib/libbackoff.so")] {
        let said = run(Command::new("readelf").args(["-d", "-l", "-W"]).arg(&library));
        for part in ["GNU_RELRO", "NOW", "GNU_EH_FRAME"] {
            assert!(said.contains(part), "{part} is missing in {}: {said}", library.display());
        }
    }
}

/// DESTDIR comes before every path and into none; what was installed can be removed.
#[test]
fn destdir_stages_and_uninstall_removes() {
    let stage = tempfile::tempdir().expect("there is room for a stage");
    fs::write(stage.path().join("kept"), "").expect("the stage is writable");
    let destdir = stage.path().display().to_string();
    install(Path::new("/usr"), &["--libdir", "/usr/lib/triplet"], &destdir);
    let pc = fs::read_to_string(stage.path().join("usr/lib/triplet/pkgconfig/backoff.pc")).expect("it is staged");
    assert!(pc.contains("prefix=/usr\nlibdir=${prefix}/lib/triplet\n") && !pc.contains(&destdir), "{pc}");
    install(Path::new("/usr"), &["--libdir", "/usr/lib/triplet", "--uninstall"], &destdir);
    assert!(!stage.path().join("usr").exists(), "{}", run(Command::new("find").arg(stage.path())));
}

/// A prefix with a blank, a library folder of Debian's kind, an umask that hides: found by both, and readable by all; also
/// after the whole prefix has been moved.
#[test]
fn blanks_multiarch_umask_and_a_move_are_no_matter() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("there is room for a prefix");
    let (prefix, moved) = (folder.path().join("a prefix"), folder.path().join("another"));
    let libdir = prefix.join("lib/x86_64-linux-gnu");
    let mut script = Command::new("sh");
    script.args(["-c", "umask 077; exec \"$0\" \"$@\""]).arg(Path::new(ROOT).join("crates/backoff-c/install.sh"));
    script.arg("--prefix").arg(&prefix).arg("--libdir").arg(&libdir);
    script.arg("--target-dir").arg(LIBRARY.parent().expect("it lies in a target folder"));
    run(script.env("CARGO_NET_OFFLINE", "true").env_remove("CARGO_BUILD_TARGET").env_remove("DESTDIR"));
    for file in [
        "include/backoff.h",
        "include/backoff.hpp",
        "share/licenses/libbackoff/LICENSE-MIT",
        "share/man/man3/backoff.3",
    ] {
        let mode =
            fs::metadata(prefix.join(file)).unwrap_or_else(|error| panic!("{file}: {error}")).permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "{file}");
    }
    assert_eq!(fs::metadata(&libdir).expect("it is there").permissions().mode() & 0o777, 0o755);
    fs::write(folder.path().join("program.c"), PROGRAM).expect("the folder is writable");
    if is_there("pkg-config") {
        let mut shell = Command::new("sh");
        let line = "eval gcc -std=c99 program.c $(pkg-config --cflags --libs backoff) -o program && ./program";
        shell.args(["-c", line]).current_dir(folder.path());
        shell.env("PKG_CONFIG_PATH", libdir.join("pkgconfig")).env("LD_LIBRARY_PATH", &libdir);
        assert_eq!(run(&mut shell), ANSWER);
    }
    fs::rename(&prefix, &moved).expect("a folder can be moved");
    if is_there("cmake") {
        let lists = "cmake_minimum_required(VERSION 3.13)\nproject(program C)\nfind_package(backoff 1.0 REQUIRED)\n\
            add_executable(program program.c)\ntarget_link_libraries(program backoff::backoff)\n";
        fs::write(folder.path().join("CMakeLists.txt"), lists).expect("the folder is writable");
        let build = folder.path().join("build");
        let found = format!("-Dbackoff_DIR={}", moved.join("lib/x86_64-linux-gnu/cmake/backoff").display());
        run(Command::new("cmake").arg("-S").arg(folder.path()).arg("-B").arg(&build).arg(found));
        run(Command::new("cmake").arg("--build").arg(&build));
        assert_eq!(run(&mut Command::new(build.join("program"))), ANSWER);
    }
}

/// As root after a build as user: no cargo in PATH.
#[test]
fn what_is_built_is_installed_without_cargo() {
    LazyLock::force(&LIBRARY);
    let folder = tempfile::tempdir().expect("there is room for a prefix");
    let mut script = Command::new("/bin/sh");
    script.arg(Path::new(ROOT).join("crates/backoff-c/install.sh")).arg("--prefix").arg(folder.path());
    script.arg("--target-dir").arg(LIBRARY.parent().expect("it lies in a target folder"));
    run(script.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env_remove("DESTDIR"));
    assert!(folder.path().join("lib/libbackoff.so.1.0.0").is_file());
}
