//! A sweep's table as a folder of Parquet files, in the layout of Hive: `stations=8/medium.rate=10M/runs-….parquet`.
//!
//! A file is written under a name that readers skip and renamed when it is whole, so the folder can be read while it grows, and
//! several commands can write to one folder. Its name ends with the CRC-32 of its content. Values of keys are in the names of
//! folders and nowhere else, as readers of this layout expect.

use super::error::TableError;
use super::further::{Further, NewFile, RUNS, STATIONS, TABLES};
use super::journal::Provenance;
use super::lines::record;
use super::manifest::Manifest;
use super::parquet::{KEY, Origin, write_rows};
use super::part::Part;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;
use sim::files::output::{NEW, remove_stale};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows of an unfinished point wait no longer than this for the others.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder that grows.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    manifest: Manifest,
    made_by: Provenance,
    header: csv::StringRecord,
    /// Rows that are not written yet, by their combination and number.
    waiting: BTreeMap<u64, BTreeMap<u64, csv::StringRecord>>,
    /// The columns of a station's row, and the rows of the runs that wait.
    stations: (csv::StringRecord, BTreeMap<u64, Vec<csv::StringRecord>>),
    /// How many runs of each combination are still to come.
    due: BTreeMap<u64, u64>,
    written: Instant,
    files: u64,
}

impl Folder {
    /// Opens the folder at `path`, or makes it; tells which runs of the manifest's part it has.
    ///
    /// # Errors
    /// The folder is of another grid, has an altered or foreign file, or cannot be read or written.
    pub fn open(path: &Path, manifest: &Manifest) -> Result<(Folder, Vec<u64>), TableError> {
        let whole = manifest.clone().of(Part::WHOLE);
        match Manifest::read(path)? {
            Some(there) => {
                if let Some(difference) = there.difference(&whole) {
                    return Err(TableError::Differs { path: path.to_owned(), difference });
                }
            }
            None => {
                // Another command may make the same folder at this moment: its own files begin with a point.
                let is_own = |entry: io::Result<std::fs::DirEntry>| {
                    entry.is_ok_and(|entry| entry.file_name().as_encoded_bytes().starts_with(b"."))
                };
                if !std::fs::read_dir(path).map_or(true, |mut entries| entries.all(is_own))
                    && Manifest::read(path)?.is_none()
                {
                    return Err(TableError::Foreign { path: path.to_owned(), manifest: Manifest::path(path) });
                }
                std::fs::create_dir_all(path).map_err(system("create", path))?;
                whole.write(path)?;
            }
        }
        remove_stale(path, OsStr::new(NEW));
        let seeds = manifest.seeds().len() as u64;
        let done: Vec<u64> = runs(path, manifest.runs())?.into_keys().filter(|run| manifest.has(*run)).collect();
        let mut due: BTreeMap<u64, u64> = BTreeMap::new();
        for run in (0..manifest.runs()).filter(|run| manifest.has(*run) && done.binary_search(run).is_err()) {
            *due.entry(run / seeds).or_default() += 1;
        }
        let folder = Folder {
            path: path.to_owned(),
            manifest: whole,
            made_by: Provenance::here(),
            header: csv::StringRecord::new(),
            waiting: BTreeMap::new(),
            stations: (csv::StringRecord::new(), BTreeMap::new()),
            due,
            written: Instant::now(),
            files: 0,
        };
        Ok((folder, done))
    }

    /// Takes a row.
    ///
    /// # Errors
    /// The disk is full, or the like.
    pub fn row(&mut self, run: u64, header: &str, row: &str, further: Further) -> Result<(), TableError> {
        // Before the row: a run that has one has everything. If this ends between them, the same files come again.
        for (table, file) in further.files {
            file.name(&self.place(run)?, |crc32| name(table, run + 1, 1, crc32))?;
        }
        if let Some((header, rows)) = further.stations {
            self.stations.0 = record(&header);
            self.stations.1.insert(run, rows.iter().map(|row| record(row)).collect());
        }
        let header = record(header);
        if header != self.header {
            self.flush()?;
            self.header = header;
        }
        let point = self.point(run);
        self.waiting.entry(point).or_default().insert(run, record(row));
        self.ended(run)
    }

    /// No row of this run will come.
    ///
    /// # Errors
    /// As [`Folder::row`].
    pub fn ended(&mut self, run: u64) -> Result<(), TableError> {
        let point = self.point(run);
        let due = self.due.entry(point).or_default();
        *due = due.saturating_sub(1);
        if *due == 0 {
            self.write(point)?;
        }
        if self.written.elapsed() > PATIENCE { self.flush() } else { Ok(()) }
    }

