//! Whatever a command writes, nothing that stood under the name is lost: a device, a pipe, a link, somebody's notes.

use crate::common::process::{ethbus, program, run};
use crate::common::{skip, skipped};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::Path;
use tempfile::TempDir;

/// Every option of every command that names a file to be written, `FILE` in its place, and the end of the name.
/// Events, records and rows are written one after another, so a device takes them; pictures and merged
/// tables are put in place whole, and a device refuses them.
const OUTPUTS: [(&str, &str, Takes); 17] = [
    ("sim --stations 2 --duration 10ms --warmup 0s --events FILE", ".events", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --record FILE", ".record", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --frames FILE", ".csv", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --series 5ms --series-out FILE", ".csv", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --pcapng FILE", ".pcapng", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --perfetto FILE", ".pftrace", Takes::Stream),
    ("sim --stations 2 --duration 10ms --warmup 0s --vcd FILE", ".vcd", Takes::Stream),
    ("convert IN/a.events --to pcapng -o FILE", ".pcapng", Takes::Stream),
    ("convert IN/a.record --to csv -o FILE", ".csv", Takes::Stream),
    ("report IN/a.events -o FILE", ".html", Takes::Whole),
    ("replay IN/a.record --events FILE", ".events", Takes::Stream),
    ("explain IN/a.events --pick collisions=1 --svg FILE", ".svg", Takes::Whole),
    ("sweep --set stations=2,3 --duration 10ms --warmup 0s --out FILE", ".csv", Takes::Stream),
    ("merge --out FILE IN/1.csv IN/2.csv", ".csv", Takes::Whole),
    ("plot IN/1.csv --x stations --y utilization_total --out FILE", ".svg", Takes::Whole),
    ("plot IN/1.csv --x stations --y utilization_total --out FILE", ".png", Takes::Whole),
    ("init bus FILE", ".toml", Takes::Nothing),
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
        "sim --stations 4 --duration 10ms --warmup 0s --events IN/a.events --record IN/a.record",
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

/// A page that somebody else has made begins as any page does.
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

/// What a name is: the file's number, whether it is a device or a pipe, and where a link leads.
fn identity(path: &Path) -> (u64, bool, bool, Option<std::path::PathBuf>) {
    let there = fs::symlink_metadata(path).expect("still there");
    let kind = there.file_type();
    (there.ino(), kind.is_char_device(), kind.is_fifo(), fs::read_link(path).ok())
}
