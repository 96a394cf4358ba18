//! Each kind of archive, made here; and archives that no program should write.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::cell::Cell;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;
use tar::{Builder, Header};
use tempfile::TempDir;

/// What an entry of an archive is.
enum Made<'a> {
    File(&'a [u8]),
    Folder,
    Symlink(&'a str),
    Link(&'a str),
    Device,
}
use Made::{Device, File as Octets, Folder, Link, Symlink};

/// An archive with these entries. Their names are written as they are, `..` included.
fn tar(entries: &[(&str, Made)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, made) in entries {
        let mut header = Header::new_gnu();
        let (kind, octets, target, mode) = match made {
            Octets(octets) => (EntryType::Regular, *octets, "", 0o4755),
            Folder => (EntryType::Directory, &[][..], "", 0o1777),
            Symlink(target) => (EntryType::Symlink, &[][..], *target, 0o777),
            Link(target) => (EntryType::Link, &[][..], *target, 0o644),
            Device => (EntryType::Char, &[][..], "", 0o666),
        };
        header.set_entry_type(kind);
        header.set_size(octets.len() as u64);
        header.set_mode(mode);
        header.set_mtime(1_000_000_000);
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_cksum();
        builder.append(&header, octets).expect("memory takes any octets");
    }
    builder.into_inner().expect("memory takes any octets")
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(octets).expect("memory takes any octets");
    encoder.finish().expect("memory takes any octets")
}

/// As `docker save` writes it: layers, the lowest first.
fn saved(layers: &[&[u8]]) -> Vec<u8> {
    let names: Vec<String> = (0..layers.len()).map(|number| format!("{number}/layer.tar")).collect();
    let manifest =
        serde_json::json!([{ "Config": "config.json", "RepoTags": ["busybox"], "Layers": names }]).to_string();
    let mut entries: Vec<(&str, Made)> = vec![("manifest.json", Octets(manifest.as_bytes()))];
    entries.extend(names.iter().zip(layers).map(|(name, layer)| (name.as_str(), Octets(layer))));
    entries.push(("config.json", Octets(br#"{"architecture": "amd64"}"#)));
    tar(&entries)
}

/// A folder with an archive, and what is unpacked from it.
struct Case(TempDir);

impl Case {
    fn unpacked(archive: &[u8]) -> (Case, Result<(), ImageError>) {
        let case = Case(tempfile::tempdir().expect("a folder"));
        fs::write(case.0.path().join("image.tar"), archive).expect("a file");
        fs::create_dir(case.0.path().join("run")).expect("a folder");
        let went = unpack(&case.0.path().join("image.tar"), &case.path(""), &AtomicBool::new(false));
        (case, went)
    }

    #[track_caller]
    fn whole(archive: &[u8]) -> Case {
        let (case, went) = Case::unpacked(archive);
        went.unwrap_or_else(|error| panic!("{error}"));
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("run/image0").join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn has(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    /// What is beside the unpacked folder; nothing is to be.
    fn outside(&self) -> Vec<std::ffi::OsString> {
        let all = |folder: &Path| fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").file_name());
        let names = all(self.0.path()).chain(all(&self.0.path().join("run")));
        names.filter(|name| !["image.tar", "run", "image0"].iter().any(|known| name == known)).collect()
    }
}

#[track_caller]
fn refused(archive: &[u8], words: &str) {
    let (case, went) = Case::unpacked(archive);
    let told = went.expect_err(words).to_string();
    assert!(told.contains(words), "{told}");
    assert_eq!(case.outside(), [""; 0]);
}

/// `docker export` writes folders with a slash at the end, and hard links between the programs of busybox.
#[test]
fn an_exported_file_system_is_unpacked_with_its_links_modes_and_times() {
    let archive = tar(&[
        ("bin/", Folder),
        ("bin/busybox", Octets(b"program")),
        ("bin/sh", Link("bin/busybox")),
        ("./bin/ip", Symlink("/bin/busybox")),
        ("dev/null", Device),
        ("/etc/passwd", Octets(b"root")),
    ]);
    for archive in [archive.clone(), gzip(&archive)] {
        let case = Case::whole(&archive);
        assert_eq!(case.text("bin/sh"), "program");
        assert_eq!(fs::read_link(case.path("bin/ip")).expect("a link"), Path::new("/bin/busybox"));
        assert_eq!(case.text("etc/passwd"), "root");
        assert!(!case.has("dev/null"));
        let mode = |name: &str| case.path(name).metadata().expect("a file").permissions().mode() & 0o7777;
        assert_eq!((mode("bin/busybox"), mode("bin"), mode("etc")), (0o755, 0o1777, 0o755));
        let time = |name: &str| {
            let at = case.path(name).metadata().expect("a file").modified().expect("a time");
            at.duration_since(SystemTime::UNIX_EPOCH).expect("later").as_nanos()
        };
        // The archive does not say when `etc` was made.
        assert_eq!(
            ["bin/busybox", "bin", "etc"].map(time),
            [1_000_000_000 * 1_000_000_000, 1_000_000_000 * 1_000_000_000, 0]
        );
        assert_eq!(case.outside(), [""; 0]);
    }
}

/// A bare image lacks what Docker makes when it starts a container.
#[test]
fn what_a_station_needs_is_made() {
    let case = Case::whole(&tar(&[("bin/sh", Octets(b"")), ("run", Symlink("var/run")), ("etc", Symlink("/own/etc"))]));
    for folder in ["proc", "sys", "var/run", "tmp", "dev"] {
        assert!(case.path(folder).is_dir(), "{folder}");
    }
    assert_eq!(case.text("own/etc/hosts"), "");
    let own = Case::whole(&tar(&[("etc/hosts", Octets(b"127.0.0.1 own"))]));
    assert_eq!(own.text("etc/hosts"), "127.0.0.1 own");
}

/// Image Layer Filesystem Changeset of the OCI: a whiteout removes what lower layers have, and not what its own layer has,
/// though its entry comes last.
#[test]
fn upper_layers_change_and_remove_what_lower_ones_have() {
    let lower = tar(&[
        ("a/kept", Octets(b"old")),
        ("a/gone", Octets(b"")),
        ("a/folder/file", Octets(b"")),
        ("b/old", Octets(b"")),
        ("b/deep/old", Octets(b"")),
        ("becomes-folder", Octets(b"")),
        ("becomes-file/file", Octets(b"")),
        ("shared", Octets(b"one")),
        ("also", Link("shared")),
    ]);
    let upper = tar(&[
        ("a/kept", Octets(b"new")),
        ("a/.wh.gone", Octets(b"")),
        ("a/.wh.folder", Octets(b"")),
        ("b/new", Octets(b"")),
        ("b/deep/new", Octets(b"")),
        ("b/.wh..wh..opq", Octets(b"")),
        (".wh..wh.plnk", Folder),
        ("becomes-folder", Folder),
        ("becomes-file", Octets(b"now")),
        ("shared", Octets(b"two")),
        (".wh.never-there", Octets(b"")),
    ]);
    for (lower, upper) in [(lower.clone(), upper.clone()), (gzip(&lower), gzip(&upper))] {
        let case = Case::whole(&saved(&[&lower, &upper]));
        assert_eq!(case.text("a/kept"), "new");
        assert_eq!(["a/gone", "a/folder", "b/old", "b/deep/old"].map(|name| case.has(name)), [false; 4]);
        assert!(["b/new", "b/deep/new"].iter().all(|name| case.has(name)));
        assert!(case.path("becomes-folder").is_dir());
        assert_eq!(case.text("becomes-file"), "now");
        assert_eq!((case.text("shared"), case.text("also")), ("two".to_owned(), "one".to_owned()));
        let notes = ["a/.wh.gone", "b/.wh..wh..opq", ".wh..wh.plnk", ".wh.never-there", "manifest.json"];
        assert_eq!(notes.map(|name| case.has(name)), [false; 5]);
    }
}

/// Docker before 25 wrote a layer that two images share once, and links to it.
#[test]
fn a_layer_may_be_a_link_to_another_one() {
    let layer = tar(&[("bin/sh", Octets(b"it"))]);
    let manifest = br#"[{"Layers": ["a/layer.tar", "b/layer.tar"]}]"#;
    let entries = [
        ("manifest.json", Octets(manifest)),
        ("a/layer.tar", Octets(&layer)),
        ("b/layer.tar", Symlink("../a/layer.tar")),
    ];
    assert_eq!(Case::whole(&tar(&entries)).text("bin/sh"), "it");
}

/// An OCI layout whose index leads to an index of processors, with an attestation.
#[test]
fn an_oci_layout_gives_the_image_for_this_processor() {
    let layer = gzip(&tar(&[("bin/sh", Octets(b"it"))]));
    let digest = |name: &str| serde_json::json!({ "digest": format!("sha256:{name}") });
    let with = |architecture: &str| serde_json::json!({ "digest": format!("sha256:{architecture}"), "platform": { "architecture": architecture } });
    let outer = serde_json::json!({ "schemaVersion": 2, "manifests": [digest("inner")] }).to_string();
    let archive = |processors: &[&str]| {
        let inner: Vec<_> = processors.iter().map(|it| with(it)).collect();
        let inner = serde_json::json!({ "manifests": inner }).to_string();
        let image = serde_json::json!({ "config": digest("config"), "layers": [digest("layer")] }).to_string();
        tar(&[
            ("oci-layout", Octets(b"{}")),
            ("index.json", Octets(outer.as_bytes())),
            ("blobs/sha256/inner", Octets(inner.as_bytes())),
            ("blobs/sha256/amd64", Octets(image.as_bytes())),
            ("blobs/sha256/config", Octets(br#"{"architecture": "amd64", "os": "linux"}"#)),
            ("blobs/sha256/layer", Octets(&layer)),
        ])
    };
    assert_eq!(Case::whole(&archive(&["arm64", "amd64", "unknown"])).text("bin/sh"), "it");
    refused(&archive(&["arm64", "unknown"]), "has 0 images for amd64");
    refused(&archive(&["amd64", "amd64"]), "has 2 images for amd64");
}

/// A link within the archive is followed as the station follows it, and never to this machine's files.
#[test]
fn nothing_is_written_outside() {
    // A folder that a link replaces later: what the link leads to keeps its permissions.
    let other = tempfile::tempdir().expect("a folder");
    fs::create_dir(other.path().join("b")).expect("a folder");
    let of_other = || other.path().join("b").metadata().expect("a folder").permissions().mode();
    let before = of_other();
    Case::whole(&tar(&[("a/b", Folder), ("a", Symlink(other.path().to_str().expect("a name")))]));
    assert_eq!(of_other(), before);
    for name in ["../outside", "a/../../outside", "..", "bin/.wh..."] {
        refused(&tar(&[("bin/sh", Octets(b"")), (name, Octets(b"x"))]), "leads out of it");
    }
    refused(&tar(&[("outside", Link("../../image.tar"))]), "leads out of it");
    refused(&tar(&[("a", Link("b"))]), "has a link `a` to `b`, and does not have that");
    for target in ["/", "..", "../..", "/../../..", "b/../.."] {
        let case = Case::whole(&tar(&[("b", Folder), ("out", Symlink(target)), ("out/file", Octets(b"in"))]));
        assert_eq!(case.text("file"), "in", "{target}");
        assert_eq!(case.outside(), [""; 0], "{target}");
    }
    // A file with the name of a link takes its place. A hard link leads to the link itself.
    let target = tempfile::NamedTempFile::new().expect("a file");
    let name = target.path().to_str().expect("UTF-8");
    let case = Case::whole(&tar(&[("a", Symlink(name)), ("b", Link("a")), ("a", Octets(b"x"))]));
    assert_eq!((case.text("a"), fs::read_link(case.path("b")).expect("a link")), ("x".to_owned(), name.into()));
    assert_eq!(fs::read(target.path()).expect("a file"), b"");
    // The whiteout of something behind a link.
    let (lower, upper) = (tar(&[("out", Symlink("/.."))]), tar(&[("out/.wh.image.tar", Octets(b""))]));
    assert!(Case::whole(&saved(&[&lower, &upper])).0.path().join("image.tar").exists());
    refused(&tar(&[("a", Symlink("b")), ("b", Symlink("a")), ("a/file", Octets(b""))]), "links lead to each other");
}

#[test]
fn what_is_no_whole_archive_is_refused() {
    let layer = tar(&[("bin/sh", Octets(&[7; 3000])), ("bin/ip", Octets(b"ip"))]);
    for archive in [layer.clone(), saved(&[&layer])] {
        // Without the two empty blocks of its end, and at each block.
        for length in (BLOCK as usize..archive.len() - 2 * BLOCK as usize + 1).step_by(BLOCK as usize) {
            refused(&archive[..length], "is cut short: write it again");
        }
    }
    refused(&gzip(&layer)[..100], "is cut short");
    refused(&saved(&[&gzip(&layer)[..100]]), "is cut short");
    refused(&saved(&[&layer[..2000]]), "is cut short");
    for other in [&b""[..], b"FROM busybox\n", &[1; 5000], b"\x28\xb5\x2f\xfd packed"] {
        refused(other, "is no archive: name a folder");
    }
    let mut damaged = layer.clone();
    damaged[3590] ^= 1;
    refused(&damaged, "is damaged");
    refused(&saved(&[]), "is an image without layers");
    refused(&saved(&[b"\x28\xb5\x2f\xfd packed"]), "has its layer `0/layer.tar` packed by zstd");
    refused(&tar(&[("manifest.json", Octets(b"[{\"Layers\": [\"a\"]}]"))]), "names `a`, and does not have it");
    refused(&tar(&[("manifest.json", Octets(b"[{}, {}]"))]), "has 2 images");
    refused(&tar(&[("manifest.json", Octets(b"{}"))]), "has another `manifest.json` than images have");
    let other =
        [("manifest.json", &b"[{\"Config\": \"c\", \"Layers\": [\"a\"]}]"[..]), ("c", br#"{"architecture": "arm64"}"#)];
    refused(&tar(&other.map(|(name, octets)| (name, Octets(octets)))), "is an image for arm64: take that for amd64");
}

/// Counts what is read of octets that never end, and interrupts at a place.
struct Endless<'a> {
    read: &'a Cell<u64>,
    interrupted: &'a AtomicBool,
    at: u64,
}

impl Read for Endless<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        into.fill(b'a');
        self.read.set(self.read.get() + into.len() as u64);
        self.interrupted.fetch_or(self.read.get() > self.at, Ordering::Relaxed);
        Ok(into.len())
    }
}

/// The header of an entry of 6 GiB.
fn large(kind: EntryType) -> Header {
    let mut header = Header::new_gnu();
    header.set_path("name").expect("a short name");
    header.set_entry_type(kind);
    header.set_size(6 << 30);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_cksum();
    header
}

/// Adds a layer of one entry of 6 GiB, and interrupts at `at`; what went wrong, and how much was read.
fn add_large(kind: EntryType, at: u64) -> (String, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let (read, interrupted, root) = (Cell::new(0), AtomicBool::new(false), folder.path().join("image0"));
    let mut unpacked = Unpacked::new(&root, &interrupted).expect("a folder");
    let header = large(kind);
    let layer = header.as_bytes().chain(Endless { read: &read, interrupted: &interrupted, at });
    let went = unpacked.add(layer).expect_err("it is too large, or interrupted");
    (went.to_string(), read.get())
}

/// The reader of archives has long names and notes in memory, and gzip packs 6 GiB of them into 6 MB.
#[test]
fn what_is_said_about_an_entry_has_a_limit() {
    let extensions = [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader];
    for kind in extensions {
        let (went, read) = add_large(kind, u64::MAX);
        assert!(went.contains("says more than 1 MiB about its first entry"), "{went}");
        assert!(read <= MOST_ABOUT, "{read}");
        let named = |size: usize| {
            let mut header = large(kind);
            header.set_size(size as u64);
            header.set_cksum();
            let mut octets = [header.as_bytes(), &vec![b'a'; size][..]].concat();
            octets.resize(octets.len().next_multiple_of(BLOCK as usize), 0);
            [&tar(&[("bin/sh", Octets(&[7; 3000]))])[..3584], &octets, &tar(&[("bin/ip", Octets(b""))])].concat()
        };
        for archive in [named(2 << 20), saved(&[&gzip(&named(2 << 20))])] {
            refused(&archive, "says more than 1 MiB about the entry after `bin/sh`");
        }
    }
    refused(&tar(&[("manifest.json", Octets(&vec![b' '; 17 << 20]))]), "has more than 16 MiB in `manifest.json`");
}

#[test]
fn an_interrupt_ends_an_entry_too() {
    let (_, read) = add_large(EntryType::Regular, 1 << 20);
    assert!(read < 2 << 20, "{read}");
}

#[test]
fn an_interrupt_ends_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = folder.path().join("image.tar");
    fs::write(&archive, tar(&[("bin/sh", Octets(b""))])).expect("a file");
    let went = unpack(&archive, &folder.path().join("image0"), &AtomicBool::new(true));
    assert!(matches!(went, Err(ImageError::Interrupted)), "{went:?}");
}
