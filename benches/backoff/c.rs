//! What the functions of libbackoff cost from C, through the shared library, by criterion: the rows of `table.c`, which runs
//! beside this and is asked for one row at a time. One iteration is 4,096 operations.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const OPERATIONS: u64 = 4096;

const ROWS: [&str; 11] = [
    "empty_call",
    "collide",
    "collide_inline",
    "draws",
    "collide_each",
    "retry_fail",
    "prepared_fail",
    "policy_draw",
    "prepared_draw",
    "rate_act",
    "schedule",
];

/// The C program, which ends when it is asked no more.
struct Table {
    _child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Table {
    /// Builds the library as a user builds it, and the program with it.
    fn start() -> Table {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.join("../..");
        let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("libbackoff-bench");
        let library = target.join("release");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--release", "-p", "ethbus-backoff-c", "--target-dir"]).arg(&target);
        run(cargo.current_dir(&root));
        std::fs::copy(library.join("libbackoff.so"), library.join("libbackoff.so.0")).expect("the folder is writable");
        let program = library.join("table");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c11", "-O2", "-I"]).arg(root.join("include")).arg(here.join("table.c"));
        run(compiler.arg(library.join("libbackoff.so")).arg("-o").arg(&program));
        let mut command = Command::new(program);
        command.arg("serve").env("LD_LIBRARY_PATH", library).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it has just been built");
        let (ask, answers) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Table { _child: child, ask, answers: BufReader::new(answers) }
    }

    /// How long so many rounds of a row take.
    fn time(&mut self, row: &str, rounds: u64) -> Duration {
        writeln!(self.ask, "{row} {rounds}").expect("it listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        Duration::from_nanos(answer.trim().parse().expect("a number"))
    }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn rows(criterion: &mut Criterion) {
    let mut table = Table::start();
    let mut group = criterion.benchmark_group("C");
    group.throughput(Throughput::Elements(OPERATIONS));
    for row in ROWS {
        group.bench_function(row, |bencher| bencher.iter_custom(|rounds| table.time(row, rounds)));
    }
}

criterion_group!(c, rows);
criterion_main!(c);
