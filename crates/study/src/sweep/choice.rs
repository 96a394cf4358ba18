//! Which combinations of a grid are run, where it is not all of them: conditions, keys that follow from others, keys that go
//! together, and a sample.

use super::expression::{Outcome, evaluate, filled};
use serde::{Deserialize, Serialize};

/// What the command line says of combinations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// Conditions, all of which hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<String>,
    /// `KEY=EXPRESSION`, each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derive: Vec<String>,
    /// Keys that go together, with commas between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pair: Vec<String>,
    /// `sobol:N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
}

/// The combinations that are run, where they are not all that the values of keys give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Why these.
    pub wish: Wish,
    /// The keys, those that follow from others last.
    pub keys: Vec<String>,
    /// Each combination's values.
    pub points: Vec<Vec<String>>,
}

/// The most combinations of a sample.
pub const MOST_SAMPLED: u32 = 10_000;

impl Wish {
    /// Whether the whole grid is run.
    pub fn is_empty(&self) -> bool {
        *self == Wish::default()
    }

    /// How many combinations a sample has, if there is one.
    ///
    /// # Errors
    /// The text is no sample.
    pub fn sampled(&self) -> Result<Option<u32>, (String, String)> {
        let Some(text) = &self.sample else { return Ok(None) };
        let number = text.strip_prefix("sobol:").and_then(|number| number.parse().ok());
        match number {
            Some(number @ 1..=MOST_SAMPLED) => Ok(Some(number)),
            _ => Err((
                format!("--sample {text}"),
                format!("write a number of combinations from 1 to {MOST_SAMPLED}, like `sobol:256`"),
            )),
        }
    }

    /// The options as they are typed.
    pub fn options(&self) -> Vec<(&'static str, &str)> {
        let when = self.when.iter().map(|text| ("--when", text.as_str()));
        let derive = self.derive.iter().map(|text| ("--derive", text.as_str()));
        let pair = self.pair.iter().map(|text| ("--pair", text.as_str()));
        when.chain(derive).chain(pair).chain(self.sample.iter().map(|text| ("--sample", text.as_str()))).collect()
    }

    /// The combinations of `axes`, each a key and its values, the last of which changes fastest. In a sample all keys go together.
    ///
    /// # Errors
    /// An option, and what is wrong with it.
    pub fn choose(&self, axes: &[(&str, Vec<&str>)]) -> Result<Choice, (String, String)> {
        let derived = self.derive.iter().map(|text| derived(text)).collect::<Result<Vec<_>, _>>()?;
        let pairs = self.pairs(axes)?;
        let is_key = |name: &str| name.contains('.') || name == "stations";
        self.check_used(&derived, is_key)?;
        let mut keys: Vec<String> = axes.iter().map(|(key, _)| (*key).to_owned()).collect();
        for (key, text) in derived.iter().filter(|(key, _)| is_key(key)) {
            if keys.iter().any(|known| known == key) {
                let what = format!("`{key}` has values already: leave one of them out");
                return Err((format!("--derive {key}={text}"), what));
            }
            keys.push((*key).to_owned());
        }
        let mut points = Vec::new();
        for places in Places::of(axes, self.sample.is_some()) {
            if pairs.iter().any(|pair| pair.windows(2).any(|two| places[two[0]] != places[two[1]])) {
                continue;
            }
            let own = |name: &str| {
                let axis = axes.iter().position(|(key, _)| *key == name)?;
                Some(axes[axis].1[places[axis]])
            };
            let mut made: Vec<(&str, String)> = Vec::new();
            for (key, text) in &derived {
                let value = filled(text, &|name| value(name, &made, &own));
                made.push((key, value.map_err(|what| (format!("--derive {key}={text}"), what))?));
            }
            let mut holds = true;
            for text in &self.when {
                let wrong = |what| (format!("--when {text}"), what);
                holds &= match evaluate(text, &|name| value(name, &made, &own)).map_err(wrong)? {
                    Outcome::Truth(truth) => truth,
                    other => {
                        return Err(wrong(format!(
                            "it comes to {other} and is no condition: write one like `stations >= 4`"
                        )));
                    }
                };
            }
            if holds {
                let given = axes.iter().zip(&places).map(|((_, values), place)| values[*place].to_owned());
                let made = made.into_iter().filter(|(key, _)| is_key(key)).map(|(_, value)| value);
                points.push(given.chain(made).collect());
            }
        }
        if points.is_empty() {
            return Err(("--when".to_owned(), "no combination is left: make the conditions wider".to_owned()));
        }
        Ok(Choice { wish: self.clone(), keys, points })
    }

    /// The axes of each `--pair`, all of them with as many values.
    fn pairs(&self, axes: &[(&str, Vec<&str>)]) -> Result<Vec<Vec<usize>>, (String, String)> {
        let one = |text: &String| {
            let wrong = |what| (format!("--pair {text}"), what);
            let place = |key: &str| {
                let axis = axes.iter().position(|(known, _)| *known == key.trim());
                axis.ok_or_else(|| wrong(format!("`{}` has no values: give them with --set", key.trim())))
            };
            let places = text.split(',').map(place).collect::<Result<Vec<_>, _>>()?;
            let count = |axis: &usize| axes[*axis].1.len();
            match places.iter().find(|axis| count(axis) != count(&places[0])) {
                _ if places.len() < 2 => Err(wrong("write two keys or more, like `stations,medium.rate`".to_owned())),
                Some(other) => {
                    let (one, another) = (axes[places[0]].0, axes[*other].0);
                    let (first, second) = (count(&places[0]), count(other));
                    Err(wrong(format!("`{one}` has {first} values and `{another}` has {second}: give both as many")))
                }
                None => Ok(places),
            }
        };
        self.pair.iter().map(one).collect()
    }

