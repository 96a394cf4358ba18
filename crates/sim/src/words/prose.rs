//! Sentences in the making: templates with gaps, and what fills them. A capture has millions of sentences, so a
//! template's gaps are found when it is compiled, and what fills them is appended where it belongs.

use medium::{BitRate, BitTimes};
use std::error::Error;

/// An error with everything that led to it, each part once.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text += &format!(": {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// The parts of a template before, between and after its gaps, which have these names in this order.
///
/// # Panics
/// It has other gaps. Called for a constant, it does not compile then.
pub(super) const fn pieces<const GAPS: usize, const PIECES: usize>(
    template: &'static str,
    gaps: [&str; GAPS],
) -> [&'static str; PIECES] {
    let (mut pieces, mut rest, mut gap) = ([""; PIECES], template, 0);
    while gap < GAPS {
        let name = gaps[gap];
        let (piece, after) = rest.split_at(place(rest, b'{'));
        let (own, after) = after.split_at(place(after, b'}'));
        let (_, own) = own.split_at(1);
        assert!(is_same(own, name), "a template has another gap here");
        pieces[gap] = piece;
        (_, rest) = after.split_at(1);
        gap += 1;
    }
    assert!(place(rest, b'{') == rest.len(), "a template has more gaps");
    pieces[GAPS] = rest;
    pieces
}

/// Where `octet` is first; the end, if it is nowhere.
const fn place(text: &str, octet: u8) -> usize {
    let (octets, mut at) = (text.as_bytes(), 0);
    while at < octets.len() && octets[at] != octet {
        at += 1;
    }
    at
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other, mut at) = (one.as_bytes(), other.as_bytes(), 0);
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Appends a template, a constant; of each gap, in order, its name and what appends what belongs there.
macro_rules! tell {
    ($prose:expr, $template:expr, $($gap:literal => $value:expr),* $(,)?) => {{
        const GAPS: [&str; [$($gap),*].len()] = [$($gap),*];
        const PIECES: [&str; GAPS.len() + 1] = $crate::words::prose::pieces($template, GAPS);
        $prose.put(const { PIECES[0] });
        tell!(@ $prose, PIECES, 1, $($value,)*);
    }};
    (@ $prose:expr, $pieces:ident, $at:expr,) => {};
    (@ $prose:expr, $pieces:ident, $at:expr, $value:expr, $($rest:expr,)*) => {
        $value;
        $prose.put(const { $pieces[$at] });
        tell!(@ $prose, $pieces, $at + 1, $($rest,)*);
    };
}
pub(super) use tell;

/// Text that grows at the end of something, and the space in it that no line is broken at.
#[derive(Debug)]
pub struct Prose<'a> {
    text: &'a mut Vec<u8>,
    tie: &'static str,
}

impl Prose<'_> {
    /// Text that is to be appended to `text`. What belongs together, such as a number and its unit, has `tie` between.
    pub fn new<'a>(text: &'a mut Vec<u8>, tie: &'static str) -> Prose<'a> {
        Prose { text, tie }
    }

    /// What `tell` appends, alone.
    pub fn alone(tie: &'static str, tell: impl FnOnce(&mut Prose<'_>)) -> String {
        let mut text = Vec::new();
        tell(&mut Prose::new(&mut text, tie));
        String::from_utf8(text).expect("only text is appended")
    }

    /// Appends `text`. Where it is a constant, it is a few stores and no copy of unknown length.
    #[inline(always)]
    pub fn put(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// Appends a number in decimal digits.
    #[inline]
    pub fn number(&mut self, number: u64) {
        push_number(self.text, number);
    }

    /// Appends a number with its thousands apart.
    #[inline]
    pub fn group(&mut self, number: u64) {
        if number < 1_000 {
            return self.number(number);
        }
        self.group(number / 1_000);
        let rest = (number % 1_000) as u16;
        self.text.extend_from_slice(&[b',', digit(rest / 100), digit(rest / 10 % 10), digit(rest % 10)]);
    }

    /// Appends `st2#17`.
    pub fn frame(&mut self, station: &str, serial: u64) {
        self.put(station);
        self.put("#");
        self.number(serial);
    }

    /// Appends a span in bit times and in real time.
    pub fn span(&mut self, span: BitTimes, rate: BitRate) {
        self.group(span.get());
        self.put(self.tie);
        self.put("BT");
        self.put(self.tie);
        self.put("(");
        self.real(span, rate);
        self.put(")");
    }

    /// Appends a span in real time.
    pub fn real(&mut self, span: BitTimes, rate: BitRate) {
        self.nanos(u64::try_from(span.at(rate).as_nanos()).unwrap_or(u64::MAX));
    }

    /// Appends a time in the unit that suits it.
    pub fn nanos(&mut self, nanos: u64) {
        let unit = match nanos {
            0..1_000 => {
                self.number(nanos);
                "ns"
            }
            1_000..1_000_000 => {
                self.thousandths(nanos);
                "us"
            }
            1_000_000..1_000_000_000 => {
                self.thousandths(rounded(nanos, 1_000));
                "ms"
            }
            _ => {
                self.thousandths(rounded(nanos, 1_000_000));
                "s"
            }
        };
        self.put(self.tie);
        self.put(unit);
    }

    /// Appends a number of thousandths, without zeros at the end: they say nothing.
    fn thousandths(&mut self, thousandths: u64) {
        self.number(thousandths / 1_000);
        let rest = thousandths % 1_000;
        if rest > 0 {
            let rest = rest as u16;
            let digits = [rest / 100, rest / 10 % 10, rest % 10].map(digit);
            let count = digits.iter().rposition(|digit| *digit > b'0').map_or(0, |last| last + 1);
            self.put(".");
            self.text.extend_from_slice(&digits[..count]);
        }
    }
}

