//! A command that writes a file destroys nothing under that name: a device, a pipe, a link, a user's notes.

use crate::common::process::{ethbus, program, run};
use crate::common::{skip, skipped};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::Path;
use tempfile::TempDir;

/// Every option of every command that names a file to be written, `FILE` in its place, and the end of the name.
/// Events, records and rows are written one after another, so a device takes them; pictures and merged
/// tables are put in place whole, and a device refuses them.
const OUTPUTS: [(&str, &str, Takes); 21] = [
    ("sim --stations 2 --duration 10ms --warmup 0s --events FILE", ".events", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --events FILE --events-level inputs", ".record", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --frames FILE", ".csv", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --series 5ms --series-out FILE", ".csv", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --pcapng FILE", ".pcapng", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --events FILE", ".ebe", Takes::Stream),
    ("convert IN/a.events --to pcapng -o FILE", ".pcapng", Takes::Stream),
    ("convert IN/a.events --to perfetto -o FILE", ".pftrace", Takes::Stream),
    ("convert IN/a.record --to vcd -o FILE", ".vcd", Takes::Stream),
    ("convert IN/a.events --to trace -o FILE", ".ebe", Takes::Stream),
    ("convert IN/a.ebe --to trace -o FILE", ".events", Takes::Stream),
    ("convert IN/a.record --to csv -o FILE", ".csv", Takes::Stream),
    ("report IN/a.events -o FILE", ".html", Takes::Whole),
    ("replay IN/a.record --events FILE", ".events", Takes::Stream),
    ("explain IN/a.events --pick collisions=1 --svg FILE", ".svg", Takes::Whole),
    ("sweep --set stations=2,3 --duration 10ms --warmup 0s --out FILE", ".csv", Takes::Stream),
    ("sweep merge --out FILE IN/1.csv IN/2.csv", ".csv", Takes::Whole),
    ("plot IN/1.csv --x stations --y utilization_total --out FILE", ".svg", Takes::Whole),
    ("plot IN/1.csv --x stations --y utilization_total --out FILE", ".png", Takes::Whole),
    ("retry --plot FILE full-jitter:100ms,20s", ".svg", Takes::Whole),
    ("init bus --out FILE", ".toml", Takes::Nothing),
];

#[derive(Clone, Copy, PartialEq)]
enum Takes {
    /// One line after another.
    Stream,
    /// All at once.
    Whole,
    /// Only a file that is new.
    Nothing,
}

/// A folder with what the commands read.
fn inputs() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let commands = [
        "sim --stations 4 --duration 10ms --warmup 0s --events IN/a.events --events IN/a.record --events-level inputs",
        "convert IN/a.events --to trace -o IN/a.ebe",
        "sweep --set stations=2,3 --duration 10ms --warmup 0s --shard 1/2 --out IN/1.csv",
        "sweep --set stations=2,3 --duration 10ms --warmup 0s --shard 2/2 --out IN/2.csv",
    ];
    for command in commands {
        run(ethbus(words(command, folder.path(), Path::new("")))).succeeded();
    }
    folder
}

fn words(command: &str, inputs: &Path, output: &Path) -> Vec<String> {
    let put = |word: &str| {
        word.replace("IN", inputs.to_str().expect("a name of letters"))
            .replace("FILE", output.to_str().expect("a name of letters"))
    };
    command.split(' ').map(put).collect()
}

#[test]
fn no_output_replaces_a_device_a_pipe_or_a_link() {
    if skipped(&["mknod", "mkfifo", "cat"]) {
        return;
    }
    let inputs = inputs();
    for (command, end, takes) in OUTPUTS {
        let place = tempfile::tempdir().expect("a folder for temporary files");
        let path = |name: &str| place.path().join(format!("{name}{end}"));
        let device = path("device");
        // The device that takes everything, under a name that may be lost.
        run(program("mknod", [device.as_os_str(), "c".as_ref(), "1".as_ref(), "3".as_ref()])).succeeded();
        if fs::OpenOptions::new().write(true).open(&device).is_err() {
            return skip("devices do not work in the folder for temporary files");
        }
        run(program("mkfifo", [path("pipe")])).succeeded();
        symlink(&device, path("link")).expect("own folder");
        let before = ["device", "pipe", "link"].map(|name| identity(&path(name)));
        for name in ["device", "pipe", "link"] {
            let reader =
                (name == "pipe").then(|| crate::common::process::Running::start(program("cat", [path("pipe")]), ""));
            let ended = run(ethbus(words(command, inputs.path(), &path(name))));
            match takes {
                Takes::Stream => drop(ended.succeeded()),
                Takes::Whole | Takes::Nothing => {
                    assert_ne!(ended.code(), Some(0), "{command}: {name}");
                    assert!(ended.stderr.contains(&format!("{name}{end}")), "{command}: {}", ended.stderr);
                }
            }
            drop(reader);
        }
        let after = ["device", "pipe", "link"].map(|name| identity(&path(name)));
        assert_eq!(after, before, "{command}");
        assert_eq!(fs::read_dir(place.path()).expect("own folder").count(), 3, "{command}: nothing else is left");
    }
}

