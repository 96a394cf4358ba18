//! libbackoff from outside: its header, its files, and C programs that use it.
//!
//! The library is built here as a user builds it, in release; so what holds here holds for what is installed.

mod harness;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use harness::headers::{ALL as HEADER, INCLUDE, MADE};
use harness::{LIBRARY, ROOT, STRICT, built, files_with_extension, is_there, run};

/// The headers in `include/` are what users read; they must be those that belong to the code. `backoff.h`, which every
/// program includes, is short.
#[test]
fn the_headers_are_those_that_the_source_gives() {
    for (header, made) in &*MADE {
        let checked_in = fs::read_to_string(INCLUDE.join(header)).unwrap_or_default();
        assert!(checked_in == *made, "include/{header} is not up to date: BLESS=1 cargo test --test ffi rewrites it");
    }
    assert!(MADE[0].1.lines().count() <= 600, "backoff.h has {} lines", MADE[0].1.lines().count());
}

/// The headers are checked in once: the package of the C crate has them by a link, which `cargo package` follows.
#[test]
fn the_package_has_the_headers_of_include() {
    let package = Path::new(ROOT).join("crates/backoff-c/include");
    assert_eq!(fs::read_link(&package).expect("a link"), Path::new("../../include"));
    for header in MADE.iter().map(|(header, _)| *header).chain(["backoff.hpp", "backoff_one.h"]) {
        assert!(package.join(header).is_file(), "{header} is not in the package");
    }
}

/// What a program compiled against an earlier header relies on. `abi/N.txt` has the functions with their types, the fields
/// with their places, and the numbers, that the last tagged version with the soname libbackoff.so.N had. Each of these lines must
/// still be true; what has come since is in no line. A tag of a version comes with a new list: `BLESS=abi`.
#[test]
fn the_abi_of_the_last_tagged_version_is_still_there() {
    let abi = abi();
    let number = HEADER.lines().find_map(|line| line.strip_prefix("#define BACKOFF_ABI ")).expect("the header has it");
    let file = Path::new(ROOT).join(format!("ffi-tests/abi/{number}.txt"));
    if env::var("BLESS").is_ok_and(|what| what == "abi") {
        fs::write(&file, abi.iter().map(|line| format!("{line}\n")).collect::<String>())
            .expect("the folder is writable");
    }
    let tagged = fs::read_to_string(&file).expect("this soname has its list");
    let gone: Vec<&str> = tagged.lines().filter(|line| !abi.contains(*line)).collect();
    assert!(!tagged.is_empty() && gone.is_empty(), "another soname, or keep these: {gone:#?}");
}

/// The same of the binary: abidiff compares what the library was compiled to with `abi/N.abi`, which abidw made. Functions may
/// be added; a schedule is opaque.
#[test]
#[cfg(target_arch = "x86_64")]
fn abidiff_finds_the_binary_interface_of_the_last_tagged_version() {
    if !is_there("abidiff") {
        return;
    }
    let library = built("libbackoff-debug", &[("CARGO_PROFILE_RELEASE_DEBUG", "2")]).join("libbackoff.so");
    let folder = Path::new(ROOT).join("ffi-tests/abi");
    let (list, passed_over) = (folder.join("1.abi"), folder.join("passed-over.ini"));
    if env::var("BLESS").is_ok_and(|what| what == "abi") {
        let mut abidw = Command::new("abidw");
        abidw.args(["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-parameter-names"]);
        abidw.args(["--type-id-style", "hash", "--suppressions"]).arg(&passed_over).arg("--out-file");
        run(abidw.arg(&list).arg(&library));
    }
    let mut abidiff = Command::new("abidiff");
    abidiff.args(["--no-added-syms", "--suppressions"]).arg(&passed_over);
    run(abidiff.arg(&list).arg(&library));
}