    /// A name that is no key is for other expressions; one that none of them has is a mistake.
    fn check_used(&self, derived: &[(&str, &str)], is_key: fn(&str) -> bool) -> Result<(), (String, String)> {
        for (key, text) in derived.iter().filter(|(key, _)| !is_key(key)) {
            let has = |text: &str| {
                text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).any(|word| word == *key)
            };
            if !derived.iter().any(|(_, other)| has(other)) && !self.when.iter().any(|other| has(other)) {
                let what = format!(
                    "`{key}` is no key, and neither --when nor another --derive has it: write a key like `traffic.arrivals`"
                );
                return Err((format!("--derive {key}={text}"), what));
            }
        }
        Ok(())
    }
}

/// The value of a name: the derived one, or else that of the grid.
fn value<'a>(name: &str, made: &[(&str, String)], own: &dyn Fn(&str) -> Option<&'a str>) -> Option<Outcome> {
    let made = made.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str());
    made.or_else(|| own(name)).map(Outcome::of)
}

/// `KEY = EXPRESSION`.
fn derived(text: &str) -> Result<(&str, &str), (String, String)> {
    let pair = text.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    pair.filter(|(key, value)| !key.is_empty() && !value.is_empty()).ok_or_else(|| {
        let what = "write it like `--derive 'traffic.arrivals=poisson:{0.8/stations}'`";
        (format!("--derive {text}"), what.to_owned())
    })
}

/// The places of values in each axis: every combination, or the first of each, the second of each and so on.
struct Places {
    counts: Vec<usize>,
    next: Option<Vec<usize>>,
    together: bool,
}

impl Places {
    fn of(axes: &[(&str, Vec<&str>)], together: bool) -> Places {
        let counts: Vec<usize> = axes.iter().map(|(_, values)| values.len()).collect();
        let next = counts.iter().all(|count| *count > 0).then(|| vec![0; counts.len()]);
        Places { counts, next, together }
    }
}

impl Iterator for Places {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let places = self.next.take()?;
        let mut next = places.clone();
        if self.together {
            next.iter_mut().for_each(|place| *place += 1);
            self.next = (next.first()? < self.counts.first()?).then_some(next);
            return Some(places);
        }
        for (place, count) in next.iter_mut().zip(&self.counts).rev() {
            *place += 1;
            if *place < *count {
                self.next = Some(next);
                break;
            }
            *place = 0;
        }
        Some(places)
    }
}

/// Number `index` of a Sobol sequence (scrambled after Owen) in dimension `axis`, from 0 to below 1.
pub fn sobol(index: u32, axis: usize) -> f64 {
    // The crate has 256 dimensions; further ones take another scrambling.
    f64::from(sobol_burley::sample(index, axis as u32 % 256, axis as u32 / 256))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(wish: &Wish) -> Result<Vec<String>, String> {
        let axes = [("stations", vec!["2", "4", "8"]), ("medium.rate", vec!["10M", "1M", "5M"])];
        let choice = wish.choose(&axes).map_err(|(option, what)| format!("{option}: {what}"))?;
        Ok(choice.points.iter().map(|point| point.join(" ")).collect())
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn conditions_pairs_and_derived_keys_choose_combinations() {
        let when = texts(&["stations >= 4", "medium.rate != '5M'"]);
        let wish = Wish {
            when,
            derive: texts(&["load = 0.8/stations", "traffic.arrivals=poisson:{load}"]),
            ..Wish::default()
        };
        let expected = ["4 10M poisson:0.2", "4 1M poisson:0.2", "8 10M poisson:0.1", "8 1M poisson:0.1"];
        assert_eq!(chosen(&wish).expect("combinations"), expected);
        let wish = Wish { pair: texts(&["stations,medium.rate"]), ..Wish::default() };
        assert_eq!(chosen(&wish).expect("combinations"), ["2 10M", "4 1M", "8 5M"]);
    }

    #[test]
    fn what_chooses_nothing_is_named() {
        let when = |text: &str| Wish { when: texts(&[text]), ..Wish::default() };
        let derive = |text: &str| Wish { derive: texts(&[text]), ..Wish::default() };
        for (wish, word) in [
            (when("stations > 8"), "--when: no combination is left"),
            (when("stations"), "--when stations: it comes to 2 and is no condition"),
            (when("load > 1"), "`load` in `load > 1` is no key of this grid"),
            (derive("traffic.arrivals"), "write it like"),
            (derive("load=0.8/stations"), "neither --when nor another --derive"),
            (derive("medium.rate='1M'"), "has values already"),
            (Wish { pair: texts(&["stations,traffic"]), ..Wish::default() }, "`traffic` has no values"),
            (Wish { pair: texts(&["stations"]), ..Wish::default() }, "two keys or more"),
        ] {
            assert!(chosen(&wish).is_err_and(|error| error.contains(word)), "{word}");
        }
        let sample = |text: &str| Wish { sample: Some(text.to_owned()), ..Wish::default() }.sampled();
        assert_eq!(sample("sobol:256"), Ok(Some(256)));
        assert!(["sobol", "sobol:0", "lhs:8", "sobol:99999"].iter().all(|text| sample(text).is_err()));
    }

    /// Of the first 2^k numbers each dimension has one in each of 2^k equal parts: what makes the sequence fill space.
    #[test]
    fn a_sample_fills_every_part_of_each_axis() {
        for axis in 0..5 {
            let mut parts: Vec<usize> = (0..64).map(|index| (sobol(index, axis) * 64.0) as usize).collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..64).collect::<Vec<_>>(), "axis {axis}");
        }
    }
}
