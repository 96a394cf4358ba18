//! An image of a container: entries of an archive, each a kind, a name, and a target or octets, up to a NUL each. Whatever they
//! are, nothing outside the folder changes.
use live::virt::image::unpack;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tar::{Builder, EntryType, Header};

/// What a target begins with that leads to the folder outside.
const OUT: &str = "!";

fn archive(data: &[u8], outside: &Path) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    let mut parts = data.split(|octet| *octet == 0);
    while let (Some([kind, name @ ..]), Some(rest)) = (parts.next(), parts.next()) {
        let mut header = Header::new_gnu();
        let kinds = [EntryType::Regular, EntryType::Directory, EntryType::Symlink, EntryType::Link];
        let kind = kinds[usize::from(kind % 4)];
        let target = String::from_utf8_lossy(rest).replace(OUT, outside.to_str().expect("a name in UTF-8"));
        let (target, octets) = if kind == EntryType::Regular { ("", rest) } else { (&target[..], &[][..]) };
        header.set_entry_type(kind);
        header.set_size(octets.len() as u64);
        header.set_mode(0o4777);
        header.set_mtime(1);
        let old = header.as_old_mut();
        old.name.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
        old.linkname.iter_mut().zip(target.as_bytes()).for_each(|(to, from)| *to = *from);
        header.set_cksum();
        builder.append(&header, octets).expect("memory takes any octets");
    }
    builder.into_inner().expect("memory takes any octets")
}

/// Names, sizes, permissions and times below a folder.
fn all(folder: &Path) -> Vec<(PathBuf, u64, u32, i64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let it = path.symlink_metadata().expect("a file");
        if it.is_dir() {
            found.extend(all(&path));
        }
        found.push((path, it.size(), it.mode(), it.mtime()));
    }
    found.sort();
    found
}

pub fn run(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let (outside, inside) = (folder.path().join("out"), folder.path().join("in"));
    fs::create_dir_all(outside.join("a/b")).expect("a folder");
    fs::create_dir(&inside).expect("a folder");
    fs::write(outside.join("a/f"), "text").expect("a file");
    let image = folder.path().join("image.tar");
    // The raw octets too: lists and packings are read from them.
    for octets in [archive(data, &outside), data.to_vec()] {
        fs::write(&image, octets).expect("a file");
        let before = (all(&outside), all(folder.path()).len());
        let _ = unpack(&image, &inside.join("root"), &AtomicBool::new(false));
        let _ = fs::remove_dir_all(inside.join("root"));
        assert_eq!((all(&outside), all(folder.path()).len()), before);
    }
}
