//! Which runs of a grid one table has: every nth of them, or those from one number to another.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Part `number` of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which part.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

impl Shard {
    /// The whole.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Whether run `run`, from 0, is in this part. Neighbours in the grid cost about the same, so each goes to another part.
    pub fn has(self, run: u64) -> bool {
        run % self.of == self.number - 1
    }

    /// How many of `runs` runs are in this part.
    pub fn share(self, runs: u64) -> u64 {
        runs / self.of + u64::from(self.number <= runs % self.of)
    }
}

impl Display for Shard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;
    fn from_str(text: &str) -> Result<Shard, String> {
        let parsed = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err(format!("`{text}` is no shard: write its number from 1 and how many there are, like `1/4`")),
        }
    }
}

/// Rows of the grid from one number to another, from 1; both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

impl Display for Span {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}..{}", self.first, self.last),
        }
    }
}

impl FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Span, String> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let row = |text: &str| text.trim().parse().ok().filter(|&row: &u64| row > 0);
        match (row(first), row(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Span { first, last }),
            (Some(_), Some(_)) => Err(format!("`{text}` ends before it begins: write rows like `11..20`")),
            _ => Err(format!("`{text}` is no row: write its number from 1, like `7`, or several like `11..20`")),
        }
    }
}

/// Rows in as few spans as there can be; `rows` are numbers from 1, in rising order.
pub fn spans(rows: impl IntoIterator<Item = u64>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for row in rows {
        match spans.last_mut() {
            Some(span) if span.last + 1 == row => span.last = row,
            _ => spans.push(Span { first: row, last: row }),
        }
    }
    spans
}

/// The runs of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Every nth.
    Shard(Shard),
    /// One after the other.
    Rows(Span),
}

impl Part {
    /// All.
    pub const WHOLE: Part = Part::Shard(Shard::WHOLE);

    /// Whether run `run`, from 0, is one of these; shards are dealt `together` runs at a time.
    pub fn has(self, run: u64, together: u64) -> bool {
        match self {
            Part::Shard(shard) => shard.has(run / together),
            Part::Rows(Span { first, last }) => (first..=last).contains(&(run + 1)),
        }
    }

    /// How many of the `runs` runs of a grid are among these; shards are dealt `together` runs at a time.
    pub fn share(self, runs: u64, together: u64) -> u64 {
        match self {
            Part::Shard(shard) => shard.share(runs / together).saturating_mul(together),
            Part::Rows(Span { first, last }) => (last.min(runs) + 1).saturating_sub(first),
        }
    }

    /// Its number, as a table's name has it.
    pub fn number(self) -> String {
        match self {
            Part::Shard(shard) => shard.number.to_string(),
            Part::Rows(span) => span.to_string().replace("..", "-"),
        }
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Part::Shard(shard) => write!(f, "shard {shard}"),
            Part::Rows(span) if span.first == span.last => write!(f, "row {span}"),
            Part::Rows(span) => write!(f, "rows {span}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_one_shard_and_shards_differ_by_one_run_at_most() {
        for (runs, of) in [(10, 3), (3, 5), (7, 1), (0, 2), (12, 4)] {
            let shards: Vec<Shard> = (1..=of).map(|number| Shard { number, of }).collect();
            for run in 0..runs {
                assert_eq!(shards.iter().filter(|shard| shard.has(run)).count(), 1);
            }
            let shares: Vec<u64> =
                shards.iter().map(|shard| (0..runs).filter(|&run| shard.has(run)).count() as u64).collect();
            assert_eq!(shares, shards.iter().map(|shard| shard.share(runs)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_shard_is_written_with_its_number_and_how_many_there_are() {
        assert_eq!("2/3".parse(), Ok(Shard { number: 2, of: 3 }));
        for text in ["0/3", "4/3", "1", "1/0", "a/b", "", "-1/2"] {
            assert!(text.parse::<Shard>().is_err_and(|error| error.contains("like `1/4`")), "{text}");
        }
    }

    #[test]
    fn rows_are_counted_from_1_with_both_ends() {
        let part = |text: &str| Part::Rows(text.parse().expect(text));
        assert_eq!((0..9).filter(|&run| part("3..5").has(run, 1)).collect::<Vec<_>>(), [2, 3, 4]);
        let share = |text, runs| part(text).share(runs, 1);
        assert_eq!([share("3..5", 9), share("3..5", 4), share("7", 9), share("7", 3)], [3, 2, 1, 0]);
        assert_eq!([part("7").to_string(), part("3..5").to_string()], ["row 7", "rows 3..5"]);
        for (text, word) in
            [("0", "from 1"), ("a", "from 1"), ("5..3", "ends before"), ("", "from 1"), ("1..", "from 1")]
        {
            assert!(text.parse::<Span>().is_err_and(|error| error.contains(word)), "{text}");
        }
    }

    #[test]
    fn runs_that_go_together_are_in_one_shard() {
        let second = Part::Shard(Shard { number: 2, of: 2 });
        assert_eq!((0..9).filter(|&run| second.has(run, 3)).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!([second.share(9, 3), second.share(12, 3), second.share(u64::MAX, 2)], [3, 6, (1 << 63) - 2]);
    }

    #[test]
    fn neighbours_become_spans() {
        let texts: Vec<String> = spans([1, 2, 3, 7, 9, 10]).iter().map(Span::to_string).collect();
        assert_eq!(texts, ["1..3", "7", "9..10"]);
    }
}
