//! A sweep's table of results: one row a run, each whole or not there, so that a later command can continue it.
//!
//! Rows are appended to a file as runs end, and put into the grid's order at the end. A pipe or a device gets them in the
//! grid's order at once.

use super::enough::is_enough;
pub use super::error::TableError;
use super::further::Further;
use super::journal::{History, row_crc32};
use super::lines::record;
use super::manifest::Manifest;
use sim::files::json_lines::{LineWriter, WriteError};
use sim::files::output::{TABLE, place, replace};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

/// A table's whole lines.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The first line.
    pub header: Option<String>,
    /// Each run's line, under its number from 0.
    pub lines: BTreeMap<u64, String>,
    /// The lines are in order.
    in_order: bool,
    /// How many octets they take; what comes after is half a line.
    octets: u64,
}

impl Rows {
    /// Reads what is whole of a table of `manifest`'s runs.
    ///
    /// # Errors
    /// The table cannot be read, or a line is not one of such a table.
    pub fn read(path: &Path, manifest: &Manifest) -> Result<Rows, TableError> {
        let text =
            std::fs::read(path).map_err(|source| TableError::File { what: "read", path: path.to_owned(), source })?;
        let octets = text.iter().rposition(|&octet| octet == b'\n').map_or(0, |end| end + 1);
        let mut rows = Rows { in_order: true, octets: octets as u64, ..Rows::default() };
        let (mut fields, mut seed, runs) = (0, None, manifest.runs());
        for (index, line) in String::from_utf8_lossy(&text[..octets]).lines().enumerate() {
            let wrong = |what| TableError::Line { path: path.to_owned(), line: index + 1, what };
            let record = record(line);
            if index == 0 {
                (fields, seed) = (record.len(), record.iter().position(|name| name == "seed"));
                rows.header = Some(line.to_owned());
                continue;
            }
            let run = record.get(0).and_then(|field| field.parse::<u64>().ok()).and_then(|run| run.checked_sub(1));
            let Some(run) = run.filter(|&run| run < runs && manifest.has(run) && record.len() == fields) else {
                let part = manifest.part();
                return Err(wrong(format!(
                    "this is no row of a run of {part} with {fields} columns: it was changed by something else"
                )));
            };
            let own = seed.and_then(|seed| record.get(seed)).map(|seed| (seed, manifest.seed(run).to_string()));
            if let Some((there, expected)) = own.filter(|(there, expected)| there != expected) {
                return Err(wrong(format!("run {} has seed {expected}, and not {there}", run + 1)));
            }
            rows.in_order &= rows.lines.last_key_value().is_none_or(|(last, _)| *last < run);
            if rows.lines.insert(run, line.to_owned()).is_some() {
                return Err(wrong(format!("run {} stands there twice", run + 1)));
            }
        }
        Ok(rows)
    }

    /// The same runs under the numbers that they have in `more`, a grid with more seeds.
    fn renumbered(self, manifest: &Manifest, more: &Manifest) -> Rows {
        let renumber = |(run, line): (u64, String)| {
            let run = manifest.run_in(more, run);
            let rest = line.split_once(',').map_or("", |(_, rest)| rest);
            (run, format!("{},{rest}", run + 1))
        };
        Rows { lines: self.lines.into_iter().map(renumber).collect(), ..self }
    }

    /// Refuses rows that were changed since the sweep of `manifest` finished them. A table that lacks rows, or that an earlier
    /// ethbus finished, has nothing to be held against.
    ///
    /// # Errors
    /// Rows were changed.
    pub fn check(&self, path: &Path, manifest: &Manifest) -> Result<(), TableError> {
        let is_whole = manifest.enough().is_some() || self.is_whole(manifest);
        let found = self.crc32();
        match manifest.rows_crc32().filter(|written| is_whole && *written != found) {
            Some(written) => Err(TableError::Changed { path: path.to_owned(), written, found }),
            None => self.check_each(path, manifest),
        }
    }

    /// The same with the checksum of each row, where the log beside the table has it.
    fn check_each(&self, path: &Path, manifest: &Manifest) -> Result<(), TableError> {
        let history = History::read(path, manifest.seeds().len() as u64)?;
        let written = |run: &u64| history.crc32.get(run).and_then(|crc32| u32::from_str_radix(crc32, 16).ok());
        let other = |(run, row): &(&u64, &String)| written(run).is_some_and(|written| written != row_crc32(row));
        match self.lines.iter().find(other) {
            Some((run, _)) => {
                let what = format!(
                    "row {} was changed since the sweep wrote it: bring it back, or remove it and give the sweep's command \
                     again",
                    run + 1
                );
                Err(TableError::Shards { path: path.to_owned(), what })
            }
            None => Ok(()),
        }
    }

    /// All runs of the manifest's shard are there, or all that are wanted.
    pub fn is_whole(&self, manifest: &Manifest) -> bool {
        self.lines.len() as u64 == manifest.share() || is_enough(self, manifest)
    }

    /// The checksum of the table's text.
    pub fn crc32(&self) -> u32 {
        crc32fast::hash(self.text().as_bytes())
    }

