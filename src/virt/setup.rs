//! What a virtual lab needs before its first instant: its private folder, what its stations boot from, and their files.

use super::image::{self, MOUNTED, within};
use super::init;
use super::lab::{LabError, Wishes};
use kernel::Station;
use sim::scenario::plan::{Plan, StationPlan};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The stations' kernels begin within this time, each at an instant drawn from the seed: kernels that boot at one instant
/// send at one instant.
const BEGINNING: u64 = 10_000_000;

/// How private folders are called; the number of their process follows.
const PREFIX: &str = "ethbus-run.";

/// A private folder, removed with everything in it.
#[derive(Debug)]
pub(super) struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt;
        Folder::remove_those_of_killed_runs();
        let path = std::env::temp_dir().join(format!("{PREFIX}{}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder(path))
    }

    /// A run that was killed could not remove its folder. Those of other users stay: the system refuses.
    fn remove_those_of_killed_runs() {
        for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
            if id.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed has been removed by somebody else.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The folder of each station's root file system. An image is unpacked into `folder`, once for all stations.
pub(super) fn roots<E: std::error::Error>(
    plan: &Plan,
    folder: &Path,
    interrupted: &AtomicBool,
) -> Result<Vec<PathBuf>, LabError<E>> {
    let mut images = BTreeMap::new();
    let mut root_of = |station: &StationPlan| -> Result<PathBuf, LabError<E>> {
        let root = &station.kernel.root;
        if root.is_dir() {
            return Ok(root.clone());
        }
        let image = fs::canonicalize(root).ok().filter(|image| image.is_file());
        let image = image.ok_or_else(|| {
            let what = "is neither a folder nor the image of a container: name one, like `root = \"/\"` or \
                        `root = \"image.tar\"`";
            LabError::Root { root: root.clone(), station: station.name.clone(), what: what.to_owned() }
        })?;
        if let Some(unpacked) = images.get(&image) {
            return Ok(PathBuf::clone(unpacked));
        }
        let own = folder.join(format!("image{}", images.len()));
        let unpacked = image::unpack(&image, &own, interrupted);
        unpacked.map_err(|why| LabError::Image { root: root.clone(), station: station.name.clone(), why })?;
        images.insert(image, own.clone());
        Ok(own)
    };
    let roots: Vec<PathBuf> = plan.stations.iter().map(&mut root_of).collect::<Result<_, _>>()?;
    plan.stations.iter().zip(&roots).try_for_each(|(station, root)| check_root(station, root))?;
    Ok(roots)
}

/// Whether a station can boot from its root file system, which is in the folder `root`.
fn check_root<E: std::error::Error>(station: &StationPlan, root: &Path) -> Result<(), LabError<E>> {
    let wrong =
        |what: String| LabError::Root { root: station.kernel.root.clone(), station: station.name.clone(), what };
    let has = |program: &str| init::program(root, program).is_some();
    if let Some(missing) = init::NEEDED.iter().find(|program| !has(program)) {
        return Err(wrong(format!("has no program `{missing}`: install it there, or take another root")));
    }
    for folder in MOUNTED {
        if !within(root, Path::new(folder)).is_ok_and(|it| it.is_dir()) {
            return Err(wrong(format!("has no folder `/{folder}`: make it")));
        }
    }
    for program in &station.kernel.programs {
        let word = program.command.split_whitespace().next().unwrap_or_default();
        let is_plain = word.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | '+'));
        let built_in =
            ["cd", "echo", "exec", "exit", "for", "if", "printf", "test", "ulimit", "until", "wait", "while"];
        if is_plain && !built_in.contains(&word) && !has(word) {
            return Err(wrong(format!("has no program `{word}`, which `run` names: install it there")));
        }
    }
    Ok(())
}

/// What each kernel is started with. Its folder is written.
pub(super) fn stations<E: std::error::Error>(
    plan: &Plan,
    wishes: &Wishes,
    folder: &Path,
    roots: &[PathBuf],
) -> Result<Vec<Station>, LabError<E>> {
    let consoles = wishes.consoles.as_deref();
    consoles.map_or(Ok(()), |consoles| {
        fs::create_dir_all(consoles).map_err(|source| LabError::Write { path: consoles.to_owned(), source })
    })?;
    let mut stations = Vec::new();
    let mut draw = Draw(plan.medium.seed);
    for (number, station) in plan.stations.iter().enumerate() {
        let (begins, seed) = (draw.next() % BEGINNING, draw.next());
        let own = folder.join(format!("station{number}"));
        let write = |path: PathBuf| move |source| LabError::Write { path, source };
        init::write(&own, plan, number, begins).map_err(write(own.clone()))?;
        let file = |path: PathBuf| {
            let open = File::options().create(true).truncate(true).read(true).write(true).open(&path);
            open.map_err(write(path))
        };
        let root = fs::canonicalize(&roots[number]).map_err(write(roots[number].clone()))?;
        let link = own.join("root");
        std::os::unix::fs::symlink(root, &link).map_err(write(link))?;
        lead_to_files(&own, station)?;
        lead_to_out(&own, consoles.map(|consoles| consoles.join(&station.name))).map_err(write(own.clone()))?;
        let console = consoles.unwrap_or(&own).join(format!("{}.txt", station.name));
        stations.push(Station {
            name: station.name.clone(),
            mac: station.mac.octets(),
            memory: station.kernel.memory,
            seed,
            begins,
            root: format!("station{number}/root"),
            init: init::command(number),
            console: file(console)?,
            log: file(own.join("log"))?,
        });
    }
    Ok(stations)
}

/// Makes what leads to the files that a station reads, if it has some.
fn lead_to_files<E: std::error::Error>(own: &Path, station: &StationPlan) -> Result<(), LabError<E>> {
    let Some(files) = &station.kernel.files else { return Ok(()) };
    let none = || LabError::Files { files: files.clone(), station: station.name.clone() };
    let files = fs::canonicalize(files).ok().filter(|files| files.is_dir()).ok_or_else(none)?;
    let link = own.join(init::FILES);
    std::os::unix::fs::symlink(files, &link).map_err(|source| LabError::Write { path: link, source })
}

/// Makes the folder of the files that a station writes: one beside its console, if that is wanted.
fn lead_to_out(own: &Path, wanted: Option<PathBuf>) -> io::Result<()> {
    let Some(folder) = wanted else { return fs::create_dir(own.join(init::OUT)) };
    fs::create_dir_all(&folder)?;
    std::os::unix::fs::symlink(fs::canonicalize(folder)?, own.join(init::OUT))
}

/// SplitMix64, from the lab's seed: instants and seeds of the stations' kernels.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
