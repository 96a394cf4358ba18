//! What is wrong in a scenario file or in an option, always in one form.
//!
//! `FILE:LINE:COLUMN: key: value: what would be right`, as compilers write it, so that editors can jump there; or
//! `--option: value: what would be right`.

use std::fmt::{self, Display, Formatter};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePlace {
    /// The file, as the user called it.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl Display for FilePlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where it is; nothing for an option, and for what a file leaves out.
    pub place: Option<FilePlace>,
    /// The key or the option; empty where a line is no TOML.
    pub name: String,
    /// The value, and what would be right.
    pub what: String,
}

impl Display for Wrong {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.name.is_empty() {
            write!(f, "{}: ", self.name)?;
        }
        f.write_str(&self.what)
    }
}

/// All that is wrong, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrongs(Vec<Wrong>);

impl Wrongs {
    /// How many are reported for one file: a reader does not read more of them at once.
    const TOLD: usize = 20;
    /// How many are looked for in one file: one with more is no scenario.
    pub const MOST: usize = 50;

    /// These, in the order of the file, and of each value what was found first.
    pub fn new(mut wrongs: Vec<Wrong>) -> Wrongs {
        wrongs.sort_by(|one, other| one.place.cmp(&other.place));
        wrongs.dedup_by(|next, first| next == first || (next.place.is_some() && next.place == first.place));
        Wrongs(wrongs)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Wrong> {
        self.0.iter()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Themselves as a list.
    pub fn into_vec(self) -> Vec<Wrong> {
        self.0
    }
}

impl From<Wrong> for Wrongs {
    fn from(wrong: Wrong) -> Wrongs {
        Wrongs(vec![wrong])
    }
}

/// A line for each.
impl Display for Wrongs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, wrong) in self.0.iter().take(Wrongs::TOLD).enumerate() {
            write!(f, "{}{wrong}", if number > 0 { "\n" } else { "" })?;
        }
        match self.0.len().saturating_sub(Wrongs::TOLD) {
            0 => Ok(()),
            1 => f.write_str("\nand one error more"),
            _ if self.0.len() >= Wrongs::MOST => {
                write!(f, "\nand more: the check stops after {} errors", Wrongs::MOST)
            }
            more => write!(f, "\nand {more} errors more"),
        }
    }
}

/// Why a scenario or the options make no lab: all that is wrong. Each says place, value, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub(crate) Wrongs);

impl PlanError {
    /// An option has a value that makes no sense.
    pub fn option(name: &str, what: String) -> PlanError {
        Wrong { place: None, name: name.to_owned(), what }.into()
    }

    /// All that is wrong.
    pub fn wrongs(&self) -> &Wrongs {
        &self.0
    }
}

impl From<Wrong> for PlanError {
    fn from(wrong: Wrong) -> PlanError {
        PlanError(wrong.into())
    }
}

/// The one of `known` that the user most likely meant by `written`: a slip of one or two letters, or a longer or
/// shorter form.
pub fn meant<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let written = plain(written);
    let near = |known: &str| {
        let distance = distance(&written, &plain(known));
        let allowed = (known.len().min(written.len()) / 3).clamp(1, 2);
        (distance <= allowed).then_some(distance)
    };
    let scored = known.into_iter().filter_map(|known| near(known).map(|distance| (distance, known)));
    scored.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Letters to add, leave out, change or swap with their neighbours, to get from one text to the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows = vec![(0..=other.len()).collect::<Vec<_>>()];
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let change = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_other_words_are_not() {
        let known = ["rate", "topology", "attempt_limit", "mac"];
        for (written, wanted) in
            [("raet", "rate"), ("Rate", "rate"), ("topolgy", "topology"), ("attempt-limit", "attempt_limit")]
        {
            assert_eq!(meant(written, known), Some(wanted), "{written}");
        }
        for written in ["speed", "x", "tac_limit"] {
            assert_eq!(meant(written, known), None, "{written}");
        }
    }

    #[test]
    fn each_is_one_line_in_the_order_of_the_file() {
        let at = |line, column| Some(FilePlace { file: "lab.toml".to_owned(), line, column });
        let wrong = |place, name: &str| Wrong { place, name: name.to_owned(), what: "what".to_owned() };
        let wrongs = Wrongs::new(vec![wrong(at(10, 1), "b"), wrong(at(9, 3), "a"), wrong(at(10, 1), "b")]);
        assert_eq!(wrongs.to_string(), "lab.toml:9:3: a: what\nlab.toml:10:1: b: what");
        assert_eq!(wrong(None, "--rate").to_string(), "--rate: what");
    }
}
