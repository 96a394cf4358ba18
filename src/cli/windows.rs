//! Windows as the command line asks for them: their files, pipes and standard output.

use crate::cli::args::WindowArgs;
use say::say;
use sim::files::json_lines::{WriteError, create_as, is_other};
use sim::files::output::{self, Unfinished, is_stdout};
use sim::scenario::plan::PlanError;
use sim::windows::capture::filter::Filter;
use sim::windows::capture::{Framing, Wish};
use sim::windows::packing::{self, pack};
use sim::windows::rotation::{Rotation, rotate};
use sim::windows::{Known, Trailing, WindowKind, Windows, classic};
use std::fs::File;
use std::io::IsTerminal;
use std::path::Path;

/// A window whose file is open.
#[derive(Debug)]
pub struct WindowFile {
    /// What it makes.
    pub kind: WindowKind,
    /// How errors call the file.
    pub place: String,
    /// The file, or a pipe that leads to it.
    pub file: File,
}

/// Windows whose files are open, and what has to end after them.
#[derive(Debug, Default)]
pub struct WindowFiles {
    /// The files.
    pub files: Vec<WindowFile>,
    trailing: Vec<Trailing>,
}

/// The requested capture and its option.
pub fn named(args: &WindowArgs) -> (&'static str, Option<&Path>) {
    ("--pcapng", args.pcapng.as_deref())
}

/// What a capture at `path` is to have, of a medium of these stations; `option` is that of the filter.
///
/// # Errors
/// A filter that is none.
pub fn wish(
    option: &'static str,
    path: Option<&Path>,
    plain: bool,
    filter: Option<&str>,
    stations: &[String],
) -> Result<Wish, PlanError> {
    let framing = if plain || path.is_some_and(classic::is_named) { Framing::Plain } else { Framing::Whole };
    let filter = filter.map_or(Ok(Filter::ALL), |text| Filter::read(text, stations));
    filter.and_then(|filter| framing.filtered(filter)).map_err(|what| PlanError::option(option, what))
}

/// Opens the requested files; none may be one of `others`.
///
/// # Errors
/// A rotation that is none, or a file that cannot be made.
pub fn open(args: &WindowArgs, others: &[&Path]) -> Result<WindowFiles, OpenError> {
    let mut files = WindowFiles::default();
    if let Some(path) = &args.pcapng {
        let kind = WindowKind::Pcapng(wish("--pcapng", Some(path), false, None, &[])?);
        let rotation = args.pcapng_rotate.as_deref().map(str::parse::<Rotation>).transpose();
        match rotation.map_err(|what| PlanError::option("--pcapng-rotate", what))? {
            Some(_) if is_stdout(path) => {
                let what = "standard output is one stream: name a file with --pcapng".to_owned();
                return Err(PlanError::option("--pcapng-rotate", what).into());
            }
            Some(_) if packing::is_named(path) => {
                let what = "files that begin anew are not compressed: leave out `.zst`".to_owned();
                return Err(PlanError::option("--pcapng-rotate", what).into());
            }
            Some(rotation) => {
                tell_what_is_left_out(kind, path);
                let (file, trailing) = rotate(path, rotation)?;
                files.trailing.push(trailing);
                files.files.push(WindowFile { kind, place: path.display().to_string(), file });
            }
            None => files.add("--pcapng", kind, path, others)?,
        }
    }
    Ok(files)
}

/// Opens the file that a window of `kind` is to have.
///
/// # Errors
/// The file cannot be made, or is a terminal.
pub fn open_one(
    option: &'static str,
    kind: WindowKind,
    path: &Path,
    others: &[&Path],
) -> Result<WindowFiles, OpenError> {
    let mut files = WindowFiles::default();
    files.add(option, kind, path, others)?;
    Ok(files)
}