    /// The table's text, in order.
    pub fn text(&self) -> String {
        let lines = self.header.iter().chain(self.lines.values());
        lines.flat_map(|line| [line, "\n"]).collect()
    }
}

/// A table that is being written.
#[derive(Debug)]
pub struct Output {
    writer: LineWriter,
    place: String,
    header: Option<String>,
    kept: u64,
    runs: u64,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// Rows are appended as they come. The lock is given back when the file is closed.
    File { path: PathBuf, manifest: Box<Manifest>, _lock: File },
    /// Rows that are not next wait; `next` holds those that are still to come, the next one last.
    Stream { next: Vec<u64>, waiting: BTreeMap<u64, String> },
    /// Rows become files of a folder.
    #[cfg(feature = "parquet")]
    Folder(Box<super::folder::Folder>),
}

impl Output {
    /// A pipe or a device that gets rows in the order of `runs`.
    pub fn stream(file: File, place: String, runs: impl DoubleEndedIterator<Item = u64>) -> Output {
        let next: Vec<u64> = runs.rev().collect();
        Output {
            writer: LineWriter::new(file, place.clone(), "runs"),
            place,
            header: None,
            kept: 0,
            runs: next.len() as u64,
            target: Target::Stream { next, waiting: BTreeMap::new() },
        }
    }

    /// Makes the table, or continues the existing one; returns which runs it has.
    ///
    /// # Errors
    /// The table is of another grid, in use, damaged, or cannot be written.
    pub fn file(path: &Path, manifest: Manifest) -> Result<(Output, Vec<u64>), TableError> {
        let system = |what| move |source| TableError::File { what, path: path.to_owned(), source };
        let is_new = std::fs::metadata(path).map_or(true, |metadata| metadata.len() == 0);
        let there = Manifest::read(path)?;
        match &there {
            Some(there) if there.has_fewer_seeds(&manifest) => more_seeds(path, there, &manifest)?,
            Some(there) => {
                let difference = there.difference(&manifest).or_else(|| {
                    let (there, here) = (there.part(), manifest.part());
                    (there != here).then(|| format!("the part: there {there}, here {here}"))
                });
                if let Some(difference) = difference {
                    return Err(TableError::Differs { path: path.to_owned(), difference });
                }
            }
            None if !is_new => {
                return Err(TableError::Foreign { path: path.to_owned(), manifest: Manifest::path(path) });
            }
            None => {
                place(path, TABLE)?;
                manifest.write(path)?;
            }
        }
        let mut file = open_alone(path)?;
        let rows = Rows::read(path, &manifest)?;
        rows.check(path, there.as_ref().filter(|there| !there.has_fewer_seeds(&manifest)).unwrap_or(&manifest))?;
        file.set_len(rows.octets).and_then(|()| file.seek(io::SeekFrom::End(0))).map_err(system("write"))?;
        let lock = file.try_clone().map_err(system("open"))?;
        let place = path.display().to_string();
        let output = Output {
            writer: LineWriter::new(file, place.clone(), "runs"),
            place,
            header: rows.header,
            kept: rows.lines.len() as u64,
            runs: manifest.share(),
            target: Target::File { path: path.to_owned(), manifest: Box::new(manifest), _lock: lock },
        };
        Ok((output, rows.lines.into_keys().collect()))
    }

    /// Opens a folder of Parquet files, or makes it; returns which runs of the manifest's part it has.
    ///
    /// # Errors
    /// As [`super::folder::Folder::open`].
    #[cfg(feature = "parquet")]
    pub fn folder(path: &Path, manifest: &Manifest) -> Result<(Output, Vec<u64>), TableError> {
        let (folder, done) = super::folder::Folder::open(path, manifest)?;
        let null = File::options().write(true).open("/dev/null");
        let null = null.map_err(|source| TableError::File { what: "open", path: "/dev/null".into(), source })?;
        let place = path.display().to_string();
        let output = Output {
            writer: LineWriter::new(null, place.clone(), "runs"),
            place,
            header: None,
            kept: done.len() as u64,
            runs: manifest.share(),
            target: Target::Folder(Box::new(folder)),
        };
        Ok((output, done))
    }

    /// How many rows are in it.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// Takes the row of run `run`, from 0.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or the table there has other columns.
    pub fn row(&mut self, run: u64, header: &str, row: String, further: Further) -> Result<(), TableError> {
        #[cfg(feature = "parquet")]
        if let Target::Folder(folder) = &mut self.target {
            self.kept += 1;
            return folder.row(run, header, &row, further);
        }
        // Only a folder has more than rows.
        drop(further);
        match &self.header {
            None => {
                self.write(header)?;
                self.header = Some(header.to_owned());
            }
            Some(there) if there != header => {
                let what = "these are columns of another version of ethbus".to_owned();
                return Err(TableError::Line { path: self.place.clone().into(), line: 1, what });
            }
            Some(_) => {}
        }
        let ready = match &mut self.target {
            Target::File { .. } => vec![row],
            Target::Stream { waiting, .. } => {
                waiting.insert(run, row);
                Vec::new()
            }
            #[cfg(feature = "parquet")]
            Target::Folder(_) => return Ok(()),
        };
        self.write_ready(ready)
    }