/// Each function with its types, each struct with its size and the place and size of its fields, each number of an
/// enumeration and each flag.
fn abi() -> BTreeSet<String> {
    let mut prints = String::new();
    let mut lines: BTreeSet<String> = BTreeSet::new();
    let (mut declaration, mut body) = (String::new(), "");
    for line in HEADER.lines() {
        if let Some(name) = line.strip_prefix("struct ").and_then(|line| line.strip_suffix(" {")) {
            body = name;
            prints += &format!("    printf(\"struct {name} %u\\n\", (unsigned)sizeof(struct {name}));\n");
        } else if line == "};" {
            body = "";
        } else if let Some(field) = line.strip_suffix(';').filter(|_| !body.is_empty()) {
            let name =
                field.split('[').next().and_then(|field| field.split([' ', '*']).next_back()).unwrap_or_default();
            let parts = format!("offsetof(struct {body}, {name}), (unsigned)sizeof(((struct {body} *)0)->{name})");
            prints += &format!("    printf(\"field {body}.{name} at %u, %u\\n\", (unsigned){parts});\n");
        } else if let Some((name, number)) = line.trim_end_matches(',').split_once(" = ").filter(|_| body.is_empty())
            && let Some(name) = name.strip_prefix("    BACKOFF_")
        {
            lines.insert(format!("number BACKOFF_{name} {number}"));
        } else if let Some(flag) = line.strip_prefix("#define BACKOFF_FLAG_") {
            lines.insert(format!("number BACKOFF_FLAG_{flag}"));
        } else if !declaration.is_empty() || functions(line).len() == 1 {
            declaration += " ";
            declaration += line.trim();
            if let Some(whole) = declaration.strip_suffix(" BACKOFF_DIRECT;") {
                lines.insert(format!("function{whole}"));
                declaration.clear();
            }
        }
    }
    let folder = tempfile::tempdir().expect("there is room for a program");
    let source = folder.path().join("sizes.c");
    let includes: String = MADE.iter().map(|(header, _)| format!("#include \"{header}\"\n")).collect();
    let program = format!("#include <stdio.h>\n{includes}int main(void)\n{{\n{prints}    return 0;\n}}\n");
    fs::write(&source, program).expect("the folder is writable");
    lines.extend(compile_and_run("gcc", "c99", &source, "libbackoff.so").lines().map(str::to_owned));
    lines
}

/// C compilers differ in what they make of other characters, even in comments.
#[test]
fn the_header_is_ascii() {
    let lines: Vec<&str> = HEADER.lines().filter(|line| !line.is_ascii()).collect();
    assert!(lines.is_empty(), "{lines:#?}");
}

/// In C++ it also proves `extern "C"`: without it the program would not link.
#[test]
fn the_header_compiles_and_links_as_c99_c11_and_cpp17() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let includes: String = MADE.iter().map(|(header, _)| format!("#include \"{header}\"\n")).collect();
    for (compiler, standard, file) in [
        ("gcc", "c99", "version.c"),
        ("gcc", "c11", "version.c"),
        ("g++", "c++17", "version.cc"),
        ("clang", "c99", "version.c"),
        ("clang", "c11", "version.c"),
        ("clang++", "c++17", "version.cc"),
    ] {
        if !is_there(compiler) {
            continue;
        }
        let source = folder.path().join(file);
        let body = "int main(void) {\n\
                struct backoff_config config = BACKOFF_CONFIG_INIT;\n\
                struct backoff station;\n\
                backoff_status status = backoff_init(&station, &config, 1, 2);\n\
                return status != BACKOFF_STATUS_OK;\n\
            }\n";
        let program = format!("{includes}{body}");
        fs::write(&source, program).expect("the folder is writable");
        compile_and_run(compiler, standard, &source, "libbackoff.so");
    }
}

/// The complete program in the manual is complete: it compiles unchanged, and prints one delay for each of its five
/// collisions, each below twice the range before.
#[test]
fn the_station_in_the_header_runs() {
    for output in outputs_of_the_program_in_the_header(0) {
        let delays: Vec<u64> = output
            .lines()
            .map(|line| line.strip_prefix("wait ").and_then(|line| line.strip_suffix(" slots")?.parse().ok()))
            .map(|delay| delay.unwrap_or_else(|| panic!("{output}")))
            .collect();
        assert_eq!(delays.len(), 5, "{output}");
        assert!(delays.iter().zip(1..).all(|(&delay, n)| delay < 1 << n), "{output}");
    }
}