#[test]
fn no_output_replaces_somebodys_notes() {
    let inputs = inputs();
    for (command, end, _) in OUTPUTS {
        let place = tempfile::tempdir().expect("a folder for temporary files");
        let notes = place.path().join(format!("notes{end}"));
        fs::write(&notes, "milk, eggs\n").expect("own folder");
        let ended = run(ethbus(words(command, inputs.path(), &notes)));
        assert_ne!(ended.code(), Some(0), "{command}");
        assert!(ended.stderr.contains(&format!("notes{end}")), "{command}: {}", ended.stderr);
        assert_eq!(fs::read_to_string(&notes).expect("still there"), "milk, eggs\n", "{command}");
        assert_eq!(fs::read_dir(place.path()).expect("own folder").count(), 1, "{command}: nothing else is left");
    }
}

/// A picture says what made it, and the same command makes the same picture.
#[test]
fn a_picture_has_its_command_seed_and_version() {
    let inputs = inputs();
    let pictures = OUTPUTS.iter().filter(|(_, end, _)| [".svg", ".png"].contains(end));
    for (command, file) in pictures.map(|(command, end, _)| (*command, format!("x & y{end}"))) {
        let file = inputs.path().join(file);
        let made = || {
            run(ethbus(words(command, inputs.path(), &file))).succeeded();
            fs::read(&file).expect("a picture")
        };
        let (picture, second) = (made(), made());
        assert!(picture == second, "{command}: another picture");
        let text = String::from_utf8_lossy(&picture[..picture.len().min(2_000)]);
        let typed = command.split(' ').next().expect("a word");
        let version = concat!("ethbus ", env!("CARGO_PKG_VERSION"));
        for words in [&format!("ethbus {typed} "), version, "seed"] {
            assert!(text.contains(words), "{command}: {words}: {text}");
        }
        assert!(!text.contains("x & y.svg"), "{command}: an ampersand in XML");
    }
}

/// A page of another program begins as any page does.
#[test]
fn a_report_replaces_no_page_but_its_own() {
    let inputs = inputs();
    let page = inputs.path().join("page.html");
    fs::write(&page, "<!DOCTYPE html>\n<p>mine</p>\n").expect("own folder");
    let report = || run(ethbus(words("report IN/a.events -o FILE", inputs.path(), &page)));
    report().failed_with(1, &["page.html", "not a page in HTML"]);
    assert_eq!(fs::read_to_string(&page).expect("still there"), "<!DOCTYPE html>\n<p>mine</p>\n");
    fs::remove_file(&page).expect("own folder");
    report().succeeded();
    report().succeeded();
}

/// A file system of its own with a given number of free octets, and a command in it. Prints the length of FILE.
const FULL: &str =
    "mount -t tmpfs -o size=262144 none \"$1\" && head -c $((262144 - $2)) /dev/zero > \"$1/filler\" || exit 99
file=$3; shift 3; \"$@\" > /dev/null; code=$?; test -f \"$file\" && wc -c < \"$file\"; exit $code";

