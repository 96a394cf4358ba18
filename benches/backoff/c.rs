//! What the functions of libbackoff cost from C, through the shared library: the rows of `table.c`, which runs beside this and
//! is asked for one row at a time. Yardsticks in C are rows there too.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use criterion::Bencher;

use crate::nanoseconds::Nanoseconds;

/// How many operations one round of a row has.
const OPERATIONS: u64 = 4096;

/// The C program, which ends when it is asked no more.
pub struct Table {
    _child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Table {
    /// Builds the library as a user builds it, and the program with it.
    pub fn start() -> Table {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.join("../..");
        let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("libbackoff-bench");
        let library = target.join("release");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--release", "-p", "ethbus-backoff-c", "--target-dir"]).arg(&target);
        run(cargo.current_dir(&root));
        std::fs::copy(library.join("libbackoff.so"), library.join("libbackoff.so.1")).expect("the folder is writable");
        let program = library.join("table");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c11", "-O2", "-I"]).arg(root.join("include")).arg(here.join("table.c"));
        run(compiler.arg(library.join("libbackoff.so")).arg("-lm").arg("-o").arg(&program));
        Table::serve(Command::new(program).env("LD_LIBRARY_PATH", library))
    }

    /// The pairs of libuv and libevent; `None` without their headers.
    pub fn of_loops() -> Option<Table> {
        let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("loops");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c11", "-O2"]).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("table_loops.c"));
        compiler.args(["-luv", "-levent_core", "-o"]).arg(&program).stderr(Stdio::null());
        compiler.status().is_ok_and(|status| status.success()).then(|| Table::serve(&mut Command::new(program)))
    }

    fn serve(command: &mut Command) -> Table {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it has just been built");
        let (ask, answers) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Table { _child: child, ask, answers: BufReader::new(answers) }
    }

    /// Times one operation of a row.
    pub fn row(&mut self, bencher: &mut Bencher<'_, Nanoseconds>, row: &str) {
        bencher.iter_custom(|times| {
            let (took, operations) = self.time(row, times.div_ceil(OPERATIONS));
            Nanoseconds::share(took, times, operations)
        });
    }

    /// How long this number of rounds of a row takes, and how many operations they have.
    pub fn time(&mut self, row: &str, rounds: u64) -> (Duration, u64) {
        writeln!(self.ask, "{row} {rounds}").expect("it listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        let (took, operations) = answer.trim().split_once(' ').unwrap_or_else(|| panic!("no row {row}: {answer}"));
        (Duration::from_nanos(took.parse().expect("a number")), operations.parse().expect("a number"))
    }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
