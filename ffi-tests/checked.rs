//! The C programs once more, watched: by valgrind, and by the sanitizers of both compilers.

mod harness;

use std::path::Path;
use std::process::Command;

use harness::{LIBRARY, ROOT, STRICT, files_with_extension, is_there, run, say_skipped};

/// No octet is read or written that is not the program's, none is used before it is written, none is lost.
#[test]
fn every_c_program_passes_under_valgrind() {
    if !is_there("valgrind") {
        return;
    }
    for program in files_with_extension(&Path::new(ROOT).join("ffi-tests"), "c") {
        let folder = tempfile::tempdir().expect("there is room for a program");
        let binary = folder.path().join("program");
        compile("gcc", &["-g"], &program, &binary);
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=99", "--leak-check=full", "--track-origins=no"]).arg(&binary);
        run(valgrind.env("LD_LIBRARY_PATH", &*LIBRARY));
    }
}

/// The same by AddressSanitizer and UndefinedBehaviorSanitizer, the header's inline code included.
#[test]
fn every_c_program_passes_under_the_sanitizers() {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| is_there(compiler)) {
        let flags = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
        if !links(compiler, &flags) {
            say_skipped(&format!("{compiler} has no sanitizers on this machine"));
            continue;
        }
        for program in files_with_extension(&Path::new(ROOT).join("ffi-tests"), "c") {
            let folder = tempfile::tempdir().expect("there is room for a program");
            let binary = folder.path().join("program");
            compile(compiler, &flags, &program, &binary);
            run(Command::new(&binary).env("LD_LIBRARY_PATH", &*LIBRARY));
        }
    }
}

/// 100,000 random inputs for every function; the fuzzer of `fuzz/backoff.sh` searches on.
#[test]
fn any_octets_have_an_answer() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let binary = folder.path().join("program");
    let source = Path::new(ROOT).join("fuzz/backoff.c");
    compile("gcc", &["-DSTANDALONE", "-g"], &source, &binary);
    for seed in ["1", "802", "1975"] {
        let output = run(Command::new(&binary).args([seed, "100000"]).env("LD_LIBRARY_PATH", &*LIBRARY));
        println!("{output}");
    }
}

fn compile(compiler: &str, flags: &[&str], source: &Path, binary: &Path) {
    let mut command = Command::new(compiler);
    command.arg("-std=c11").args(STRICT).args(flags).arg("-I").arg(Path::new(ROOT).join("include"));
    run(command.arg(source).arg(LIBRARY.join("libbackoff.so")).arg("-o").arg(binary));
}

/// Whether that compiler makes a program with those flags: its runtime library may be missing.
fn links(compiler: &str, flags: &[&str]) -> bool {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let (source, binary) = (folder.path().join("empty.c"), folder.path().join("empty"));
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("the folder is writable");
    let output = Command::new(compiler).args(flags).arg(source).arg("-o").arg(binary).output();
    output.is_ok_and(|output| output.status.success())
}
