//! The image of a container as a root file system: which layers an archive has, and their order.
//!
//! | written by | what is in it |
//! |---|---|
//! | `docker save` | `manifest.json`, which names the layers |
//! | `docker save` and others, OCI layout | `index.json`, which leads to an image's manifest, and that one to the layers |
//! | `docker export` | a file system |
//!
//! A layer is an archive too, plain or packed by gzip. `layer.rs` unpacks it.

mod layer;
mod watch;

use flate2::read::MultiGzDecoder;
use layer::Unpacked;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Take};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tar::{Archive, EntryType};

pub use layer::{MOUNTED, within};
use watch::{MOST_ABOUT, Watch};

/// What Docker calls the processors that the stations' kernel runs on.
const PROCESSOR: &str = "amd64";

/// The octets of a block of an archive. At least one empty block ends it.
const BLOCK: u64 = 512;

/// Links between files of an archive that lead to one of them, at most.
const MOST_LINKS: usize = 8;

/// Octets of all names in an archive, at most; and of one of its lists.
const MOST_NAMES: usize = 1 << 28;
const MOST_LIST: u64 = 1 << 24;

/// Why an archive gives no root file system: a clause whose subject is its file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    /// It is something else.
    #[error("is no archive: name a folder, or a file that `docker save` or `docker export` has written")]
    NoArchive,
    /// Its end is missing.
    #[error("is cut short: write it again")]
    CutShort,
    /// Something in it contradicts itself.
    #[error("is damaged: {0}: write it again")]
    Damaged(io::Error),
    /// One of its lists is no such list.
    #[error("has another `{file}` than images have: {source}: write it again by `docker save`")]
    List {
        /// The list.
        file: String,
        /// What is wrong there.
        source: serde_json::Error,
    },
    /// One of its lists names a file that is not there.
    #[error("names `{0}`, and does not have it: write it again by `docker save`")]
    NoFile(String),
    /// It has several images, or none.
    #[error("has {0} images for {PROCESSOR}: save one, as `docker save NAME` does")]
    Images(usize),
    /// It is for other processors.
    #[error("is an image for {0}: take that for {PROCESSOR}, by `docker pull --platform linux/{PROCESSOR} NAME`")]
    Processor(String),
    /// The image has no files.
    #[error("is an image without layers: take another one")]
    NoLayers,
    /// A layer is packed in a way that is not read.
    #[error("has its layer `{0}` packed by zstd: write a container's files instead, by `docker export`")]
    Zstd(String),
    /// An entry is not for its own folder.
    #[error("has an entry `{0}`, which leads out of it: take an archive without such entries")]
    LeadsOut(String),
    /// A hard link to nothing.
    #[error("has a link `{entry}` to `{target}`, and does not have that: write it again")]
    NoTarget {
        /// The link.
        entry: String,
        /// What is missing.
        target: String,
    },
    /// A file or folder cannot be made.
    #[error("cannot be unpacked: `{entry}`: {source}{}", remedy(source))]
    Write {
        /// Which.
        entry: String,
        /// What the system said.
        source: io::Error,
    },
    /// What it says about an entry is no name and no note.
    #[error("says more than {most} MiB about {0} (long names, pax): write it again by `docker save`", most = MOST_ABOUT >> 20)]
    LongNotes(String),
    /// It has more names than an image has.
    #[error("has more than {most} MiB of names: take another one", most = MOST_NAMES >> 20)]
    Names,
    /// One of its lists is longer than such lists are.
    #[error("has more than {most} MiB in `{0}`: write it again by `docker save`", most = MOST_LIST >> 20)]
    LongList(String),
    /// The user wanted the end.
    #[error("was not unpacked: interrupted")]
    Interrupted,
}

fn remedy(error: &io::Error) -> &'static str {
    let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    if is_full { ": set TMPDIR to a folder with more room" } else { "" }
}

/// Unpacks an archive's file system into `folder`, which is made. What a station needs and it lacks is made too.
///
/// # Errors
/// An archive that is none, or is not whole; no room.
pub fn unpack(archive: &Path, folder: &Path, interrupted: &AtomicBool) -> Result<(), ImageError> {
    // Where an interrupt is seen, it is an error like others.
    let was_interrupted = |error| if interrupted.load(Ordering::Relaxed) { ImageError::Interrupted } else { error };
    unpack_whole(archive, folder, interrupted).map_err(was_interrupted)
}

