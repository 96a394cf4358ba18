//! Parts of one grid put together: byte for byte what one sweep over the whole grid would have written.

use super::again;
use super::manifest::Manifest;
use super::output::{Rows, TableError};
use super::part::{Part, Shard, Span, spans};
use say::program::program;
use sim::files::output::{TABLE, place, replace};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Merges `shards` into the table `out`; tells how many runs it has.
///
/// # Errors
/// Shards of different grids, one that is missing, there twice, changed, or not finished; a file that cannot be read or written.
pub fn merge(out: &Path, shards: &[PathBuf]) -> Result<u64, TableError> {
    let wrong = |path: &Path, what: String| TableError::Shards { path: path.to_owned(), what };
    let mut whole: Option<(Rows, Manifest, &Path)> = None;
    let mut seen: Vec<(Part, &Path)> = Vec::new();
    for path in shards {
        if is_same(path, out) {
            return Err(wrong(path, "it cannot be shard and result at once: give --out another name".to_owned()));
        }
        let manifest = Manifest::read(path)?.ok_or_else(|| {
            wrong(
                path,
                format!("this is no shard of a sweep, since there is no {} beside it", Manifest::path(path).display()),
            )
        })?;
        let rows = Rows::read(path, &manifest)?;
        let part = manifest.part();
        if !rows.is_whole(&manifest) {
            let what = unfinished(&rows, &manifest, path);
            return Err(wrong(path, what));
        }
        rows.check(path, &manifest)?;
        if let Some((_, other)) = seen.iter().find(|(other, _)| is_same_part(*other, part)) {
            return Err(wrong(path, format!("this is {part}, and so is {}", other.display())));
        }
        seen.push((part, path));
        let Some((all, first, first_path)) = &mut whole else {
            whole = Some((rows, manifest, path));
            continue;
        };
        let difference = first.difference(&manifest).or_else(|| {
            let (Part::Shard(there), Part::Shard(here)) = (first.part(), part) else { return None };
            (there.of != here.of).then(|| format!("the number of shards: there {}, here {}", there.of, here.of))
        });
        let other_columns = rows.header.is_some() && all.header.is_some() && rows.header != all.header;
        if let Some(difference) = difference.or_else(|| other_columns.then(|| "the table's columns".to_owned())) {
            return Err(wrong(
                path,
                format!("this is of another grid than {}; what differs is {difference}", first_path.display()),
            ));
        }
        all.header = all.header.take().or(rows.header);
        if let Some((run, _)) = rows.lines.iter().find(|(run, _)| all.lines.contains_key(run)) {
            let has = |(part, _): &&(Part, &Path)| part.has(*run, first.together());
            let other = seen.iter().find(has).map_or(*first_path, |(_, other)| other);
            return Err(wrong(path, format!("row {} is in {} too: give only one of them", run + 1, other.display())));
        }
        all.lines.extend(rows.lines);
    }
    let Some((rows, manifest, path)) = whole else {
        return Err(wrong(out, "there are no shards to merge".to_owned()));
    };
    let missing = missing(&manifest, &seen, &rows);
    if !missing.is_empty() {
        return Err(wrong(out, told(&missing, &manifest, path)));
    }
    let runs = rows.lines.len() as u64;
    if out == Path::new(STANDARD_OUTPUT) {
        let mut output = io::stdout().lock();
        let written = output.write_all(rows.text().as_bytes()).and_then(|()| output.flush());
        written.map_err(|source| TableError::File { what: "write", path: out.to_owned(), source })?;
        return Ok(runs);
    }
    check_place(out, &manifest)?;
    manifest.of(Part::WHOLE).finished(rows.crc32()).write(out)?;
    replace(out, TABLE, rows.text().as_bytes())?;
    Ok(runs)
}

/// Says how far a part is, and gives the command that goes on.
fn unfinished(rows: &Rows, manifest: &Manifest, path: &Path) -> String {
    let part = manifest.part();
    let verb = if matches!(part, Part::Rows(Span { first, last }) if first != last) { "have" } else { "has" };
    let command = again::command(&program(), manifest, path, part);
    let (there, next) = (rows.lines.len(), format!("give its command again, and it goes on:\n  {command}"));
    match manifest.enough() {
        Some(enough) => {
            format!("{part} {verb} {there} runs, and --until {} asks for further ones: {next}", enough.until)
        }
        None => format!("{part} {verb} {there} of its {} runs: {next}", manifest.share()),
    }
}

/// Whether two tables are of the same part of one grid.
fn is_same_part(one: Part, other: Part) -> bool {
    match (one, other) {
        (Part::Shard(one), Part::Shard(other)) => one.number == other.number,
        (one, other) => one == other,
    }
}

/// The parts that are not there: shards where all are shards, else rows.
fn missing(known: &Manifest, seen: &[(Part, &Path)], rows: &Rows) -> Vec<Part> {
    let shards: Option<Vec<Shard>> = seen
        .iter()
        .map(|(part, _)| match part {
            Part::Shard(shard) => Some(*shard),
            Part::Rows(_) => None,
        })
        .collect();
    let Some(shards) = shards else {
        let rows = (0..known.runs()).filter(|run| !rows.lines.contains_key(run));
        return spans(rows.map(|run| run + 1)).into_iter().map(Part::Rows).collect();
    };
    let of = shards.first().map_or(1, |shard| shard.of);
    let is_there = |number: &u64| shards.iter().any(|shard| shard.number == *number);
    (1..=of).filter(|number| !is_there(number)).map(|number| Part::Shard(Shard { number, of })).collect()
}

/// Which parts are missing, and the commands that run them; `known` is the manifest beside `table`.
fn told(missing: &[Part], known: &Manifest, table: &Path) -> String {
    /// More commands than these are not written out.
    const COMMANDS: usize = 8;
    let kind = match missing {
        [Part::Rows(Span { first, last })] if first == last => "row",
        [Part::Rows(_), ..] => "rows",
        _ => "shard",
    };
    let names: Vec<String> = missing
        .iter()
        .map(|part| match part {
            Part::Shard(shard) => shard.to_string(),
            Part::Rows(span) => span.to_string(),
        })
        .collect();
    let commands = missing.iter().take(COMMANDS);
    let commands = commands.map(|part| format!("\n  {}", again::command(&program(), known, table, *part)));
    let verb = if kind == "rows" || missing.len() > 1 { "are" } else { "is" };
    let more = if missing.len() > COMMANDS { "\n  and so on" } else { "" };
    format!(
        "{kind} {} of the grid {verb} missing: give the table too, or run{}{more}",
        names.join(", "),
        commands.collect::<String>()
    )
}

/// The name that means standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// What another command wrote is not overwritten.
fn check_place(out: &Path, manifest: &Manifest) -> Result<(), TableError> {
    place(out, TABLE)?;
    let there = std::fs::metadata(out).is_ok_and(|metadata| metadata.len() > 0);
    let path = out.to_owned();
    match Manifest::read(out)? {
        None if there => Err(TableError::Foreign { manifest: Manifest::path(out), path }),
        Some(other) => match other.difference(manifest) {
            Some(difference) => Err(TableError::Differs { path, difference }),
            None => Ok(()),
        },
        None => Ok(()),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    identity(one).is_some_and(|one| Some(one) == identity(other))
}
