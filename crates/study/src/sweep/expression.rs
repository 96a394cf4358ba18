//! Arithmetic and conditions over the keys of a grid, for `--when` and `--derive`.
//!
//! ```text
//!   or:  and ("or" and)*        sum:      product (("+" | "-") product)*
//!   and: not ("and" not)*       product:  sign (("*" | "/" | "%") sign)*
//!   not: "not" not | compared   sign:     "-" sign | one
//!   compared: sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//!   one: number | 'text' | key | "(" or ")" | ("min" | "max") "(" or "," or ")" | ("round" | "floor" | "ceil" | "sqrt") "(" or ")"
//! ```

use std::fmt::{self, Display, Formatter};

/// What a part of an expression comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A number.
    Number(f64),
    /// A text, as the value of a key that is no number.
    Text(String),
    /// Whether a condition holds.
    Truth(bool),
}

impl Outcome {
    /// A key's value.
    pub fn of(text: &str) -> Outcome {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.map_or_else(|| Outcome::Text(text.to_owned()), Outcome::Number)
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            // Twelve digits: 0.1 + 0.2 is 0.3 here.
            Outcome::Number(number) => write!(f, "{}", format!("{number:.11e}").parse().unwrap_or(*number)),
            Outcome::Text(text) => f.write_str(text),
            Outcome::Truth(truth) => truth.fmt(f),
        }
    }
}

/// Parentheses and signs within each other, at most.
const DEEPEST: usize = 64;