fn digit(value: u16) -> u8 {
    b'0' + value as u8
}

/// Appends a number in decimal digits.
#[inline]
pub fn push_number(text: &mut Vec<u8>, number: u64) {
    if number < 10 {
        return text.push(b'0' + number as u8);
    }
    push_digits(text, number);
}

fn push_digits(text: &mut Vec<u8>, number: u64) {
    if number >= EIGHT_DIGITS {
        push_number(text, number / EIGHT_DIGITS);
        return text.extend_from_slice(&eight_digits(number % EIGHT_DIGITS));
    }
    let (digits, count) = digits(number);
    let end = text.len() + count;
    text.extend_from_slice(&digits);
    text.truncate(end);
}

/// The least number of more than eight digits.
pub const EIGHT_DIGITS: u64 = 100_000_000;

/// A number of at most eight digits, 0 excluded, and how many it has.
#[inline]
pub fn digits(number: u64) -> ([u8; 8], usize) {
    let digits = u64::from_le_bytes(eight_digits(number));
    let zeros = (digits ^ ZEROS).trailing_zeros() as usize / 8;
    ((digits >> (8 * zeros)).to_le_bytes(), 8 - zeros)
}

const ZEROS: u64 = u64::from_le_bytes(*b"00000000");

/// The eight digits of a number that has no more, zeros before it included.
///
/// All are worked out at once: twice four digits in halves of a word, four times two in quarters, eight in octets, the
/// first in the lowest. A multiplication and a shift divide each by 100, and then by 10.
#[inline]
pub fn eight_digits(number: u64) -> [u8; 8] {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
    let twos = ((fours - 100 * hundreds) << 16) | hundreds;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = twos - 10 * tens;
    ((ones << 8) | tens | ZEROS).to_le_bytes()
}

/// How many times `unit` is in `nanos`, rounded. Half a unit is rounded as
/// the binary number nearest to the quotient is, so that dividing and printing three digits gives the same.
fn rounded(nanos: u64, unit: u64) -> u64 {
    /// Above this a binary number of 53 bits may be nearer to a half than the quotient is.
    const EXACT: u64 = 1 << 50;
    let (whole, twice) = (nanos / unit, nanos % unit * 2);
    if twice != unit && nanos < EXACT {
        return whole + u64::from(twice > unit);
    }
    let text = format!("{:.3}", nanos as f64 / (unit * 1_000) as f64);
    text.bytes().filter(u8::is_ascii_digit).fold(0, |number, digit| 10 * number + u64::from(digit - b'0'))
}

/// Text that means itself in HTML and XML, in attributes too.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_in_order_and_values_are_left_as_they_are() {
        let text = Prose::alone(" ", |prose| {
            tell!(prose, "{a} and {b}, {a}; ", "a" => prose.put("{b}"), "b" => prose.number(2), "a" => prose.group(12_034));
            [0, 9, 10, 999, 1_000, 1_000_007, u64::MAX].iter().for_each(|number| prose.group(*number));
        });
        assert_eq!(text, "{b} and 2, 12,034; 09109991,0001,000,00718,446,744,073,709,551,615");
    }

    #[test]
    fn numbers_have_the_digits_that_they_are_printed_with() {
        let around = |middle: u64| middle.saturating_sub(2)..=middle.saturating_add(2);
        let powers = (0..20).flat_map(|power| around(10_u64.pow(power)));
        for number in (0..20_000).chain(powers).chain((0..40_000).map(|number| number * 2_477)).chain(around(u64::MAX))
        {
            let mut text = b"t".to_vec();
            push_number(&mut text, number);
            assert_eq!(text, format!("t{number}").into_bytes());
        }
    }

    /// The digits that a division of binary numbers gives, on both sides of every half.
    #[test]
    fn times_have_three_digits_as_printed_from_a_quotient() {
        let quotient = |nanos: u64| {
            let (digits, unit) = match nanos {
                0..1_000 => (nanos.to_string(), "ns"),
                1_000..1_000_000 => (format!("{}.{:03}", nanos / 1_000, nanos % 1_000), "us"),
                1_000_000..1_000_000_000 => (format!("{:.3}", nanos as f64 / 1e6), "ms"),
                _ => (format!("{:.3}", nanos as f64 / 1e9), "s"),
            };
            let point = digits.contains('.');
            let said = if point { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
            format!("{said} {unit}")
        };
        let told = |nanos: u64| Prose::alone(" ", |prose| prose.nanos(nanos));
        let around = |middle: u64| middle.saturating_sub(2)..=middle.saturating_add(2);
        let powers =
            (0..64).flat_map(|power| around(1 << power)).chain((0..20).flat_map(|power| around(10_u64.pow(power))));
        let halves = (0..5_000_u64).flat_map(|number| {
            [around(1_000_000 + 500 * number), around(7_123_456_500 + 500_000 * 7_919 * number)].into_iter().flatten()
        });
        for nanos in (0..2_000).chain(powers).chain(halves).chain(around(u64::MAX)) {
            assert_eq!(told(nanos), quotient(nanos), "{nanos}");
        }
    }
}