fn unpack_whole(archive: &Path, folder: &Path, interrupted: &AtomicBool) -> Result<(), ImageError> {
    let watch = Watch::new(interrupted);
    let mut unpacked = Unpacked::new(folder, interrupted)?;
    let pieces = Pieces::of(plain(archive, &folder.with_extension("tar"), &watch)?, &watch)?;
    match pieces.layers()? {
        Some(layers) => layers.iter().try_for_each(|name| add(&mut unpacked, name, pieces.open(name)?))?,
        None => {
            pieces.rewind()?;
            unpacked.add(BufReader::new(&pieces.file))?;
        }
    }
    unpacked.finish()
}

/// Adds a layer, which may be packed.
fn add(unpacked: &mut Unpacked, name: &str, octets: impl Read) -> Result<(), ImageError> {
    let (packing, octets) = packing(BufReader::new(octets)).map_err(ImageError::Damaged)?;
    match packing {
        Packing::None => unpacked.add(octets),
        Packing::Gzip => unpacked.add(MultiGzDecoder::new(octets)),
        Packing::Zstd => Err(ImageError::Zstd(name.to_owned())),
    }
}

/// The archive's file. If gzip has packed it, a plain one without a name, which had the name `own`.
fn plain(archive: &Path, own: &Path, watch: &Watch) -> Result<File, ImageError> {
    let file = File::open(archive).map_err(ImageError::Unreadable)?;
    let packing = packing(&file).map_err(ImageError::Unreadable)?.0;
    if packing != Packing::Gzip {
        return Ok(file);
    }
    (&file).rewind().map_err(ImageError::Unreadable)?;
    let write = |source| ImageError::Write { entry: archive.display().to_string(), source };
    let mut whole = File::options().create_new(true).read(true).write(true).open(own).map_err(write)?;
    fs::remove_file(own).map_err(write)?;
    let copied = io::copy(&mut watch.over(MultiGzDecoder::new(BufReader::new(file))), &mut whole);
    copied.map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => ImageError::CutShort,
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => ImageError::Damaged(error),
        _ => write(error),
    })?;
    Ok(whole)
}

/// How octets are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

/// How these octets are packed, by the first of them; and all of them.
fn packing<R: Read>(mut octets: R) -> io::Result<(Packing, impl Read + use<R>)> {
    let mut first = Vec::new();
    octets.by_ref().take(4).read_to_end(&mut first)?;
    let packing = match first[..] {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd] => Packing::Zstd,
        _ => Packing::None,
    };
    Ok((packing, Cursor::new(first).chain(octets)))
}

/// Where the files of an archive are in it.
struct Pieces {
    file: File,
    pieces: HashMap<PathBuf, Piece>,
}

enum Piece {
    /// In these octets.
    Octets { at: u64, size: u64 },
    /// In the file of this name.
    Link(PathBuf),
}