/// On a full disk, and on one that becomes full.
#[test]
fn no_command_succeeds_beside_a_file_that_is_not_whole() {
    if skipped(&["unshare", "mount", "head"]) {
        return;
    }
    let inputs = inputs();
    for (command, end, _) in OUTPUTS {
        for free in ["0", "4096"] {
            let place = tempfile::tempdir().expect("a folder for temporary files");
            let file = place.path().join(format!("file{end}"));
            let name = |path: &Path| path.to_str().expect("a name of letters").to_owned();
            let begin = ["-m", "sh", "-c", FULL, "sh", &name(place.path()), free, &name(&file), crate::common::ETHBUS];
            let arguments = begin.map(str::to_owned).into_iter().chain(words(command, inputs.path(), &file));
            let ended = run(program("unshare", arguments));
            let octets: u64 = ended.stdout.trim().parse().unwrap_or(0);
            // What has room is written.
            if ended.code() == Some(0) && free != "0" && (1..=4096).contains(&octets) {
                continue;
            }
            assert_eq!(ended.code(), Some(1), "{command}, {free} free: {}", ended.stderr);
            let (name, words) = (format!("file{end}"), "No space left on device");
            assert!(ended.stderr.contains(&name) && ended.stderr.contains(words), "{command}: {}", ended.stderr);
        }
    }
}

/// Where no file may grow (`ulimit -f`), as on a full disk: the program is not ended by the signal that comes with it.
#[test]
fn no_command_is_ended_by_a_limit_on_files() {
    if skipped(&["sh"]) {
        return;
    }
    let inputs = inputs();
    for (command, end, _) in OUTPUTS {
        let place = tempfile::tempdir().expect("a folder for temporary files");
        let file = place.path().join(format!("file{end}"));
        let begin = ["-c", "ulimit -f 0; exec \"$@\" > /dev/null", "sh", crate::common::ETHBUS].map(str::to_owned);
        let ended = run(program("sh", begin.into_iter().chain(words(command, inputs.path(), &file))));
        assert_eq!(ended.code(), Some(1), "{command}: {ended:?}");
        let name = format!("file{end}");
        assert!(ended.stderr.contains(&name) && ended.stderr.contains("File too large"), "{command}: {}", ended.stderr);
    }
}

/// Outputs of several files, in a folder of theirs.
#[test]
fn no_command_succeeds_beside_a_folder_that_is_not_whole() {
    if skipped(&["unshare", "mount", "head"]) {
        return;
    }
    let inputs = inputs();
    for command in
        ["sim --stations 4 --duration 1s --warmup 0s --pcapng FILE --pcapng-rotate 100kB", "help man --out FILE"]
    {
        for free in ["0", "8192"] {
            let place = tempfile::tempdir().expect("a folder for temporary files");
            let [folder, file] = [place.path().to_owned(), place.path().join("a.pcapng")]
                .map(|path| path.to_str().expect("a name of letters").to_owned());
            let begin = ["-m", "sh", "-c", FULL, "sh", &folder, free, &file, crate::common::ETHBUS];
            let arguments = begin.map(str::to_owned).into_iter().chain(words(command, inputs.path(), Path::new(&file)));
            run(program("unshare", arguments)).failed_with(1, &["cannot write", "No space left on device"]);
        }
    }
}

/// Words for people are a result too.
#[test]
fn no_command_succeeds_without_a_place_for_its_words() {
    if skipped(&["sh"]) {
        return;
    }
    for command in [
        "--help",
        "--version",
        "help sim",
        "sim -h",
        "check --schema",
        "help completions bash",
        "help man sim",
        "list",
        "theory check",
    ] {
        let script = format!("\"$1\" {command} > /dev/full");
        run(program("sh", ["-c", &script, "sh", crate::common::ETHBUS]))
            .failed_with(1, &["cannot write the result", "No space left on device"]);
    }
}

/// As `head` reads a line and ends. The log is longer than a pipe holds.
#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    if skipped(&["sh", "head"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let log = folder.path().join("a.events").to_str().expect("a name of letters").to_owned();
    run(ethbus(["sim", "--stations", "4", "--duration", "300ms", "--events", &log])).succeeded();
    for to in ["csv", "trace", "pcapng", "vcd"] {
        let script = "{ \"$1\" convert \"$2\" --to \"$3\"; echo ended with $? >&2; } | head -c 1";
        let ended = run(program("sh", ["-c", script, "sh", crate::common::ETHBUS, &log, to]));
        assert_eq!(ended.stderr, "ended with 0\n", "{to}");
    }
}