/// What an expression comes to; `key` gives the value of a name.
///
/// # Errors
/// The text is no expression, a name is unknown, or the types of operands differ.
pub fn evaluate(text: &str, key: &dyn Fn(&str) -> Option<Outcome>) -> Result<Outcome, String> {
    let mut reader = Reader { text, rest: text, key, depth: 0 };
    let result = reader.or()?;
    match reader.rest.trim_start() {
        "" => Ok(result),
        rest => {
            Err(format!("`{rest}` in `{text}` is not understood: write it like `stations >= 4` or `0.8 / stations`"))
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    key: &'a dyn Fn(&str) -> Option<Outcome>,
    depth: usize,
}

impl Reader<'_> {
    /// Takes the first of `signs` that comes next.
    fn sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let rest = self.rest.trim_start();
        let sign = signs.iter().find(|sign| rest.starts_with(**sign))?;
        self.rest = &rest[sign.len()..];
        Some(sign)
    }

    /// Takes a word if it comes next, and no longer one.
    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        let after = rest.strip_prefix(word).filter(|after| !after.starts_with(is_name));
        after.map(|after| self.rest = after).is_some()
    }

    fn or(&mut self) -> Result<Outcome, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("`{}` has more than {DEEPEST} parentheses within each other", self.text));
        }
        let mut left = self.and()?;
        while self.word("or") {
            let right = self.and()?;
            left = Outcome::Truth(self.truth(&left)? | self.truth(&right)?);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Result<Outcome, String> {
        let mut left = self.not()?;
        while self.word("and") {
            let right = self.not()?;
            left = Outcome::Truth(self.truth(&left)? & self.truth(&right)?);
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Outcome, String> {
        let mut turns = 0_u32;
        while self.word("not") {
            turns += 1;
        }
        let compared = self.compared()?;
        if turns == 0 {
            return Ok(compared);
        }
        Ok(Outcome::Truth(self.truth(&compared)? != (turns % 2 == 1)))
    }

    fn compared(&mut self) -> Result<Outcome, String> {
        let left = self.sum()?;
        let Some(sign) = self.sign(&["<=", ">=", "==", "!=", "<", ">"]) else { return Ok(left) };
        let right = self.sum()?;
        let order = match (&left, &right) {
            (Outcome::Number(left), Outcome::Number(right)) => left.partial_cmp(right),
            (Outcome::Text(left), Outcome::Text(right)) => Some(left.cmp(right)),
            _ if sign == "!=" => return Ok(Outcome::Truth(true)),
            _ if sign == "==" => return Ok(Outcome::Truth(false)),
            _ => return Err(format!("`{left}` and `{right}` in `{}` have no order: compare numbers", self.text)),
        };
        Ok(Outcome::Truth(order.is_some_and(|order| match sign {
            "<" => order.is_lt(),
            "<=" => order.is_le(),
            ">" => order.is_gt(),
            ">=" => order.is_ge(),
            "==" => order.is_eq(),
            _ => order.is_ne(),
        })))
    }

    fn sum(&mut self) -> Result<Outcome, String> {
        let mut left = self.product()?;
        while let Some(sign) = self.sign(&["+", "-"]) {
            let (one, other) = (self.number(&left)?, self.product()?);
            let other = self.number(&other)?;
            left = Outcome::Number(if sign == "+" { one + other } else { one - other });
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Outcome, String> {
        let mut left = self.one()?;
        while let Some(sign) = self.sign(&["*", "/", "%"]) {
            let (one, other) = (self.number(&left)?, self.one()?);
            let other = self.number(&other)?;
            left = Outcome::Number(match sign {
                "*" => one * other,
                "/" => one / other,
                _ => one % other,
            });
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Outcome, String> {
        let mut is_negative = false;
        while self.sign(&["-"]).is_some() {
            is_negative = !is_negative;
        }
        let one = self.plain()?;
        Ok(if is_negative { Outcome::Number(-self.number(&one)?) } else { one })
    }

    fn plain(&mut self) -> Result<Outcome, String> {
        if self.sign(&["("]).is_some() {
            let inner = self.or()?;
            return self.closed(inner);
        }
        if let Some(quote) = self.sign(&["'", "\""]) {
            let (text, rest) =
                self.rest.split_once(quote).ok_or_else(|| format!("`{}` has quotes without end", self.text))?;
            self.rest = rest;
            return Ok(Outcome::Text(text.to_owned()));
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        self.rest = after;
        if name.is_empty() {
            let place = if rest.is_empty() { "its end" } else { rest };
            return Err(format!("`{}` lacks a number or a key at {place}", self.text));
        }
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            let number = name.parse().ok().filter(|number: &f64| number.is_finite());
            return number.map(Outcome::Number).ok_or_else(|| format!("`{name}` in `{}` is no number", self.text));
        }
        if matches!(name, "min" | "max" | "round" | "floor" | "ceil" | "sqrt") && self.sign(&["("]).is_some() {
            return self.function(name);
        }
        (self.key)(name)
            .ok_or_else(|| format!("`{name}` in `{}` is no key of this grid: give its values with --set", self.text))
    }

    fn function(&mut self, name: &str) -> Result<Outcome, String> {
        let first = self.or()?;
        let first = self.number(&first)?;
        let result = match name {
            "round" => first.round(),
            "floor" => first.floor(),
            "ceil" => first.ceil(),
            "sqrt" => first.sqrt(),
            of_two => {
                if self.sign(&[","]).is_none() {
                    return Err(format!("`{of_two}` in `{}` takes two numbers: write `{of_two}(a, b)`", self.text));
                }
                let second = self.or()?;
                let second = self.number(&second)?;
                if of_two == "min" { first.min(second) } else { first.max(second) }
            }
        };
        self.closed(Outcome::Number(result))
    }

    fn closed(&mut self, inner: Outcome) -> Result<Outcome, String> {
        self.sign(&[")"]).map(|_| inner).ok_or_else(|| format!("`{}` lacks a `)`", self.text))
    }

    fn number(&self, result: &Outcome) -> Result<f64, String> {
        match result {
            Outcome::Number(number) => Ok(*number),
            other => Err(format!("`{other}` in `{}` is no number", self.text)),
        }
    }

    fn truth(&self, result: &Outcome) -> Result<bool, String> {
        match result {
            Outcome::Truth(truth) => Ok(*truth),
            other => Err(format!("`{other}` in `{}` is no condition: write one like `stations >= 4`", self.text)),
        }
    }
}

/// Characters of keys and numbers.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

/// A text with expressions in braces, like `poisson:{0.8 / stations}`; without braces all of it is one.
///
/// # Errors
/// As [`evaluate`]; braces that do not match, a result that is no finite number.
pub fn filled(text: &str, key: &dyn Fn(&str) -> Option<Outcome>) -> Result<String, String> {
    let one = |text: &str| match evaluate(text, key)? {
        Outcome::Number(number) if !number.is_finite() => Err(format!("`{text}` comes to {number}, which is no value")),
        result => Ok(result.to_string()),
    };
    if !text.contains(['{', '}']) {
        return one(text);
    }
    let (mut made, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let (inner, after) = after.split_once('}').ok_or_else(|| format!("`{text}` has a `{{` without `}}`"))?;
        made += before;
        made += &one(inner)?;
        rest = after;
    }
    Ok(made + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<Outcome> {
        match name {
            "stations" => Some(Outcome::Number(4.0)),
            "medium.topology" => Some(Outcome::of("star:50bt")),
            _ => None,
        }
    }

    #[test]
    fn arithmetic_and_conditions_bind_as_in_python() {
        let gives = |text: &str, expected: &str| {
            assert_eq!(evaluate(text, &known).map(|it| it.to_string()), Ok(expected.to_owned()), "{text}");
        };
        gives("1 + 2 * 3 - -stations", "11");
        gives("0.8/stations", "0.2");
        gives("0.1 + 0.2", "0.3");
        gives("(1 + 2) * 3 % 4", "1");
        gives("min(stations, 3) + round(2.5)", "6");
        gives("stations >= 4 and not stations == 5", "true");
        gives("stations < 4 or medium.topology == 'star:50bt'", "true");
        gives("medium.topology != \"star:0bt\"", "true");
        assert_eq!(filled("poisson:{0.8/stations}", &known), Ok("poisson:0.2".to_owned()));
        assert_eq!(filled("stations * 2", &known), Ok("8".to_owned()));
    }

    #[test]
    fn what_is_no_expression_is_named() {
        let deep = "(".repeat(100);
        for (text, word) in [
            ("", "its end"),
            ("statoins > 3", "no key of this grid"),
            ("stations +", "its end"),
            ("(stations", "lacks a `)`"),
            ("stations 4", "not understood"),
            ("stations and 3", "no condition"),
            ("medium.topology * 2", "no number"),
            ("medium.topology < 2", "no order"),
            ("1.2.3", "no number"),
            ("min(1)", "two numbers"),
            ("'a", "without end"),
            (deep.as_str(), "within each other"),
        ] {
            let error = evaluate(text, &known).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
        assert!(filled("1 / (stations - 4)", &known).is_err_and(|error| error.contains("no value")));
        assert!(filled("a:{1", &known).is_err_and(|error| error.contains("without `}`")));
    }
}
