//! The programs of docs/backoff, unchanged: the first screen and the six of c.md, compiled strictly, run, and measured.

mod harness;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::headers::INCLUDE;
use harness::{LIBRARY, ROOT, is_there, run, say_skipped};

/// As strict as a maintainer who tries the library for the first time.
const WARNINGS: [&str; 5] = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"];

/// How a C program of a page begins.
const FIRST: &str = "#include <stdio.h>";

/// The programs of a page, in its order: from each line that begins one to where the text is no longer indented.
fn programs(page: &str, first: &str) -> Vec<String> {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/backoff").join(page)).expect("it is checked in");
    let lines: Vec<&str> = page.lines().collect();
    let starts =
        lines.iter().enumerate().filter(|(_, line)| line.strip_prefix("    ") == Some(first)).map(|(at, _)| at);
    starts
        .map(|start| {
            let program = lines[start..].iter().map_while(|line| match *line {
                "" => Some(""),
                line => line.strip_prefix("    "),
            });
            program.map(|line| format!("{line}\n")).collect()
        })
        .collect()
}

/// The programs as files of that folder, and the source of `entropy`, which is a constant here.
fn written(folder: &Path) -> (Vec<PathBuf>, PathBuf) {
    let sources = programs("c.md", FIRST).into_iter().enumerate().map(|(number, text)| {
        let source = folder.join(format!("program{number}.c"));
        fs::write(&source, text).expect("the folder is writable");
        source
    });
    let entropy = folder.join("entropy.c");
    let text = "#include <stdint.h>\nuint64_t entropy(void);\nuint64_t entropy(void) { return 802; }\n";
    fs::write(&entropy, text).expect("the folder is writable");
    (sources.collect(), entropy)
}

/// Each compiles without a warning, for a Cortex-M0 and for RISC-V too. `.ci/full` has every compiler.
#[test]
fn the_programs_of_the_page_compile_without_a_warning() {
    let folder = tempfile::tempdir().expect("there is room for programs");
    let (sources, _) = written(folder.path());
    assert_eq!(sources.len(), 6);
    for (compiler, flags) in [
        ("gcc", &[][..]),
        ("clang", &[]),
        ("arm-none-eabi-gcc", &["-mcpu=cortex-m0", "-mthumb"]),
        ("riscv64-linux-gnu-gcc", &[]),
    ] {
        if !is_there(compiler) {
            continue;
        }
        for source in &sources {
            let mut command = Command::new(compiler);
            command.args(WARNINGS).args(flags).arg("-I").arg(&*INCLUDE).arg("-c").arg(source);
            run(command.arg("-o").arg(folder.path().join("program.o")));
        }
    }
}

/// What a maintainer copies first: 20 lines, without a warning, and the fourth request is served.
#[test]
fn the_program_of_the_first_screen_runs() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let (source, program) = (folder.path().join("first.c"), folder.path().join("first"));
    let found = programs("README.md", FIRST);
    assert_eq!(found.len(), 1);
    assert!(found[0].trim_end().lines().count() <= 20, "{}", found[0]);
    fs::write(&source, &found[0]).expect("the folder is writable");
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| is_there(compiler)) {
        let mut command = Command::new(compiler);
        command.args(&WARNINGS[1..]).arg("-I").arg(&*INCLUDE).arg(&source);
        run(command.arg(LIBRARY.join("libbackoff.so")).arg("-o").arg(&program));
        assert_eq!(run(Command::new(&program).env("LD_LIBRARY_PATH", &*LIBRARY)), "served\n");
    }
}

/// The ten lines of Python, where cffi is.
#[test]
fn the_program_for_python_runs() {
    let found = programs("c.md", "import os, cffi");
    assert_eq!(found.len(), 1);
    let python = |program: &str| {
        let mut command = Command::new("python3");
        command.args(["-c", program]).env("LD_LIBRARY_PATH", &*LIBRARY);
        command
    };
    if !python("import cffi").output().is_ok_and(|output| output.status.success()) {
        say_skipped("no cffi for python3 on this machine");
        return;
    }
    let printed = run(&mut python(&found[0]));
    assert_eq!(printed.lines().filter(|line| line.starts_with("wait ")).count(), 7, "{printed}");
}