    /// Writes all rows that wait.
    ///
    /// # Errors
    /// The disk is full, or the like.
    pub fn flush(&mut self) -> Result<(), TableError> {
        self.written = Instant::now();
        while let Some((&point, _)) = self.waiting.first_key_value() {
            self.write(point)?;
        }
        Ok(())
    }

    /// The combination of a run.
    fn point(&self, run: u64) -> u64 {
        run / self.manifest.seeds().len() as u64
    }

    fn write(&mut self, point: u64) -> Result<(), TableError> {
        let Some(rows) = self.waiting.remove(&point) else { return Ok(()) };
        let Some((&first, _)) = rows.first_key_value() else { return Ok(()) };
        let keys: Vec<String> = self.manifest.values(first).iter().map(|(key, _)| (*key).to_owned()).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let place = self.place(first)?;
        let of_stations: Vec<csv::StringRecord> =
            rows.keys().filter_map(|run| self.stations.1.remove(run)).flatten().collect();
        let stations = match of_stations.is_empty() {
            true => None,
            // Without what made them, which differs each time.
            false => Some(self.new_file(&self.stations.0.clone(), &of_stations, &[], None)?),
        };
        let written: Vec<u64> = rows.keys().copied().collect();
        let rows: Vec<csv::StringRecord> = rows.into_values().collect();
        let (header, grid) = (self.header.clone(), self.manifest.clone());
        let runs = self.new_file(&header, &rows, &keys, Some(&grid))?;
        remove_orphans(&place, &written)?;
        let mut both = [(STATIONS, stations), (RUNS, Some(runs))].into_iter();
        both.try_for_each(|(table, file)| {
            file.map_or(Ok(()), |file| file.name(&place, |crc32| name(table, first + 1, rows.len(), crc32)))
        })
    }

    /// The folder of a run's combination.
    fn place(&self, run: u64) -> Result<PathBuf, TableError> {
        let values = self.manifest.values(run);
        let folder =
            |place: PathBuf, (key, value): &(&str, &str)| place.join(format!("{}={}", encoded(key), encoded(value)));
        let place = values.iter().fold(self.path.clone(), folder);
        std::fs::create_dir_all(&place).map_err(system("create", &place))?;
        Ok(place)
    }

    /// A file with these rows that has no name yet.
    fn new_file(
        &mut self,
        header: &csv::StringRecord,
        rows: &[csv::StringRecord],
        left_out: &[&str],
        grid: Option<&Manifest>,
    ) -> Result<NewFile, TableError> {
        self.files += 1;
        let new = NewFile::at(self.path.join(format!("{NEW}{}-{}", std::process::id(), self.files)));
        let file = File::create(new.path()).map_err(system("create", new.path()))?;
        write_rows((file, new.path().display().to_string()), header, rows, left_out, (grid, &self.made_by))?;
        Ok(new)
    }
}

/// Removes rows of stations that a process left which ended between the two renames of [`Folder::write`]: of runs that are
/// `written` now, in a file without the file of its runs. Another process that is between its renames writes other runs.
fn remove_orphans(place: &Path, written: &[u64]) -> Result<(), TableError> {
    let entries =
        std::fs::read_dir(place).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(system("read", place))?;
    let names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    for name in &names {
        let Some((numbers, _)) = name.strip_prefix(STATIONS).and_then(|rest| rest.rsplit_once('-')) else { continue };
        let beside = format!("{RUNS}{numbers}-");
        if names.iter().any(|other| other.starts_with(&beside)) {
            continue;
        }
        let path = place.join(name);
        let file = match File::open(&path) {
            // Another process that goes on has removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file.map_err(system("open", &path))?,
        };
        let rows = SerializedFileReader::new(file).map_err(|error| error.to_string());
        let rows = rows.and_then(|reader| rows_of(&reader, Some("run")));
        let rows = rows.map_err(|what| TableError::Shards { path: path.clone(), what })?;
        let is_written = |run: u64| run.checked_sub(1).is_some_and(|run| written.contains(&run));
        if rows.iter().filter_map(number).any(is_written) {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(system("remove", &path))?,
            }
        }
    }
    Ok(())
}

fn system(what: &'static str, path: &Path) -> impl Fn(io::Error) -> TableError + use<> {
    let path = path.to_owned();
    move |source| TableError::File { what, path: path.clone(), source }
}

/// A file's name: its table, its first run, how many runs it has, and its checksum.
fn name(table: &str, first: u64, runs: usize, crc32: u32) -> String {
    format!("{table}-{first}-{runs}-{crc32:08x}.parquet")
}

/// Whether a file of this name is of another table than that of runs.
fn is_beside(name: &str) -> bool {
    let table = name.split_once('-').map(|(table, _)| table);
    table.is_some_and(|table| TABLES.contains(&table))
}

