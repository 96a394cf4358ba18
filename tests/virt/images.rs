//! Images of containers as roots: the same run from every folder, and nothing of them left.

use super::common::files::{folder, path};
use super::common::process::{Running, ethbus, run};
use super::common::{skipped, wait_until};
use super::{begun, command, is_ready, read, text};
use std::path::Path;
use std::time::Duration;
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

/// The programs of busybox that stations run here.
const PROGRAMS: [&str; 12] =
    ["sh", "mount", "mkdir", "ip", "date", "sleep", "ping", "cat", "rm", "ls", "stat", "touch"];

fn add(archive: &mut Builder<Vec<u8>>, name: &str, kind: EntryType, octets: &[u8], target: &str) {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(octets.len() as u64);
    header.set_mode(0o755);
    header.set_mtime(1_700_000_000);
    if !target.is_empty() {
        header.set_link_name(target).expect("a short name");
    }
    archive.append_data(&mut header, name, octets).expect("memory takes any octets");
}

/// A file system with busybox alone, as `docker export` writes it.
pub fn busybox() -> Vec<u8> {
    let own = ["/bin/busybox", "/usr/bin/busybox"].into_iter().find(|file| Path::new(file).exists());
    let octets = std::fs::read(own.expect("it is installed")).expect("a file");
    let mut archive = Builder::new(Vec::new());
    add(&mut archive, "bin/busybox", EntryType::Regular, &octets, "");
    for program in PROGRAMS {
        add(&mut archive, &format!("bin/{program}"), EntryType::Link, &[], "bin/busybox");
    }
    archive.into_inner().expect("memory takes any octets")
}

/// As `docker save` writes it: busybox with two files, and a layer that removes one of them.
fn saved() -> Vec<u8> {
    let (mut notes, mut upper, mut image) =
        (Builder::new(Vec::new()), Builder::new(Vec::new()), Builder::new(Vec::new()));
    add(&mut notes, "srv/first", EntryType::Regular, b"first\n", "");
    add(&mut notes, "srv/second", EntryType::Regular, b"second\n", "");
    add(&mut upper, "srv/.wh.first", EntryType::Regular, b"", "");
    let manifest = br#"[{"Config": "config.json", "Layers": ["a/layer.tar", "b/layer.tar", "c/layer.tar"]}]"#;
    add(&mut image, "config.json", EntryType::Regular, br#"{"architecture": "amd64"}"#, "");
    for (name, layer) in [("a", busybox()), ("b", notes.into_inner().unwrap()), ("c", upper.into_inner().unwrap())] {
        add(&mut image, &format!("{name}/layer.tar"), EntryType::Regular, &layer, "");
    }
    add(&mut image, "manifest.json", EntryType::Regular, manifest, "");
    image.into_inner().expect("memory takes any octets")
}

/// A folder with the image and a scenario whose first station does something with it.
fn lab(program: &str) -> TempDir {
    let folder = folder();
    std::fs::write(folder.path().join("image.tar"), saved()).expect("a file");
    let scenario = format!(
        "[kernel]\nroot = 'image.tar'\nmemory = 59\n[[station]]\nrun = ['at 2s {program}']\n[[station]]\n[[station]]\nroot = '/'\n"
    );
    std::fs::write(folder.path().join("lab.toml"), scenario).expect("a file");
    folder
}

/// What is in a folder.
fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect()
}

/// What a station sees of its root, it sees in every run: names, owners, permissions and times.
#[test]
fn an_image_gives_the_same_run_in_every_folder_and_leaves_nothing() {
    if !is_ready() || skipped(&["busybox"]) {
        return;
    }
    let folder =
        lab("ls -l / /srv /etc; stat -c %A.%Y /bin/sh; cat /proc/mounts /srv/second; touch /srv/third; ping -c 2 st2");
    let record = path(&folder, "a.record");
    for (name, place) in [("a", "short"), ("b", "a-much-longer-name")] {
        let temporary = folder.path().join(place);
        std::fs::create_dir(&temporary).expect("a folder");
        let mut command = command(&folder, name, &["--events", &record, "--events-level", "inputs"]);
        command.env("TMPDIR", &temporary);
        run(command).succeeded();
        assert_eq!(names(&temporary), [""; 0]);
    }
    let console = text(&folder, "a.consoles/st1.txt");
    for words in ["-rwxr-xr-x.1700000000", "second", "2 packets received", "Read-only file system"] {
        assert!(console.contains(words), "no `{words}` in {console}");
    }
    assert!(!console.contains("first"), "{console}");
    for end in [".events", ".pcapng", ".consoles/st1.txt"] {
        assert!(read(&folder, &format!("a{end}")) == read(&folder, &format!("b{end}")), "{end} differs");
    }
    // The trace tells a changed image, though its files are the same.
    let image = read(&folder, "image.tar");
    std::fs::write(folder.path().join("image.tar"), [&image[..], &[0; 512]].concat()).expect("a file");
    let told = run(ethbus(["replay", &record, "--programs"])).succeeded();
    assert!(told.stderr.contains("another content has image.tar"), "{told:#?}");
    std::fs::write(folder.path().join("image.tar"), &image[..image.len() / 2]).expect("a file");
    run(command(&folder, "c", &[])).failed_with(1, &["image.tar", "of st1 is cut short: write it again"]);
}

#[test]
fn an_interrupted_run_leaves_nothing_of_its_image() {
    if !is_ready() || skipped(&["busybox"]) {
        return;
    }
    let folder = lab("while sleep 1; do :; done");
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    let mut command = command(&folder, "a", &[]);
    command.env("TMPDIR", &temporary);
    let lab = Running::start(command, "");
    wait_until(Duration::from_secs(60), "the program runs", || begun(&temporary).is_some());
    let begun = begun(&temporary).expect("it is there");
    // Once for both stations.
    let own = names(begun.ancestors().nth(3).expect("the run's folder"));
    assert_eq!(own.iter().filter(|name| name.to_string_lossy().starts_with("image")).count(), 1, "{own:?}");
    lab.signal("INT");
    assert_eq!(lab.wait_for(Duration::from_secs(60)).code(), Some(130));
    assert_eq!(names(&temporary), [""; 0]);
}