    /// Run `run`, from 0, failed: a pipe waits for it no longer.
    ///
    /// # Errors
    /// As [`Output::row`].
    pub fn failed(&mut self, run: u64) -> Result<(), TableError> {
        match &mut self.target {
            Target::Stream { next, .. } => next.retain(|other| *other != run),
            Target::File { .. } => {}
            #[cfg(feature = "parquet")]
            Target::Folder(folder) => folder.ended(run)?,
        }
        self.write_ready(Vec::new())
    }

    fn write_ready(&mut self, mut ready: Vec<String>) -> Result<(), TableError> {
        if let Target::Stream { next, waiting } = &mut self.target {
            while let Some(row) = next.last().and_then(|run| waiting.remove(run)) {
                next.pop();
                ready.push(row);
            }
        }
        for row in ready {
            self.write(&row)?;
            self.kept += 1;
        }
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<(), TableError> {
        let written = self.writer.line(|buffer| buffer.extend_from_slice(line.as_bytes()));
        written.and_then(|()| self.writer.flush()).map_err(|error| match error {
            WriteError::Write { place, source, .. } => {
                TableError::Full { place, kept: self.kept, runs: self.runs, source }
            }
            other => {
                TableError::File { what: "write", path: self.place.clone().into(), source: io::Error::other(other) }
            }
        })
    }

    /// Writes what waits for further rows of its combination.
    ///
    /// # Errors
    /// The disk is full, or the like.
    pub fn flush(&mut self) -> Result<(), TableError> {
        match &mut self.target {
            #[cfg(feature = "parquet")]
            Target::Folder(folder) => folder.flush(),
            Target::File { .. } | Target::Stream { .. } => Ok(()),
        }
    }

    /// Puts the rows of a file in order, and writes the checksum of a complete file beside it.
    ///
    /// # Errors
    /// There is no room for a second copy of the file.
    #[cfg_attr(not(feature = "parquet"), allow(unused_mut, reason = "a folder has rows to write"))]
    pub fn finish(mut self) -> Result<(), TableError> {
        #[cfg(feature = "parquet")]
        if let Target::Folder(folder) = &mut self.target {
            return folder.flush();
        }
        let Target::File { path, manifest, .. } = &self.target else { return Ok(()) };
        let rows = Rows::read(path, manifest)?;
        if !rows.in_order {
            let order = |source| TableError::Order { path: path.clone(), runs: self.kept, source };
            replace(path, TABLE, rows.text().as_bytes()).map_err(order)?;
        }
        if rows.is_whole(manifest) {
            manifest.finished(rows.crc32()).write(path)?;
        }
        Ok(())
    }
}

/// A table's place as it is written here: that of a folder ends with `/`, so that what is beside a table is in the folder.
pub fn with_slash(table: &Path) -> PathBuf {
    let mut place = table.as_os_str().to_owned();
    if table.is_dir() && !place.as_encoded_bytes().ends_with(b"/") {
        place.push("/");
    }
    place.into()
}

/// Whether the table at this place is a folder of Parquet files.
pub fn is_folder(table: &Path) -> bool {
    table.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Which runs, from 0, a table has.
///
/// # Errors
/// The table cannot be read, or is not that of `manifest`.
pub fn done(table: &Path, manifest: &Manifest) -> Result<BTreeSet<u64>, TableError> {
    #[cfg(feature = "parquet")]
    if is_folder(table) {
        return Ok(super::folder::runs(table, manifest.runs())?.into_keys().collect());
    }
    Ok(Rows::read(table, manifest)?.lines.into_keys().collect())
}

/// Whether a process writes the table now.
pub fn is_written(path: &Path) -> bool {
    let locked = File::open(path).map(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
    locked.unwrap_or(false)
}

/// Opens a table that no other process writes.
fn open_alone(path: &Path) -> Result<File, TableError> {
    let open = File::options().create(true).append(true).open(path);
    let file = open.map_err(|source| TableError::File { what: "open", path: path.to_owned(), source })?;
    // A file system without locks is no reason to stop.
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(TableError::InUse { path: path.to_owned() }),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Renumbers the rows of a table of the grid `there` for the grid `here`, which has more seeds.
///
/// If the process ends between the two files, the seeds in the rows do not fit their numbers: the reader of the table
/// refuses it.
fn more_seeds(path: &Path, there: &Manifest, here: &Manifest) -> Result<(), TableError> {
    let _alone = open_alone(path)?;
    let rows = Rows::read(path, there)?;
    rows.check(path, there)?;
    let rows = rows.renumbered(there, here);
    replace(path, TABLE, rows.text().as_bytes())?;
    here.write(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_gets_rows_in_order_whatever_ends_first() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("stream");
        let mut output =
            Output::stream(File::create(&path).expect("own folder"), "stream".to_owned(), [1, 4, 7].into_iter());
        for run in [7, 1, 4] {
            output.row(run, "run", run.to_string(), Further::default()).expect("room");
        }
        assert_eq!(output.kept(), 3);
        assert_eq!(std::fs::read_to_string(&path).expect("own file"), "run\n1\n4\n7\n");
    }
}