/// The second one likewise: it ends as it says.
#[test]
fn the_client_in_the_header_runs() {
    for output in outputs_of_the_program_in_the_header(1) {
        let last = output.lines().last().unwrap_or_default();
        assert!(last.starts_with("served at 3") || last.starts_with("served at 4"), "{output}");
        let delays =
            output.lines().filter_map(|line| line.split_once("again in ")?.1.strip_suffix(" ns")?.parse::<u64>().ok());
        assert!(delays.clone().count() >= 3 && delays.max() <= Some(2_000_000_000), "{output}");
    }
}

/// What that program of the header prints, compiled by each compiler. It begins with its first include, and ends where the
/// text is no longer indented.
fn outputs_of_the_program_in_the_header(number: usize) -> Vec<String> {
    let lines: Vec<&str> = HEADER.lines().map(|line| line.strip_prefix(" * ").unwrap_or_default()).collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| line.starts_with("    #include <inttypes.h>"));
    let (start, _) = starts.clone().nth(number).expect("the header has that many programs");
    let program: Vec<&str> = lines[start..]
        .iter()
        .map_while(|line| if line.is_empty() { Some(*line) } else { line.strip_prefix("    ") })
        .collect();
    let folder = tempfile::tempdir().expect("there is room for a program");
    let source = folder.path().join("example.c");
    fs::write(&source, program.join("\n") + "\n").expect("the folder is writable");
    let compilers = ["gcc", "clang"].into_iter().filter(|compiler| is_there(compiler));
    compilers.map(|compiler| compile_and_run(compiler, "c99", &source, "libbackoff.so")).collect()
}

/// What a program without libbackoff copies: one file, below 400 lines, clean for each compiler that is here, those for
/// Cortex-M0 and RISC-V too, and for C++. `one.c` compares its delays with the library's.
#[test]
fn the_single_file_compiles_without_a_warning() {
    let text = fs::read_to_string(INCLUDE.join("backoff_one.h")).expect("it is checked in");
    assert!(text.lines().count() < 400 && text.is_ascii());
    let folder = tempfile::tempdir().expect("there is room for a program");
    let program = "#include \"backoff_one.h\"\n\
        int fail(struct backoff_one *o, const struct backoff_one_policy *p, uint64_t *d);\n\
        int fail(struct backoff_one *o, const struct backoff_one_policy *p, uint64_t *d)\n\
        { return (int)backoff_one_fail(o, p, 1, 0, d); }\n";
    fs::write(folder.path().join("one.c"), program).expect("the folder is writable");
    for (compiler, flags) in [
        ("gcc", &["-std=c99"][..]),
        ("clang", &["-std=c99"]),
        ("g++", &["-std=c++17", "-xc++"]),
        ("arm-none-eabi-gcc", &["-std=c99", "-mcpu=cortex-m0", "-mthumb"]),
        ("riscv64-linux-gnu-gcc", &["-std=c99"]),
    ] {
        // The cross compilers are not in every checkout's machine; `.ci/targets run` needs them.
        if Command::new(compiler).arg("--version").output().is_ok() {
            let mut command = Command::new(compiler);
            command.args(flags).args(STRICT).args(["-Wconversion", "-c", "-I"]).arg(&*INCLUDE);
            run(command.arg(folder.path().join("one.c")).arg("-o").arg(folder.path().join("one.o")));
        }
    }
}

/// Each program in this folder holds one claim about the library; it says which line failed.
#[test]
fn every_c_program_passes_with_both_libraries() {
    let programs = files_with_extension(&Path::new(ROOT).join("ffi-tests"), "c");
    assert!(!programs.is_empty());
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| is_there(compiler)) {
        for (standard, program) in ["c99", "c11"].iter().flat_map(|s| programs.iter().map(move |p| (s, p))) {
            for library in ["libbackoff.so", "libbackoff.a"] {
                compile_and_run(compiler, standard, program, library);
            }
        }
    }
}

/// A timer wheel with retries and with devices that are switched off. Apart from the other programs, which run under valgrind
/// too.
#[test]
fn a_million_devices_come_back_after_their_server() {
    for library in ["libbackoff.so", "libbackoff.a"] {
        compile_and_run("gcc", "c99", &Path::new(ROOT).join("ffi-tests/examples/wheel.c"), library);
    }
}

