//! What a virtual lab needs before its first instant: its private folder, what its stations boot from, and their files.

use super::image::{self, MOUNTED, within};
use super::init;
use super::lab::{LabError, Wishes};
use kernel::{Station, files};
use sim::scenario::plan::{Plan, StationPlan};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The stations' kernels begin within this time, each at an instant drawn from the seed: kernels that boot at one instant
/// send at one instant.
const BEGINNING: u64 = 10_000_000;

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

/// What root should know before stations boot from files that others may have made; nothing for the other users.
pub(super) fn warning(plan: &Plan, user: u32, can_confine: bool) -> Option<String> {
    let is_others = |station: &&StationPlan| station.kernel.root != Path::new("/");
    let station = plan.stations.iter().find(is_others).filter(|_| user == 0)?;
    let deed = if can_confine { "change permissions and owners of" } else { "read and write" };
    let (name, root) = (&station.name, station.kernel.root.display());
    Some(format!(
        "ethbus: warning: the programs of {name} can {deed} this machine's files, since root runs them: run {root} as another user, unless you trust it\n"
    ))
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
        let work = folder.join(init::work(number));
        let own = folder.join(init::own(number));
        let write = |path: PathBuf| move |source| LabError::Write { path, source };
        fs::create_dir(&work).map_err(write(work.clone()))?;
        init::write(&own, plan, number, begins).map_err(write(own.clone()))?;
        let file = |path: PathBuf| files::create(&path).map_err(write(path));
        let root = fs::canonicalize(&roots[number]).map_err(write(roots[number].clone()))?;
        let link = own.join("root");
        symlink(&root, &link).map_err(write(link))?;
        let read = lead_to_files(&own, station)?;
        let wanted = consoles.map(|consoles| consoles.join(&station.name));
        let place = wanted.clone().unwrap_or_else(|| own.clone());
        let out = lead_to_out(&own, wanted).map_err(write(place))?;
        let console = consoles.unwrap_or(&own).join(format!("{}.txt", station.name));
        stations.push(Station {
            name: station.name.clone(),
            mac: station.mac.octets(),
            memory: station.kernel.memory,
            seed,
            begins,
            folder: work,
            root: format!("station{number}/root"),
            init: init::command(number),
            reads: read.into_iter().chain([root]).collect(),
            writes: vec![own.clone(), out],
            console: file(console)?,
            log: file(own.join("log"))?,
        });
    }
    Ok(stations)
}

/// Makes what leads to the files that a station reads, if it has some; where they are.
fn lead_to_files<E: std::error::Error>(own: &Path, station: &StationPlan) -> Result<Option<PathBuf>, LabError<E>> {
    let Some(files) = &station.kernel.files else { return Ok(None) };
    let none = || LabError::Files { files: files.clone(), station: station.name.clone() };
    let files = fs::canonicalize(files).ok().filter(|files| files.is_dir()).ok_or_else(none)?;
    let link = own.join(init::FILES);
    symlink(&files, &link).map_err(|source| LabError::Write { path: link, source })?;
    Ok(Some(files))
}

/// Makes the folder of the files that a station writes: one beside its console, if that is wanted; where it is. In a folder of
/// outputs where others may write, a link could lead the station to any place.
fn lead_to_out(own: &Path, wanted: Option<PathBuf>) -> io::Result<PathBuf> {
    let link = own.join(init::OUT);
    let Some(folder) = wanted else { return fs::create_dir(&link).map(|()| link) };
    match fs::create_dir(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ if folder.symlink_metadata()?.is_dir() => {}
        _ => return Err(io::Error::other("it is no folder: remove it, or choose another folder of consoles")),
    }
    let folder = fs::canonicalize(folder)?;
    symlink(&folder, link)?;
    Ok(folder)
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

#[cfg(test)]
mod tests {
    use super::*;
    use sim::scenario::plan::Overrides;

    /// Landlock covers opening and removing files, and not their permissions.
    #[test]
    fn root_alone_is_warned_of_a_root_that_others_may_have_made() {
        let warned = |root: &str, user: u32, can_confine: bool| {
            let text = format!("[kernel]\nroot = '{root}'\n[[station]]\nrun = ['true']\n");
            let plan = Plan::of_text(Path::new("lab.toml"), text, &Overrides::default(), 1).expect("a plan");
            warning(&plan, user, can_confine)
        };
        assert_eq!([warned("/", 0, false), warned("image.tar", 1000, false)], [None, None]);
        for (can_confine, words) in [(true, "can change permissions"), (false, "can read and write")] {
            let said = warned("image.tar", 0, can_confine).expect("root, and an image");
            assert!(said.contains(words) && said.contains("runs them: run image.tar as another user"), "{said}");
        }
    }
}
