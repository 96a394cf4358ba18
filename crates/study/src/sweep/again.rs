//! A grid again, from the manifest beside its table: the command that runs one part of it, or the grid itself.

use super::grid::{Asked, Grid};
use super::manifest::Manifest;
use super::output::is_folder;
use super::part::Part;
use say::program::quoted;
use sim::scenario::plan::{Overrides, PlanError, ReadError};
use sim::settings::options::{self, SWEEP};
use std::path::Path;

/// The table's name for a part: `runs-{shard}.csv` is `runs-3.csv` for the third shard, `runs-{row}.csv` for row 3.
pub fn named(out: &Path, part: Part) -> std::path::PathBuf {
    let place = match part {
        Part::Shard(_) => "{shard}",
        Part::Rows(_) => "{row}",
    };
    match out.to_str() {
        Some(text) => text.replace(place, &part.number()).into(),
        None => out.to_owned(),
    }
}

/// `program sweep …` for `part` of the grid of `known`, whose table is `table`. It can be pasted into a shell.
pub fn command(program: &str, known: &Manifest, table: &Path, part: Part) -> String {
    let mut words = vec![program.to_owned(), "sweep".to_owned()];
    words.extend(known.scenario_file().map(quoted));
    words.extend(sets(known).iter().flat_map(|set| ["--set".to_owned(), quoted(set)]));
    for (option, text) in known.choice().iter().flat_map(|choice| choice.wish.options()) {
        words.extend([option.to_owned(), quoted(text)]);
    }
    // A row of a grid to which seeds are added is one of all of them.
    let enough = known.enough().filter(|_| matches!(part, Part::Shard(_)));
    let first = enough.map_or(known.seeds().len(), |enough| enough.first.min(known.seeds().len()));
    words.extend(["--seeds".to_owned(), seeds(&known.seeds()[..first])]);
    if let Some(enough) = enough {
        let (until, most) = (quoted(&enough.until), known.seeds().len().to_string());
        words.extend(["--until".to_owned(), until, "--max-seeds".to_owned(), most]);
    }
    for (option, text) in known.options() {
        words.extend([option.clone(), quoted(&typed(option, text))]);
    }
    words.extend(known.timing().then(|| "--timing".to_owned()));
    words.extend(known.beside().options().into_iter().flat_map(|(option, text)| [option.to_owned(), text]));
    words.extend(match part {
        Part::Shard(shard) => ["--shard".to_owned(), shard.to_string()],
        Part::Rows(span) => ["--rows".to_owned(), span.to_string()],
    });
    words.extend(["--out".to_owned(), quoted(&beside(table, known.part(), part).to_string_lossy())]);
    words.join(" ")
}

/// The grid of `known`.
///
/// # Errors
/// Something changed the manifest, or another version wrote it.
pub fn grid(known: &Manifest) -> Result<Grid, ReadError> {
    let mut overrides = Overrides::default();
    for (option, text) in known.options() {
        let long = option.trim_start_matches("--");
        let own = options::of(SWEEP).into_iter().find(|own| own.long == long);
        let Some(own) = own.filter(|own| own.words.is_empty() || own.words.contains(&text.as_str())) else {
            return Err(
                PlanError::option(&format!("{option} {text}"), "this ethbus has no such option".to_owned()).into()
            );
        };
        overrides = overrides.and(own.long, &typed(option, text))?;
    }
    let wish = known.choice().map(|choice| choice.wish.clone()).unwrap_or_default();
    let asked = Asked { given: &[], sets: &sets(known), seeds: &seeds(known.seeds()), max_seeds: None, wish };
    let path = known.scenario_file().map(Path::new);
    Grid::of_text(path, known.scenario().to_owned(), &overrides, &asked, known.seeds().first().copied().unwrap_or(1))
}

/// `KEY=VALUES` of each key, as `--set` takes it.
fn sets(known: &Manifest) -> Vec<String> {
    let is_sampled = known.choice().is_some_and(|choice| choice.wish.sample.is_some());
    // Of a sample the ranges are as they were written.
    let text = |value: &String| if is_sampled { value.clone() } else { value_text(value) };
    let set = |(key, values): &(String, Vec<String>)| {
        format!("{key}={}", values.iter().map(text).collect::<Vec<_>>().join(","))
    };
    known.set().iter().map(set).collect()
}

/// An option's value as it is typed: the manifest has a rate in bits a second.
fn typed(option: &str, text: &str) -> String {
    let unit = if option == "--rate" { "bit/s" } else { "" };
    format!("{text}{unit}")
}

/// A value as `--set` takes it in a list.
fn value_text(value: &str) -> String {
    let is_plain = !value.contains([',', '"']) && !value.contains("..");
    if is_plain { value.to_owned() } else { format!("\"{value}\"") }
}

fn seeds(seeds: &[u64]) -> String {
    let in_row = seeds.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    match (seeds, in_row) {
        ([first, .., last], true) => format!("{first}..{last}"),
        ([one], _) => format!("{one}..{one}"),
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    }
}

/// The table of `part`: called as that of `known`, with the other number, or by a name of its own.
fn beside(table: &Path, known: Part, part: Part) -> std::path::PathBuf {
    let name = table.file_name().unwrap_or_default().to_string_lossy();
    let (known, shard) = match (known, part) {
        (known, part) if known == part || is_folder(table) => return table.to_owned(),
        (Part::Shard(known), Part::Shard(shard)) => (known, shard),
        (_, part) => return table.with_file_name(format!("rows-{}.csv", part.number())),
    };
    if shard.number == known.number {
        return table.to_owned();
    }
    let digits = known.number.to_string();
    let is_digit = |at: usize| name.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let whole = |at: &usize| (*at == 0 || !is_digit(at - 1)) && !is_digit(at + digits.len());
    let at = name.rmatch_indices(&digits).map(|(at, _)| at).find(whole);
    let name = match at {
        Some(at) => format!("{}{}{}", &name[..at], shard.number, &name[at + digits.len()..]),
        None => format!("shard-{}.csv", shard.number),
    };
    table.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::part::Shard;

    #[test]
    fn a_table_is_called_as_its_neighbours() {
        let shard = |number| Part::Shard(Shard { number, of: 20 });
        let name = |table: &str, known| beside(Path::new(table), shard(known), shard(12)).display().to_string();
        assert_eq!(name("a/part-3.csv", 3), "a/part-12.csv");
        assert_eq!(name("run13-3.csv", 3), "run13-12.csv");
        assert_eq!(name("a/third.csv", 12), "a/third.csv");
        assert_eq!(name("a/third.csv", 3), "a/shard-12.csv");
        assert_eq!(named(Path::new("r-{shard}.csv"), shard(7)), Path::new("r-7.csv"));
        let rows = Part::Rows("3..5".parse().expect("rows"));
        assert_eq!(named(Path::new("r-{row}.csv"), rows), Path::new("r-3-5.csv"));
        assert_eq!(beside(Path::new("a/all.csv"), Part::WHOLE, rows), Path::new("a/rows-3-5.csv"));
    }

    #[test]
    fn seeds_and_values_are_written_as_they_are_read() {
        assert_eq!([seeds(&[3, 4, 5]), seeds(&[1, 5]), seeds(&[7])], ["3..5", "1,5", "7..7"]);
        assert_eq!(value_text("64:7,594:4"), "\"64:7,594:4\"");
        assert_eq!(quoted("a=\"1\""), "'a=\"1\"'");
    }
}