/// What is exported is promised, and what is promised must be there.
#[test]
fn the_shared_library_exports_exactly_the_functions_of_the_header() {
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(LIBRARY.join("libbackoff.so")));
    let exported: BTreeSet<&str> = symbols.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let declared = functions(&HEADER);
    assert!(declared.contains("backoff_collide"), "{declared:?}");
    assert_eq!(exported, declared);
    let map = fs::read_to_string(Path::new(ROOT).join("crates/backoff-c/backoff.map")).expect("it is checked in");
    let versioned = map.lines().filter_map(|line| line.trim().strip_suffix(';'));
    let versioned: BTreeSet<&str> = versioned.filter(|name| name.starts_with("backoff_")).collect();
    assert_eq!(versioned, declared, "backoff.map gives each function its version");
}

/// The names before the parentheses of the header's declarations, which alone begin at the left margin with a word
/// and have one.
fn functions(header: &str) -> BTreeSet<&str> {
    let declarations = header.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let declarations = declarations.filter(|line| !line.starts_with("static inline "));
    let names = declarations.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    names.collect()
}

/// Programs of one ABI find each other by the soname; a library that needs no other runs everywhere.
#[test]
fn the_shared_library_has_its_soname_and_needs_no_other() {
    let dynamic = run(Command::new("readelf").args(["-d", "-W"]).arg(LIBRARY.join("libbackoff.so")));
    let abi = HEADER.lines().find_map(|line| line.strip_prefix("#define BACKOFF_ABI ")).expect("the header has it");
    assert!(dynamic.contains(&format!("Library soname: [libbackoff.so.{abi}]")), "{dynamic}");
    assert!(!dynamic.contains("NEEDED"), "{dynamic}");
    let symbols = run(Command::new("nm").args(["-D", "--undefined-only"]).arg(LIBRARY.join("libbackoff.so")));
    let needed: Vec<&str> = symbols.lines().filter(|line| !line.trim_start().starts_with("w ")).collect();
    assert!(needed.is_empty(), "undefined, and not weak: {needed:?}");
}

/// A panic in a `no_std` library has nowhere to go; so there must be no way to one, nor to the handler.
#[test]
fn no_path_to_a_panic_is_left() {
    let symbols = run(Command::new("nm").arg(LIBRARY.join("libbackoff.so")));
    assert!(symbols.contains("backoff_collide"), "the symbols have been stripped");
    let panics: Vec<&str> = symbols.lines().filter(|line| line.contains("panic") || line.contains("unwind")).collect();
    assert!(panics.is_empty(), "{panics:?}");
}

/// What the header lists for interrupt handlers that do not save vector registers: neither these functions nor what
/// they call touches one. The module names functions that are not exported.
#[test]
#[cfg(target_arch = "x86_64")]
fn the_functions_that_the_header_names_leave_vector_registers_alone() {
    const OTHERS: [&str; 5] = ["schedule", "words", "moments", "backoff8prepared5write", "backoff4rate"];
    let exempt = |name: &str| {
        ["backoff_init", "backoff_draws", "backoff_policy_prepare", "backoff_policy_draws", "backoff_policy_moments"]
            .contains(&name)
            || name.starts_with("backoff_rate_")
            || name.starts_with("backoff_window_")
            || name.starts_with("backoff_schedule_")
            || (!name.starts_with("backoff_") && OTHERS.iter().any(|other| name.contains(other)))
    };
    let code = run(Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(LIBRARY.join("libbackoff.so")));
    let (mut function, mut seen) = ("", 0);
    for line in code.lines() {
        if let Some((_, name)) = line.split_once('<').filter(|_| line.ends_with(">:")) {
            function = name.trim_end_matches(">:");
            seen += usize::from(function.starts_with("backoff_"));
        }
        let vector = ["%xmm", "%ymm", "%zmm"].iter().any(|register| line.contains(register));
        assert!(!vector || exempt(function), "{function}: {line}");
    }
    assert!(seen > 30, "objdump shows {seen} functions");
}