/// A `switch` that forgets a status, and an answer that nothing looks at, are warnings of every compiler.
#[test]
fn a_forgotten_status_and_an_ignored_answer_are_warnings() {
    let folder = tempfile::tempdir().expect("there is room for programs");
    let source = folder.path().join("mistake.c");
    let forgets = "int f(backoff_status s);\nint f(backoff_status s)\n\
        { switch (s) { case BACKOFF_STATUS_OK: return 1; case BACKOFF_STATUS_DISCARDED: return 2; } return 0; }\n";
    let ignores = "void f(struct backoff *b, uint64_t *s);\nvoid f(struct backoff *b, uint64_t *s)\n\
        { backoff_collide(b, s); }\n";
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| is_there(compiler)) {
        for (mistake, warning) in [(forgets, "switch"), (ignores, "unused-result")] {
            fs::write(&source, format!("#include <backoff.h>\n{mistake}")).expect("the folder is writable");
            let mut command = Command::new(compiler);
            command.args(["-Wall", "-c", "-I"]).arg(&*INCLUDE).arg(&source).arg("-o").arg(folder.path().join("it.o"));
            let said = command.output().expect("it is there").stderr;
            let said = String::from_utf8_lossy(&said);
            assert!(said.contains(&format!("-W{warning}")), "{compiler}: {said}");
        }
    }
}

/// And each does what its text says, with both libraries.
#[test]
fn the_programs_of_the_page_run() {
    let folder = tempfile::tempdir().expect("there is room for programs");
    let (sources, entropy) = written(folder.path());
    let program = folder.path().join("program");
    for library in ["libbackoff.so", "libbackoff.a"] {
        let printed: Vec<String> = sources
            .iter()
            .map(|source| {
                let mut command = Command::new("gcc");
                command.args(WARNINGS).arg("-I").arg(&*INCLUDE).arg(source).arg(&entropy);
                run(command.arg(LIBRARY.join(library)).arg("-o").arg(&program));
                run(Command::new(&program).env("LD_LIBRARY_PATH", &*LIBRARY))
            })
            .collect();
        assert_eq!(printed[0].lines().count(), 15, "{}", printed[0]);
        assert!(printed[1].contains("ms: the last failure that the policy allows"), "{}", printed[1]);
        assert_eq!(printed[2], "700 ms of the first second are left\n");
        assert_eq!(printed[3], "200 retries of 1000 requests\n");
        assert_eq!(printed[4], "550 requests in a second\n");
        assert_eq!(printed[5], "1000000 devices in 60999 ms\n");
    }
}

/// A station, and an operation with full jitter: the functions that this program takes from the static library are at most
/// 3.4 kB, because the other laws link only where they are used.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_station_and_full_jitter_link_3_kb() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let (sources, entropy) = written(folder.path());
    let station = fs::read_to_string(&sources[0]).expect("it has just been written");
    fs::write(&sources[0], station.replace("main(void)", "station(void)")).expect("the folder is writable");
    let request = fs::read_to_string(&sources[1]).expect("it has just been written");
    let both = request.replace("int main(void)\n{\n", "int station(void);\nint main(void)\n{\n    station();\n");
    fs::write(&sources[1], both).expect("the folder is writable");
    let program = folder.path().join("program");
    let mut command = Command::new("gcc");
    command.args(["-Os", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-I"]).arg(&*INCLUDE);
    run(command.args(&sources[..2]).arg(&entropy).arg(LIBRARY.join("libbackoff.a")).arg("-o").arg(&program));
    let symbols = run(Command::new("nm").args(["-S", "--defined-only"]).arg(&program));
    let mut octets = 0;
    for line in symbols.lines() {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let [_, size, kind, name] = parts[..] else { continue };
        let of_library = name.starts_with("backoff_") || name.starts_with("_ZN") || name.contains("udivti3");
        if of_library && "tTwW".contains(kind) {
            octets += u64::from_str_radix(size, 16).expect("nm writes hexadecimal numbers");
        }
    }
    println!("{octets} octets of functions");
    assert!((1000..=3400).contains(&octets), "{octets} octets: {symbols}");
}