impl Pieces {
    /// Reads which files a plain archive has.
    fn of(file: File, watch: &Watch) -> Result<Pieces, ImageError> {
        let length = file.metadata().map_err(ImageError::Unreadable)?.len();
        let mut archive = Archive::new(watch.over(&file));
        (&file).rewind().map_err(ImageError::Unreadable)?;
        let (mut pieces, mut last, mut names) = (HashMap::new(), PathBuf::new(), 0);
        let mut end = 0;
        let mut entries = archive.entries_with_seek().map_err(ImageError::Unreadable)?;
        let failed = |end: u64| {
            move |error| match end {
                0 => ImageError::NoArchive,
                end if length < end.saturating_add(BLOCK) => ImageError::CutShort,
                _ => ImageError::Damaged(error),
            }
        };
        while let Some(entry) = watch.next(&mut entries, &last, failed(end))? {
            let at = entry.raw_file_position();
            // Of a file with holes, the archive has the rest.
            let size = match entry.header().entry_type() {
                EntryType::GNUSparse => entry.header().entry_size().map_err(ImageError::Damaged)?,
                _ => entry.size(),
            };
            end = at.saturating_add(size).next_multiple_of(BLOCK);
            let name = plain_name(&entry.path().map_err(ImageError::Damaged)?);
            last.clone_from(&name);
            let target = entry.link_name().map_err(ImageError::Damaged)?.unwrap_or_default();
            let beside = || name.parent().unwrap_or(Path::new("")).join(&target);
            let piece = match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous => Piece::Octets { at, size },
                EntryType::Link => Piece::Link(plain_name(&target)),
                EntryType::Symlink => Piece::Link(plain_name(&beside())),
                _ => continue,
            };
            names += name.as_os_str().len() + target.as_os_str().len();
            if names > MOST_NAMES {
                return Err(ImageError::Names);
            }
            pieces.insert(name, piece);
        }
        match end {
            0 if length < BLOCK => Err(ImageError::NoArchive),
            end if length < end.saturating_add(BLOCK) => Err(ImageError::CutShort),
            _ => Ok(Pieces { file, pieces }),
        }
    }

    fn rewind(&self) -> Result<(), ImageError> {
        (&self.file).rewind().map_err(ImageError::Unreadable)
    }

    /// The octets of a file.
    fn open(&self, name: &str) -> Result<Take<&File>, ImageError> {
        let mut path = plain_name(Path::new(name));
        for _ in 0..MOST_LINKS {
            match self.pieces.get(&path) {
                Some(Piece::Link(target)) => path.clone_from(target),
                Some(Piece::Octets { at, size }) => {
                    let mut file = &self.file;
                    file.seek(SeekFrom::Start(*at)).map_err(ImageError::Unreadable)?;
                    return Ok(file.take(*size));
                }
                None => break,
            }
        }
        Err(ImageError::NoFile(name.to_owned()))
    }

    /// The layers of an image, the lowest first; none if the archive is a file system.
    fn layers(&self) -> Result<Option<Vec<String>>, ImageError> {
        let has = |name: &str| self.pieces.contains_key(Path::new(name));
        let (layers, config) = if has("manifest.json") {
            let images: Vec<Saved> = self.list("manifest.json")?;
            let [image] = <[Saved; 1]>::try_from(images).map_err(|images| ImageError::Images(images.len()))?;
            (image.layers.unwrap_or_default(), image.config)
        } else if has("index.json") && has("oci-layout") {
            let manifest = self.manifest("index.json", MOST_LINKS)?;
            let layers = manifest.layers.iter().map(Descriptor::file).collect();
            (layers, manifest.config.as_ref().map(Descriptor::file))
        } else {
            return Ok(None);
        };
        let config: Config = config.map(|name| self.list(&name)).transpose()?.unwrap_or_default();
        match config.architecture {
            Some(other) if other != PROCESSOR => Err(ImageError::Processor(other)),
            _ if layers.is_empty() => Err(ImageError::NoLayers),
            _ => Ok(Some(layers)),
        }
    }

    /// The manifest of the only image for our processor that an index leads to.
    fn manifest(&self, index: &str, links: usize) -> Result<Manifest, ImageError> {
        let manifest: Manifest = self.list(index)?;
        let Some(manifests) = manifest.manifests else { return Ok(manifest) };
        let ours: Vec<&Descriptor> = manifests.iter().filter(|it| it.is_ours()).collect();
        match ours[..] {
            [one] if links > 0 => self.manifest(&one.file(), links - 1),
            _ => Err(ImageError::Images(ours.len())),
        }
    }

    fn list<T: DeserializeOwned>(&self, file: &str) -> Result<T, ImageError> {
        let list = self.open(file)?;
        if list.limit() > MOST_LIST {
            return Err(ImageError::LongList(file.to_owned()));
        }
        serde_json::from_reader(BufReader::new(list))
            .map_err(|source| ImageError::List { file: file.to_owned(), source })
    }
}

/// A name without what does not matter, as `.` and a root.
fn plain_name(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => {
                plain.pop();
            }
            _ => {}
        }
    }
    plain
}

/// An image in `manifest.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: Option<String>,
    layers: Option<Vec<String>>,
}

/// The manifest of an image, or an index of manifests: what of them matters here.
#[derive(Debug, Deserialize)]
struct Manifest {
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

/// What leads to a file of an OCI layout.
#[derive(Debug, Deserialize)]
struct Descriptor {
    digest: String,
    platform: Option<Config>,
}

impl Descriptor {
    fn file(&self) -> String {
        format!("blobs/{}", self.digest.replace(':', "/"))
    }

    /// Attestations are for an unknown processor.
    fn is_ours(&self) -> bool {
        let architecture = self.platform.as_ref().and_then(|platform| platform.architecture.as_deref());
        architecture.is_none_or(|it| it == PROCESSOR)
    }
}

/// What an image is for.
#[derive(Debug, Default, Deserialize)]
struct Config {
    architecture: Option<String>,
}

#[cfg(test)]
mod tests;