/// The same octets as in a file; what the command prints besides goes to standard error. A second output is refused by its name.
#[test]
fn a_dash_is_standard_output_for_every_output() {
    let inputs = inputs();
    for (command, end, _) in OUTPUTS.iter().filter(|(_, end, _)| ![".ebe", ".png"].contains(end)) {
        let place = tempfile::tempdir().expect("a folder for temporary files");
        let run_with = |file: &Path| {
            let mut command = ethbus(words(command, inputs.path(), file));
            command.current_dir(place.path());
            run(command).succeeded()
        };
        let ended = run_with(Path::new("-"));
        assert_eq!(fs::read_dir(place.path()).expect("own folder").count(), 0, "{command}");
        let file = place.path().join(format!("file{end}"));
        let printed = run_with(&file).stdout;
        // A page or a picture tells its own command; a scenario its own name.
        let whole = String::from_utf8_lossy(&fs::read(&file).expect("own file")).into_owned();
        let begin = |text: &str| text.chars().take(14).collect::<String>();
        assert_eq!(begin(&ended.stdout), begin(&whole), "{command}");
        if end == &".events" || end == &".csv" {
            assert_eq!(ended.stdout, whole, "{command}");
        }
        printed
            .lines()
            .for_each(|line| assert!(ended.stderr.contains(line), "{command}: no `{line}` on standard error"));
    }
    let two = run(ethbus(["sim", "--duration", "1ms", "--events", "-", "--pcapng", "-"]));
    two.failed_with(2, &["--events", "standard output is the file of --pcapng too"]);
    let series = run(ethbus(["sim", "--duration", "1ms", "--series", "1ms", "--events", "-"]));
    series.failed_with(2, &["--series", "standard output is the file of --events too"]);
    let in_background = run(ethbus(["up", "--background", "--name", "dash", "--events", "-"]));
    in_background.failed_with(2, &["--events", "no standard output"]);
}

/// The demonstration continues, reports at once the file that is not whole, and names it in its verdict. With
/// `--strict`, too.
#[test]
fn a_live_run_beside_an_incomplete_file_fails() {
    if skipped(&["unshare", "mount", "head"]) {
        return;
    }
    let _turn = crate::common::Turn::shared();
    for (option, name) in [("--events", "run.events"), ("--events", "run.ebe"), ("--pcapng", "run.pcapng")] {
        let place = tempfile::tempdir().expect("a folder for temporary files");
        let file = place.path().join(name);
        let text = |path: &Path| path.to_str().expect("a name of letters").to_owned();
        let demo = ["-t", "1s", "--frame-size", "64", "--tolerance", "100%", "--strict", option, &text(&file)];
        let begin = ["-m", "sh", "-c", FULL, "sh", &text(place.path()), "32768", &text(&file), crate::common::ETHBUS];
        let ended = run(program("unshare", begin.iter().chain(&demo)));
        assert_eq!(ended.code(), Some(1), "{name}: {ended:?}");
        let told = format!("cannot write {} any further", text(&file));
        assert!(ended.stderr.contains(&told) && ended.stderr.contains("; the bus goes on without it"), "{ended:?}");
    }
}

/// A lab in the foreground and in the background, and the command that takes it down.
#[test]
fn a_lab_beside_an_incomplete_file_fails_and_so_does_down() {
    if skipped(&["unshare", "mount", "head", "sh"]) {
        return;
    }
    let _turn = crate::common::Turn::shared();
    let full = "mount -t tmpfs -o size=65536 none \"$1\" && head -c 49152 /dev/zero > \"$1/filler\" || exit 99";
    for limit in [full, "ulimit -f 32"] {
        beside_an_incomplete_file(limit);
    }
}

