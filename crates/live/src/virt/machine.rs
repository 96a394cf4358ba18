//! What a run of programs depends on beside scenario and seed: the kernel, the processor, the root file systems.

use super::init;
use sim::files::programs::Machine;
use sim::scenario::plan::{Plan, StationPlan};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Files that say which system a root is, and what is installed there, in the order of their systems' fame.
const SYSTEM: [&str; 4] = ["etc/os-release", "var/lib/dpkg/status", "lib/apk/db/installed", "var/lib/rpm/rpmdb.sqlite"];

/// What this plan would run on here.
///
/// # Errors
/// The kernel cannot be read.
pub fn of(plan: &Plan, kernel: &Path) -> io::Result<Machine> {
    let mut roots = BTreeMap::<String, BTreeMap<String, String>>::new();
    for station in &plan.stations {
        let files = roots.entry(station.kernel.root.display().to_string()).or_default();
        if station.kernel.root.is_file() {
            // Once for all stations: an image may be large.
            let name = station.kernel.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if files.is_empty()
                && let Ok(crc) = crc32(&station.kernel.root)
            {
                files.insert(name, crc);
            }
            continue;
        }
        for file in SYSTEM.into_iter().map(str::to_owned).chain(programs(station)) {
            // What cannot be read here cannot be told apart by it.
            if let Ok(crc) = crc32(&station.kernel.root.join(&file)) {
                files.insert(file, crc);
            }
        }
    }
    for files in plan.stations.iter().filter_map(|station| station.kernel.files.as_ref()) {
        let known = roots.entry(files.display().to_string()).or_default();
        for file in files_in(files, String::new()) {
            if let Ok(crc) = crc32(&files.join(&file)) {
                known.insert(file, crc);
            }
        }
    }
    let kernel_crc32 = crc32(kernel)?;
    Ok(Machine { kernel: kernel.display().to_string(), kernel_crc32, processor: processor(), roots })
}

/// The files of the programs that a station's set-up and its `run` name.
fn programs(station: &StationPlan) -> impl Iterator<Item = String> {
    let own = station.kernel.programs.iter().filter_map(|program| program.command.split_whitespace().next());
    let names = init::NEEDED.into_iter().chain(own).filter(|name| !name.contains('/'));
    names.filter_map(|name| init::program(&station.kernel.root, name))
}

/// The files of a folder and of those in it, without what cannot be read.
fn files_in(folder: &Path, below: String) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder.join(&below)).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = if below.is_empty() { name } else { format!("{below}/{name}") };
        match entry.file_type() {
            Ok(it) if it.is_dir() => files.extend(files_in(folder, name)),
            Ok(it) if it.is_file() => files.push(name),
            _ => {}
        }
    }
    files
}

/// The features of this machine's processor.
fn processor() -> Vec<String> {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags")?.split_once(':'));
    flags.map_or_else(Vec::new, |(_, flags)| flags.split_whitespace().map(str::to_owned).collect())
}

fn crc32(path: &Path) -> io::Result<String> {
    let mut hasher = crc32fast::Hasher::new();
    let mut file = File::open(path)?;
    let mut octets = vec![0; 1 << 16];
    loop {
        match file.read(&mut octets)? {
            0 => return Ok(format!("{:08x}", hasher.finalize())),
            count => hasher.update(&octets[..count]),
        }
    }
}