/// For kernels: the library of that target has no vector register in any function, as what a C compiler links of it shows.
/// Ignored because the target must be there: `rustup target add x86_64-unknown-none`; `.ci/full` runs it.
#[test]
#[ignore = "needs `rustup target add x86_64-unknown-none`"]
fn the_library_for_kernels_has_no_vector_registers() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernel");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "-p", "ethbus-backoff-c", "--target", "x86_64-unknown-none", "--target-dir"]);
    run(cargo.arg(&folder).current_dir(ROOT));
    let linked = folder.join("linked.so");
    let mut linker = Command::new("gcc");
    linker.args(["-shared", "-nostdlib", "-Wl,--gc-sections", "-o"]).arg(&linked);
    linker.args(functions(&HEADER).into_iter().map(|name| format!("-Wl,-u,{name}")));
    linker.arg("-Wl,--version-script").arg(Path::new(ROOT).join("crates/backoff-c/backoff.map"));
    run(linker.arg(folder.join("x86_64-unknown-none/release/libbackoff.a")));
    let code = run(Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(&linked));
    for name in functions(&HEADER) {
        assert!(code.contains(&format!("<{name}")), "{name} is not there");
    }
    let vector: Vec<&str> = code.lines().filter(|line| line.contains("%xmm") || line.contains("%ymm")).collect();
    assert!(vector.is_empty(), "{vector:#?}");
}

/// Where a pointer has 32 bits: every C program and the golden vectors, with both libraries. Ignored because it needs that
/// target and a C library for it: `rustup target add i686-unknown-linux-gnu`, gcc-multilib; `.ci/full` runs it.
#[test]
#[cfg(target_arch = "x86_64")]
#[ignore = "needs `rustup target add i686-unknown-linux-gnu` and gcc-multilib"]
fn every_c_program_passes_with_the_libraries_of_32_bits() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("i686");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "-p", "ethbus-backoff-c", "--target", "i686-unknown-linux-gnu", "--target-dir"]);
    run(cargo.arg(&folder).current_dir(ROOT));
    let (libraries, tests) = (folder.join("i686-unknown-linux-gnu/release"), Path::new(ROOT).join("ffi-tests"));
    // Programs ask for the library by its soname.
    fs::copy(libraries.join("libbackoff.so"), libraries.join("libbackoff.so.1")).expect("the folder is writable");
    let mut programs = files_with_extension(&tests, "c");
    programs.extend([tests.join("examples/wheel.c"), tests.join("golden/golden.c")]);
    let program = folder.join("program");
    for (source, library) in programs.iter().flat_map(|source| ["libbackoff.so", "libbackoff.a"].map(|it| (source, it)))
    {
        let mut compiler = Command::new("gcc");
        compiler.args(["-m32", "-std=c99"]).args(STRICT).arg("-I").arg(&*INCLUDE);
        run(compiler.arg(source).arg(libraries.join(library)).arg("-o").arg(&program));
        run(Command::new(&program).arg(tests.join("golden/golden.json")).env("LD_LIBRARY_PATH", &libraries));
    }
}

/// No larger than [`harness::MOST_OCTETS`].
#[test]
fn the_stripped_library_is_small() {
    let folder = tempfile::tempdir().expect("there is room for a library");
    let stripped = folder.path().join("libbackoff.so");
    run(Command::new("strip").arg("-o").arg(&stripped).arg(LIBRARY.join("libbackoff.so")));
    let octets = fs::metadata(&stripped).expect("strip wrote it").len();
    assert!(octets < harness::MOST_OCTETS, "{octets} octets");
}

/// The same in C++: what the header promises holds there too.
#[test]
fn every_cpp_program_passes_with_both_libraries() {
    for program in files_with_extension(&Path::new(ROOT).join("ffi-tests"), "cc") {
        for compiler in ["g++", "clang++"].into_iter().filter(|compiler| is_there(compiler)) {
            for library in ["libbackoff.so", "libbackoff.a"] {
                compile_and_run(compiler, "c++17", &program, library);
            }
        }
    }
}

/// Compiles `source` strictly, links it with that file of the library, and runs it; gives what it prints.
fn compile_and_run(compiler: &str, standard: &str, source: &Path, library: &str) -> String {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let program = folder.path().join("program");
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(STRICT).arg("-I").arg(&*INCLUDE);
    run(command.arg(source).arg(LIBRARY.join(library)).arg("-o").arg(&program));
    run(Command::new(&program).env("LD_LIBRARY_PATH", &*LIBRARY))
}