/// The same; a regular file takes its name only when it is whole.
///
/// # Errors
/// As [`open_one`].
pub fn open_whole(
    option: &'static str,
    kind: WindowKind,
    path: &Path,
    others: &[&Path],
) -> Result<(WindowFiles, Option<Unfinished>), OpenError> {
    if is_stdout(path) || std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Ok((open_one(option, kind, path, others)?, None));
    }
    is_other(path, others)?;
    let (unfinished, file) = Unfinished::begin(path, kind_of(kind, path)).map_err(WriteError::from)?;
    let mut files = WindowFiles::default();
    files.push(kind, path, file)?;
    Ok((files, Some(unfinished)))
}

/// Why a window cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The options make no sense.
    Plan(PlanError),
    /// A file cannot be made.
    Write(WriteError),
}

impl From<PlanError> for OpenError {
    fn from(error: PlanError) -> OpenError {
        OpenError::Plan(error)
    }
}

impl From<WriteError> for OpenError {
    fn from(error: WriteError) -> OpenError {
        OpenError::Write(error)
    }
}

impl WindowFiles {
    fn add(&mut self, option: &'static str, kind: WindowKind, path: &Path, others: &[&Path]) -> Result<(), OpenError> {
        if is_stdout(path) && std::io::stdout().is_terminal() {
            let what = "standard output is a terminal: write `-` only before a pipe, as in `- | wireshark -k -i -`";
            return Err(PlanError::option(option, what.to_owned()).into());
        }
        Ok(self.push(kind, path, create_as(kind_of(kind, path), path, others)?)?)
    }

    fn push(&mut self, kind: WindowKind, path: &Path, mut file: File) -> Result<(), WriteError> {
        if matches!(kind, WindowKind::Pcapng(_)) {
            tell_what_is_left_out(kind, path);
            let makers = [(packing::is_named(path), pack as Maker), (classic::is_named(path), classic::begin)];
            // Of two, the one that writes the file knows best what went wrong, so it comes first.
            for (_, begin) in makers.into_iter().filter(|(is_wanted, _)| *is_wanted) {
                let (inner, trailing) = begin(path, file)?;
                file = inner;
                self.trailing.push(trailing);
            }
        }
        self.files.push(WindowFile { kind, place: output::place_name(path), file });
        Ok(())
    }

    /// Opens the windows on a run. What has to end after them comes beside.
    ///
    /// # Errors
    /// A beginning that cannot be written.
    pub fn begin(self, known: &Known) -> Result<(Windows, Vec<Trailing>), WriteError> {
        let one = |it: WindowFile| it.kind.open(it.file, it.place, known);
        Ok((Windows(self.files.into_iter().map(one).collect::<Result<_, _>>()?), self.trailing))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files alone, and what has to end after them.
    pub fn into_files(self) -> (Vec<WindowFile>, Vec<Trailing>) {
        (self.files, self.trailing)
    }

    /// The windows that the data plane writes, their files, and the trailing files that end after them.
    pub fn hand_over(self) -> (Vec<(WindowKind, String)>, Vec<File>, Vec<Trailing>) {
        let one = |it: WindowFile| ((it.kind, it.place), it.file);
        let (named, files) = self.files.into_iter().map(one).unzip();
        (named, files, self.trailing)
    }
}

/// Waits until all files are whole. Their writers have ended before.
///
/// # Errors
/// A file that could not be written any further.
pub fn finish(trailing: Vec<Trailing>) -> Result<(), WriteError> {
    trailing.into_iter().try_for_each(|one| one.finish().map(|_| ()))
}

/// Starts a thread that makes another form of a capture.
type Maker = fn(&Path, File) -> Result<(File, Trailing), WriteError>;

/// Says that classic pcap has frames alone.
fn tell_what_is_left_out(kind: WindowKind, path: &Path) {
    if matches!(kind, WindowKind::Pcapng(_)) && classic::is_named(path) {
        say(&format!("ethbus: {} is pcap, which has whole frames alone: collisions are left out\n", path.display()));
    }
}

/// What the file of a window at `path` is.
fn kind_of(kind: WindowKind, path: &Path) -> output::Kind {
    match kind {
        WindowKind::Pcapng(_) if packing::is_named(path) => output::PACKED_CAPTURE,
        WindowKind::Pcapng(_) if classic::is_named(path) => output::PCAP,
        kind => kind.kind(),
    }
}
