//! The command that runs one shard of a grid, from the manifest beside another shard's table.

use super::manifest::{Manifest, Shard};
use crate::show::program::quoted;
use std::path::Path;

/// What `{shard}` in the name of a table becomes.
const PLACE: &str = "{shard}";

/// The table's name for a shard: `runs-{shard}.csv` is `runs-3.csv` for the third.
pub fn named(out: &Path, shard: Shard) -> std::path::PathBuf {
    match out.to_str() {
        Some(text) => text.replace(PLACE, &shard.number.to_string()).into(),
        None => out.to_owned(),
    }
}

/// `program sweep …` for `shard` of the grid of `known`, whose table is `table`. It can be pasted into a shell.
pub fn command(program: &str, known: &Manifest, table: &Path, shard: Shard) -> String {
    let mut words = vec![program.to_owned(), "sweep".to_owned()];
    words.extend(known.scenario_file().map(quoted));
    for (key, values) in known.set() {
        let values: Vec<String> = values.iter().map(|value| value_text(value)).collect();
        words.extend(["--set".to_owned(), quoted(&format!("{key}={}", values.join(",")))]);
    }
    words.extend(["--seeds".to_owned(), seeds(known.seeds())]);
    for (option, text) in known.options() {
        // The manifest has a rate in bits a second.
        let unit = if option == "--rate" { "bit/s" } else { "" };
        words.extend([option.clone(), quoted(&format!("{text}{unit}"))]);
    }
    words.extend(known.timing().then(|| "--timing".to_owned()));
    words.extend(["--shard".to_owned(), shard.to_string()]);
    words.extend(["--out".to_owned(), quoted(&beside(table, known.shard, shard).to_string_lossy())]);
    words.join(" ")
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

/// The table of `shard`: called as that of `known`, with the other number, or by a name of its own.
fn beside(table: &Path, known: Shard, shard: Shard) -> std::path::PathBuf {
    if shard.number == known.number {
        return table.to_owned();
    }
    let name = table.file_name().unwrap_or_default().to_string_lossy();
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

    #[test]
    fn a_table_is_called_as_its_neighbours() {
        let shard = |number| Shard { number, of: 20 };
        let name = |table: &str, known| beside(Path::new(table), shard(known), shard(12)).display().to_string();
        assert_eq!(name("a/part-3.csv", 3), "a/part-12.csv");
        assert_eq!(name("run13-3.csv", 3), "run13-12.csv");
        assert_eq!(name("a/third.csv", 12), "a/third.csv");
        assert_eq!(name("a/third.csv", 3), "a/shard-12.csv");
        assert_eq!(named(Path::new("r-{shard}.csv"), shard(7)), Path::new("r-7.csv"));
    }

    #[test]
    fn seeds_and_values_are_written_as_they_are_read() {
        assert_eq!([seeds(&[3, 4, 5]), seeds(&[1, 5]), seeds(&[7])], ["3..5", "1,5", "7..7"]);
        assert_eq!(value_text("64:7,594:4"), "\"64:7,594:4\"");
        assert_eq!(quoted("a=\"1\""), "'a=\"1\"'");
    }
}