fn beside_an_incomplete_file(limit: &str) {
    let script = "
        \"$2\" up --name fulldisk --stations 2 --background --events \"$1/run.events\" --events \"$1/run.record\" --events-level inputs || exit 98
        \"$2\" send --name fulldisk --from st1 --to st2 --rate max --frame-size 64 --duration 300ms > /dev/null
        \"$2\" stats --name fulldisk --format json
        \"$2\" down fulldisk > /dev/null; echo $? >&2";
    let (place, script) = (tempfile::tempdir().expect("a folder for temporary files"), format!("{limit}{script}"));
    let arguments = ["-m", "sh", "-c", &script, "sh", place.path().to_str().expect("plain"), crate::common::ETHBUS];
    let ended = run(program("unshare", arguments)).succeeded();
    let results: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let emulator = &results["emulator"];
    assert_eq!(emulator["files_incomplete"], 2, "{ended:?}");
    let holds: Vec<_> = emulator["incomplete_files"].as_array().expect("files").iter().map(|it| &it["holds"]).collect();
    assert_eq!(holds, ["trace", "trace"], "{ended:?}");
    assert!(emulator["verdict"].as_str().is_some_and(|words| words.contains("run.events is not whole")), "{ended:?}");
    assert!(ended.stderr.contains("ethbus: not whole: ") && ended.stderr.ends_with("\n1\n"), "{ended:?}");
}

/// A pipe that no program reads: every output waits for its reader, says so, and any signal ends that.
#[test]
fn a_pipe_without_a_reader_holds_no_command_for_ever() {
    if skipped(&["mkfifo", "env"]) {
        return;
    }
    // `nohup` and a shell's `&` leave signals ignored, and a program inherits that.
    let heard = ["--default-signal=INT,TERM,HUP,QUIT", crate::common::ETHBUS].map(str::to_owned);
    let inputs = inputs();
    let streams = OUTPUTS.into_iter().filter(|(_, _, takes)| *takes == Takes::Stream);
    for ((command, end, _), signal) in streams.zip(["INT", "TERM", "HUP", "QUIT"].into_iter().cycle()) {
        let place = tempfile::tempdir().expect("a folder for temporary files");
        let pipe = place.path().join(format!("pipe{end}"));
        run(program("mkfifo", [&pipe])).succeeded();
        let command_line = heard.iter().cloned().chain(words(command, inputs.path(), &pipe));
        let mut waits = crate::common::process::Running::start(program("env", command_line), "");
        waits.wait_for_stderr("waits for a program that reads");
        waits.signal(signal);
        let ended = waits.wait();
        assert!([Some(130), None].contains(&ended.code()), "{command}, {signal}: {ended:?}");
        if ended.code().is_some() {
            assert!(ended.stderr.contains("is a pipe that no program reads"), "{command}: {ended:?}");
        }
    }
}

/// A missing folder is reported before the work begins: nothing is printed, and no bar is drawn.
#[test]
fn a_result_that_could_not_be_written_is_not_worked_out() {
    let inputs = inputs();
    for (command, end, takes) in OUTPUTS {
        let file = inputs.path().join(format!("nowhere/file{end}"));
        let ended = run(ethbus(words(command, inputs.path(), &file)));
        assert_eq!(ended.code(), Some(1), "{command}: {}", ended.stderr);
        assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1), "{command}: {ended:?}");
        assert!(takes == Takes::Nothing || ended.stderr.contains("nowhere/file"), "{command}: {ended:?}");
    }
}

/// What has no end is no scenario, log, record, table or trace.
#[test]
fn no_input_without_an_end_is_read_to_it() {
    for command in [
        "check /dev/zero",
        "sim /dev/zero",
        "sweep /dev/zero --set stations=2,3 --out FILE",
        "sim --traffic replay:/dev/zero --stations 2",
        "replay /dev/zero",
        "explain /dev/zero",
        "convert /dev/zero --to csv -o FILE",
        "report /dev/zero -o FILE",
        "plot /dev/zero --x stations --y fairness --out FILE.svg",
        "sweep merge --out FILE /dev/zero",
    ] {
        let place = tempfile::tempdir().expect("a folder for temporary files");
        let ended = run(ethbus(words(command, place.path(), &place.path().join("file"))));
        assert!([Some(1), Some(2)].contains(&ended.code()), "{command}: {ended:?}");
        assert!(ended.stderr.contains("/dev/zero"), "{command}: {ended:?}");
        assert_eq!(fs::read_dir(place.path()).expect("own folder").count(), 0, "{command}");
    }
}

/// What a name is: the file's number, whether it is a device or a pipe, and where a link leads.
fn identity(path: &Path) -> (u64, bool, bool, Option<std::path::PathBuf>) {
    let there = fs::symlink_metadata(path).expect("still there");
    let kind = there.file_type();
    (there.ino(), kind.is_char_device(), kind.is_fifo(), fs::read_link(path).ok())
}
