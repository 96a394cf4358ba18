//! The values of one key of a grid, as `--set KEY=…` says them: a list, a range, or both.
//!
//! Knows nothing of scenarios: a value is a text, and whether it makes sense there is the scenario's to say.

use std::fmt::{self, Display, Formatter};

/// One value, as the table of results will have it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// The text, without its quotes.
    pub text: String,
    /// It was in quotes, so it is text and no number, even if it looks like one.
    pub quoted: bool,
}

impl Value {
    fn bare(text: String) -> Value {
        Value { text, quoted: false }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// More values than a key of any grid that ends has.
const MOST: usize = 1_000_000;

/// Reads `V1,V2,…`, where each is a value or a range. A value with a comma in it is in quotes or brackets.
///
/// # Errors
/// An empty value, quotes or brackets that do not end, a range that makes no sense, a value given twice.
pub fn values(text: &str) -> Result<Vec<Value>, String> {
    if text.contains(char::is_control) {
        return Err(format!("{text:?} has a line's end or the like in it"));
    }
    let mut values: Vec<Value> = Vec::new();
    for item in split(text)? {
        let item = item.trim();
        if item.is_empty() {
            return Err(format!("a value is missing in `{text}`: write them like `2,4,8` or `2..8:2`"));
        }
        match quoted(item) {
            Some(inner) => values.push(Value { text: inner.to_owned(), quoted: true }),
            None => match Range::read(item)? {
                Some(range) => values.extend(range.values()?.into_iter().map(Value::bare)),
                None => values.push(Value::bare(item.to_owned())),
            },
        }
    }
    let mut seen = std::collections::HashSet::new();
    match values.iter().find(|value| !seen.insert(&value.text)) {
        Some(twice) => Err(format!("{twice} stands twice in `{text}`: once is enough, `--seeds` repeats runs")),
        None => Ok(values),
    }
}

/// The value at `place`, from 0 to below 1, of what `text` says: a list's value there, a number between the ends of one range.
/// Ends that are whole give whole numbers; others have as many further digits as ten thousand steps need. With a factor
/// (`2..64*2`) equal ratios are equally likely.
///
/// # Errors
/// As [`values`].
pub fn value_at(text: &str, place: f64) -> Result<Value, String> {
    let range = match split(text)?[..] {
        [item] if quoted(item.trim()).is_none() => Range::read(item.trim())?,
        _ => None,
    };
    if let Some(range) = range {
        // What is wrong with a range is wrong with its values.
        range.values()?;
        return Ok(Value::bare(range.at(place)));
    }
    let all = values(text)?;
    let number = (place * all.len() as f64) as usize;
    Ok(all[number.min(all.len() - 1)].clone())
}

/// The text between quotes, if all of it is.
fn quoted(item: &str) -> Option<&str> {
    let quote = item.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    item.strip_prefix(quote)?.strip_suffix(quote)
}

/// Parts between commas that are in neither quotes nor brackets.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut begin, mut depth, mut quote) = (Vec::new(), 0, 0_i32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            (None, _) => {}
        }
    }
    if quote.is_some() || depth != 0 {
        return Err(format!("`{text}` has quotes or brackets that do not match"));
    }
    parts.push(&text[begin..]);
    Ok(parts)
}

/// `LO..HI`, `LO..HI:STEP` or `LO..HI*FACTOR`, both ends included, with the same text before and after each number.
#[derive(Clone, Debug)]
struct Range<'a> {
    text: &'a str,
    before: &'a str,
    after: &'a str,
    low: Decimal,
    high: Decimal,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(Decimal),
    Multiply(Decimal),
}