/// The checksum in the name of a file of runs, if it is such a name.
fn checksum(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("runs-")?.strip_suffix(".parquet")?.rsplit('-').next()?;
    (digits.len() == 8).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// A text as a folder's name has it: letters, digits, `.`, `_` and `-`, and every other octet as `%3A`.
fn encoded(text: &str) -> String {
    let octet = |octet: u8| match octet {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => char::from(octet).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(octet).collect()
}

/// The text that [`encoded`] has made.
fn decoded(text: &str) -> Option<String> {
    let (mut octets, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        rest = tail;
        octets.push(match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                rest = tail;
                u8::from_str_radix(std::str::from_utf8(&[*high, *low]).ok()?, 16).ok()?
            }
            (octet, _) => *octet,
        });
    }
    String::from_utf8(octets).ok()
}

/// Every file of runs below, in order of its path; names that begin with a point are no rows.
fn files(folder: &Path) -> Result<Vec<PathBuf>, TableError> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(system("read", &folder))? {
            let path = entry.map_err(system("read", &folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match () {
                () if name.starts_with('.') || is_beside(&name) => {}
                () if path.is_dir() => folders.push(path),
                () if name.ends_with(".parquet") => found.push(path),
                () => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A file whose content is that which its name tells.
fn sound(path: &Path) -> Result<SerializedFileReader<File>, TableError> {
    let wrong = |what: String| TableError::Shards { path: path.to_owned(), what };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(written) = checksum(&name) else {
        return Err(wrong("no sweep wrote a file of this name: move it elsewhere".to_owned()));
    };
    let found = crc32fast::hash(&std::fs::read(path).map_err(system("read", path))?);
    if found != written {
        return Err(wrong(format!(
            "it was changed since the sweep wrote it: its CRC-32 was {written:08x} and is {found:08x}; bring it back, or \
             remove it and give the sweep's command again"
        )));
    }
    let file = File::open(path).map_err(system("open", path))?;
    SerializedFileReader::new(file).map_err(|error| wrong(error.to_string()))
}

/// Which runs, from 0, the folder has, each with its file.
///
/// # Errors
/// A file that was altered, one that is no sweep's, a row that is in two files.
pub fn runs(folder: &Path, most: u64) -> Result<BTreeMap<u64, PathBuf>, TableError> {
    let mut runs = BTreeMap::new();
    for path in files(folder)? {
        let wrong = |what: String| TableError::Shards { path: path.clone(), what };
        let reader = sound(&path)?;
        for row in rows_of(&reader, Some("run")).map_err(wrong)? {
            let run = number(&row).and_then(|run| run.checked_sub(1)).filter(|run| *run < most);
            let run = run.ok_or_else(|| wrong("it has a row that the grid does not have".to_owned()))?;
            if let Some(other) = runs.insert(run, path.clone()) {
                return Err(wrong(format!("row {} is in {} too: remove one of the files", run + 1, other.display())));
            }
        }
    }
    Ok(runs)
}

/// A row's columns, each with its value as CSV has it.
pub type Row = Vec<(String, String)>;

/// A row's number, from 1.
fn number(row: &Row) -> Option<u64> {
    row.iter().find(|(name, _)| name == "run")?.1.parse().ok()
}

/// The rows of a file, of one column or of all.
fn rows_of(reader: &SerializedFileReader<File>, only: Option<&str>) -> Result<Vec<Row>, String> {
    let schema = reader.metadata().file_metadata().schema();
    let fields: Vec<Arc<Type>> =
        schema.get_fields().iter().filter(|field| only.is_none_or(|only| field.name() == only)).cloned().collect();
    if fields.is_empty() {
        return Err("it has no column `run`".to_owned());
    }
    let projection = Type::group_type_builder(schema.name()).with_fields(fields).build();
    let rows = projection.and_then(|projection| reader.get_row_iter(Some(projection)));
    let rows = rows.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(|error| error.to_string())?;
    let text = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Double(number) => number.to_string(),
        other => other.to_string(),
    };
    Ok(rows
        .iter()
        .map(|row| row.get_column_iter().map(|(name, field)| (name.clone(), text(field))).collect())
        .collect())
}

/// The keys and values that the folders' names above a file have.
fn keys(folder: &Path, path: &Path) -> Row {
    let relative = path.strip_prefix(folder).unwrap_or(path);
    let parts = relative.parent().into_iter().flat_map(Path::components);
    let pair = |part: Component<'_>| {
        let (key, value) = part.as_os_str().to_str()?.split_once('=')?;
        Some((decoded(key)?, decoded(value)?))
    };
    parts.filter_map(pair).collect()
}

/// Row `run`, from 0, of a file, or its first one; its number, its columns, and what the file says of itself. The keys of a file
/// in a folder are in the names of folders only.
///
/// # Errors
/// The file was altered, is no sweep's, or does not have the row.
pub fn row(path: &Path, run: Option<u64>) -> Result<(u64, Row, Origin), TableError> {
    let wrong = |what: String| TableError::Shards { path: path.to_owned(), what };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A table in one file, of `--parquet`, has another name, and no checksum in it.
    let reader = match name.starts_with("runs-") && checksum(&name).is_some() {
        true => sound(path)?,
        false => SerializedFileReader::new(File::open(path).map_err(system("open", path))?)
            .map_err(|error| wrong(format!("this is no Parquet file: {error}")))?,
    };
    let texts = reader.metadata().file_metadata().key_value_metadata();
    let origin = texts.into_iter().flatten().find(|text| text.key == KEY).and_then(|text| text.value.as_deref());
    let origin = origin.ok_or_else(|| wrong("it has no metadata of a sweep".to_owned()))?;
    let foreign = |error: &dyn std::fmt::Display| wrong(format!("its metadata are no sweep's: {error}"));
    let origin: Origin = serde_json::from_str(origin).map_err(|error| foreign(&error))?;
    if !origin.grid.is_sound() {
        return Err(foreign(&"a grid that cannot be"));
    }
    for row in rows_of(&reader, None).map_err(wrong)? {
        let own =
            number(&row).and_then(|run| run.checked_sub(1)).ok_or_else(|| wrong("a row has no number".to_owned()))?;
        if run.is_none_or(|run| run == own) {
            return Ok((own, row, origin));
        }
    }
    Err(wrong(run.map_or("it has no rows".to_owned(), |run| format!("it has no row {}", run + 1))))
}

/// The same of a folder, with the keys.
///
/// # Errors
/// As [`row`].
pub fn row_of_all(folder: &Path, manifest: &Manifest, run: Option<u64>) -> Result<(u64, Row, Origin), TableError> {
    let wrong = |what: String| TableError::Shards { path: folder.to_owned(), what };
    let runs = runs(folder, manifest.runs())?;
    let (path, run) = match run {
        Some(run) => (runs.get(&run), run),
        None => runs.first_key_value().map_or((None, 0), |(run, path)| (Some(path), *run)),
    };
    let path = path.ok_or_else(|| wrong(format!("it has no row {}", run + 1)))?;
    let (run, row, origin) = row(path, Some(run))?;
    Ok((run, keys(folder, path).into_iter().chain(row).collect(), origin))
}

/// The whole table, as CSV has it: names of columns and rows, in the order of the grid. A column that a file lacks is empty there.
///
/// # Errors
/// As [`runs`].
pub fn read(folder: &Path) -> Result<(Vec<String>, Vec<csv::StringRecord>), TableError> {
    let (mut names, mut rows): (Vec<String>, BTreeMap<u64, Row>) = (vec!["run".to_owned()], BTreeMap::new());
    for path in files(folder)? {
        let wrong = |what: String| TableError::Shards { path: path.clone(), what };
        let keys = keys(folder, &path);
        for row in rows_of(&sound(&path)?, None).map_err(wrong)? {
            let run = number(&row).ok_or_else(|| wrong("it has a row without a number".to_owned()))?;
            let row: Row = row.into_iter().chain(keys.iter().cloned()).collect();
            // Keys first, as in CSV.
            for (name, _) in keys.iter().chain(&row) {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            if rows.insert(run, row).is_some() {
                return Err(wrong(format!("row {run} is in another file too: remove one of the files")));
            }
        }
    }
    let field = |row: &Row, name: &String| {
        row.iter().find(|(own, _)| own == name).map_or(String::new(), |(_, value)| value.clone())
    };
    let rows = rows.values().map(|row| names.iter().map(|name| field(row, name)).collect()).collect();
    Ok((names, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_folders_name_and_comes_back() {
        for text in ["10M", "star:50bt", "64:7,1518:1", "a/b=c%", "Übung"] {
            let name = encoded(text);
            assert!(name.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"._-%".contains(&octet)), "{name}");
            assert_eq!(decoded(&name).as_deref(), Some(text));
        }
        assert_eq!((encoded("star:50bt"), decoded("%zz")), ("star%3A50bt".to_owned(), None));
    }

    #[test]
    fn a_name_tells_its_checksum() {
        assert_eq!(checksum(&name(RUNS, 7, 20, 0x0a1b_2c3d)), Some(0x0a1b_2c3d));
        assert_eq!([checksum("runs-1.parquet"), checksum("notes.parquet")], [None, None]);
    }
}