impl<'a> Range<'a> {
    /// The range that `text` is, if there is a number on each side of its two points.
    fn read(text: &'a str) -> Result<Option<Range<'a>>, String> {
        let Some((left, right)) = text.split_once("..") else { return Ok(None) };
        let number = |c: char| c.is_ascii_digit() || c == '.';
        let begin = left.trim_end_matches(number).len();
        let end = right.find(|c| !number(c)).unwrap_or(right.len());
        if begin == left.len() || end == 0 {
            return Ok(None);
        }
        let (before, rest) = (&left[..begin], &right[end..]);
        let (step, after) = match rest.strip_prefix([':', '*']) {
            None => (Step::Add(Decimal::ONE), rest),
            Some(written) => {
                let end = written.find(|c| !number(c)).unwrap_or(written.len());
                let step = Decimal::read(&written[..end]).ok_or_else(|| wrong(text, "its step is no number"))?;
                (if rest.starts_with(':') { Step::Add(step) } else { Step::Multiply(step) }, &written[end..])
            }
        };
        let decimal = |digits| Decimal::read(digits).ok_or_else(|| wrong(text, "its ends are no numbers"));
        let (low, high) = (decimal(&left[begin..])?, decimal(&right[..end])?);
        Ok(Some(Range { text, before, after, low, high, step }))
    }

    fn at(&self, place: f64) -> String {
        let number = |decimal: Decimal| decimal.digits as f64 / 10_f64.powi(decimal.places as i32);
        let (low, high) = (number(self.low), number(self.high));
        let is_whole = self.low.places == 0 && self.high.places == 0;
        // A whole number has a stretch of its own around it, as long as those of the others.
        let (begin, end) = if is_whole { (low, high + 1.0) } else { (low, high) };
        let value = match self.step {
            Step::Multiply(_) => begin * (end / begin).powf(place),
            Step::Add(_) => begin + place * (end - begin),
        };
        let text = match is_whole {
            true => format!("{}", value.floor().min(high)),
            false => {
                let digits = 4 + self.low.places.max(self.high.places) as usize;
                let text = format!("{value:.digits$}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        };
        format!("{}{text}{}", self.before, self.after)
    }

    fn values(&self) -> Result<Vec<String>, String> {
        let wrong = |what| wrong(self.text, what);
        if self.high < self.low {
            return Err(wrong("it ends before it begins"));
        }
        match self.step {
            Step::Add(step) if step == Decimal::ZERO => return Err(wrong("a step of 0 never ends")),
            Step::Multiply(factor) if factor <= Decimal::ONE => return Err(wrong("a factor must be above 1")),
            Step::Multiply(_) if self.low == Decimal::ZERO => return Err(wrong("a factor leads nowhere from 0")),
            Step::Add(_) | Step::Multiply(_) => {}
        }
        let (mut values, mut value) = (Vec::new(), self.low);
        while value <= self.high {
            if values.len() == MOST {
                return Err(wrong("it has more than a million values"));
            }
            values.push(format!("{}{value}{}", self.before, self.after));
            let next = match self.step {
                Step::Add(step) => value.and(step),
                Step::Multiply(factor) => value.times(factor),
            };
            value = next.ok_or_else(|| wrong("its values get more digits than can be written"))?;
        }
        Ok(values)
    }
}

fn wrong(text: &str, what: &str) -> String {
    format!(
        "`{text}` is no range, since {what}: write `2..10`, `2..10:2`, `2..1024*2` or `poisson:0.1..0.9:0.1`, or put the text in quotes"
    )
}

/// A decimal fraction, exact, so that 0.1 and 0.2 is 0.3: `digits` / 10^`places`, with as few places as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    digits: u64,
    places: u32,
}

impl Decimal {
    const ZERO: Decimal = Decimal { digits: 0, places: 0 };
    const ONE: Decimal = Decimal { digits: 1, places: 0 };
    /// More places than any value has; a number with this many places still compares exactly.
    const MOST_PLACES: u32 = 18;

    fn read(text: &str) -> Option<Decimal> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if whole.is_empty() || (text.contains('.') && fraction.is_empty()) {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Decimal::new(digits, fraction.len().try_into().ok()?)
    }

    /// `None` if it does not fit.
    fn new(digits: u128, places: u32) -> Option<Decimal> {
        let (mut digits, mut places) = (digits, places);
        while places > 0 && digits % 10 == 0 {
            (digits, places) = (digits / 10, places - 1);
        }
        let fits = places <= Decimal::MOST_PLACES;
        u64::try_from(digits).ok().filter(|_| fits).map(|digits| Decimal { digits, places })
    }

    fn scaled(self, places: u32) -> u128 {
        u128::from(self.digits) * 10_u128.pow(places - self.places)
    }

    fn and(self, other: Decimal) -> Option<Decimal> {
        let places = self.places.max(other.places);
        Decimal::new(self.scaled(places) + other.scaled(places), places)
    }

    fn times(self, other: Decimal) -> Option<Decimal> {
        Decimal::new(u128::from(self.digits) * u128::from(other.digits), self.places + other.places)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<std::cmp::Ordering> {
        Some(self.scaled(Decimal::MOST_PLACES).cmp(&other.scaled(Decimal::MOST_PLACES)))
    }
}

impl Display for Decimal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let scale = 10_u64.pow(self.places);
        let (whole, fraction) = (self.digits / scale, self.digits % scale);
        match self.places as usize {
            0 => write!(f, "{whole}"),
            places => write!(f, "{whole}.{fraction:0places$}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn gives(text: &str, expected: &[&str]) {
        let values = values(text).expect(text);
        assert_eq!(values.iter().map(|value| value.text.as_str()).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn lists_and_ranges_give_their_values_in_order() {
        gives("2", &["2"]);
        gives("8,2, 4", &["8", "2", "4"]);
        gives("2..5", &["2", "3", "4", "5"]);
        gives("2..9:3", &["2", "5", "8"]);
        gives("2..20*3,100", &["2", "6", "18", "100"]);
        gives("saturated,poisson:0.4", &["saturated", "poisson:0.4"]);
    }

    /// Binary fractions would give 0.30000000000000004.
    #[test]
    fn a_range_is_exact_in_decimal_and_keeps_the_text_round_its_numbers() {
        gives("poisson:0.1..0.5:0.1", &["poisson:0.1", "poisson:0.2", "poisson:0.3", "poisson:0.4", "poisson:0.5"]);
        gives("bus:100..300:100m", &["bus:100m", "bus:200m", "bus:300m"]);
        gives("1..3*1.5", &["1", "1.5", "2.25"]);
        gives("star:0..1:0.50 BT", &["star:0 BT", "star:0.5 BT", "star:1 BT"]);
    }

    #[test]
    fn commas_and_points_in_quotes_or_brackets_are_the_values_own() {
        gives("\"64:7,594:4,1518:1\",64", &["64:7,594:4,1518:1", "64"]);
        gives("'replay:run1..2.pcap'", &["replay:run1..2.pcap"]);
        gives("['a:1m','b:0m'],['a:2m']", &["['a:1m','b:0m']", "['a:2m']"]);
        gives("replay:../a.pcap", &["replay:../a.pcap"]);
        assert!(values("'7'").expect("quoted")[0].quoted && !values("7").expect("bare")[0].quoted);
    }

    #[test]
    fn a_sample_takes_numbers_between_the_ends_and_values_of_a_list() {
        let at = |text: &str, place| value_at(text, place).expect(text).text;
        assert_eq!([at("2..5", 0.0), at("2..5", 0.26), at("2..5", 0.999)], ["2", "3", "5"]);
        assert_eq!([at("poisson:0.1..0.9", 0.0), at("poisson:0.1..0.9", 0.5)], ["poisson:0.1", "poisson:0.5"]);
        assert_eq!([at("0.1..10*2", 0.5), at("10M,1M", 0.4), at("10M,1M", 0.5)], ["1", "10M", "1M"]);
        assert!(value_at("9..2", 0.5).is_err_and(|error| error.contains("ends before")));
    }

    #[test]
    fn what_makes_no_values_is_named() {
        let cases = [
            ("", "missing"),
            ("2,,3", "missing"),
            ("'a", "match"),
            ("[1", "match"),
            ("9..2", "ends before"),
            ("2..9:0", "never ends"),
            ("2..9*1", "above 1"),
            ("0..9*2", "from 0"),
            ("2..9:x", "step"),
            ("1.2.3..9", "no numbers"),
            ("1..99999999", "million"),
            ("1..9*1.0000001", "more digits"),
            ("2,3,2", "twice"),
        ];
        for (text, word) in cases {
            let error = values(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
