//! The places of numbers and names along an axis, and its ticks.

/// An axis: places along it are numbers from `low` to `high`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    is_log: bool,
    /// The place of its beginning.
    pub low: f64,
    /// The place of its end.
    pub high: f64,
    /// Places with their texts.
    pub ticks: Vec<(f64, String)>,
}

/// About how many ticks an axis of numbers has.
const TICKS: f64 = 6.0;
/// The least distance of ticks if each value has its own, as a part of the axis.
const LEAST_GAP: f64 = 0.06;
/// Room at both ends, as a part of the axis.
const ROOM: f64 = 0.04;

impl Axis {
    /// An axis for names: name `i` is at place `i`.
    pub fn names(names: &[String]) -> Axis {
        let ticks = names.iter().enumerate().map(|(place, name)| (place as f64, name.clone())).collect();
        Axis { is_log: false, low: -0.5, high: names.len() as f64 - 0.5, ticks }
    }

    /// An axis on which all of `values` have a place, with room at both ends. Few values have a tick each.
    ///
    /// # Errors
    /// A value that has no place on a logarithmic axis.
    pub fn along(values: &[f64], is_log: bool) -> Result<Axis, String> {
        let axis = Axis { is_log, low: 0.0, high: 0.0, ticks: Vec::new() };
        let (low, high) = axis.span(values)?;
        let room = if low < high { ROOM * (high - low) } else { if is_log { 0.3 } else { low.abs().max(1.0) / 2.0 } };
        let mut own = values.to_vec();
        own.sort_by(f64::total_cmp);
        own.dedup();
        let gaps = own.windows(2).map(|pair| axis.place(pair[1]) - axis.place(pair[0]));
        let each = gaps.fold(f64::INFINITY, f64::min) >= LEAST_GAP * (high - low);
        let (low, high) = (low - room, high + room);
        let ticks = if each { own } else { axis.ticks_between(low, high) };
        let texts = own_texts(&ticks, !is_log);
        let ticks = ticks.into_iter().map(|value| axis.place(value)).zip(texts).collect();
        Ok(Axis { low, high, ticks, ..axis })
    }

    /// An axis from `low` to `high`.
    ///
    /// # Errors
    /// An end that has no place on a logarithmic axis.
    pub fn between((low, high): (f64, f64), is_log: bool) -> Result<Axis, String> {
        let axis = Axis { is_log, low: 0.0, high: 0.0, ticks: Vec::new() };
        let (low, high) = axis.span(&[low, high])?;
        let ticks = axis.ticks_between(low, high);
        let texts = if is_log { own_texts(&ticks, false) } else { even_texts(&ticks) };
        let ticks = ticks.into_iter().map(|value| axis.place(value)).zip(texts).collect();
        Ok(Axis { low, high, ticks, ..axis })
    }

    /// An axis that ends at ticks, and begins at 0 unless all of `values` are far from it.
    ///
    /// # Errors
    /// A value that has no place on a logarithmic axis.
    pub fn up(values: &[f64], is_log: bool) -> Result<Axis, String> {
        let axis = Axis { is_log, low: 0.0, high: 0.0, ticks: Vec::new() };
        let (mut low, mut high) = axis.span(values)?;
        let mut step = 1.0;
        if is_log {
            let room = (ROOM * (high - low)).max(0.05);
            (low, high) = (low - room, high + room);
        } else {
            if low > 0.0 && low < 0.5 * high {
                low = 0.0;
            }
            if low == high {
                (low, high) = (low - low.abs().max(1.0) / 2.0, high + high.abs().max(1.0) / 2.0);
            }
            step = self::step(high - low);
            // What differs from a tick by rounding only is at it.
            let (down, up) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
            (low, high) = (down * step, up * step);
        }
        let ticks = if is_log { axis.ticks_between(low, high) } else { multiples(low, high, step) };
        let texts = if is_log { ticks.iter().map(|&tick| number(tick)).collect() } else { even_texts(&ticks) };
        let places = ticks.iter().map(|&tick| axis.place(tick));
        Ok(Axis { low, high, ticks: places.zip(texts).collect(), ..axis })
    }

    /// Places of the least and the greatest.
    fn span(&self, values: &[f64]) -> Result<(f64, f64), String> {
        if let Some(value) = values.iter().find(|&&value| self.is_log && value <= 0.0) {
            return Err(format!("{value} has no place on a logarithmic axis"));
        }
        let places = || values.iter().map(|&value| self.place(value));
        let (low, high) = (places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max));
        if low <= high {
            Ok((low, high))
        } else {
            Err("there is nothing to draw: no row has a number there".to_owned())
        }
    }

    /// Where `value` is. What has no place is at the beginning.
    pub fn place(&self, value: f64) -> f64 {
        match self.is_log {
            false => value,
            true if value > 0.0 => value.log10(),
            true => self.low,
        }
    }

    fn ticks_between(&self, low: f64, high: f64) -> Vec<f64> {
        if !self.is_log {
            return multiples(low, high, step(high - low));
        }
        let within = |value: &f64| (low - 1e-9..=high + 1e-9).contains(&value.log10());
        let decades = (low.floor() as i32)..=(high.ceil() as i32);
        let times = |factors: &[f64]| -> Vec<f64> {
            let ticks =
                decades.clone().flat_map(|decade| factors.iter().map(move |factor| factor * 10_f64.powi(decade)));
            ticks.filter(within).collect()
        };
        let fits = |ticks: &Vec<f64>| ticks.len() >= 4;
        let candidates =
            [times(&[1.0]), times(&[1.0, 2.0, 5.0]), times(&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])];
        candidates.iter().find(|ticks| fits(ticks)).unwrap_or(&candidates[2]).clone()
    }
}

/// The values from `low` to `high` at whole numbers of steps.
fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|number| number as f64 * step).collect()
}

/// A distance of ticks that people count in.
fn step(span: f64) -> f64 {
    let rough = span / TICKS;
    let scale = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * scale >= rough * 0.999);
    factor.unwrap_or(10.0) * scale
}

/// The text of each tick; with `aligned` all have the same number of decimals.
fn own_texts(ticks: &[f64], aligned: bool) -> Vec<String> {
    let texts: Vec<String> = ticks.iter().map(|&tick| number(tick)).collect();
    let decimals = |text: &String| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let most = texts.iter().map(decimals).max().unwrap_or(0);
    if !aligned || texts.iter().any(|text| text.contains([' ', 'e'])) {
        return texts;
    }
    ticks.iter().map(|tick| minus(&format!("{tick:.most$}"))).collect()
}

/// Ticks with one number of decimals, and thousands or millions if they are many.
fn even_texts(ticks: &[f64]) -> Vec<String> {
    let most = ticks.iter().fold(0.0_f64, |most, tick| most.max(tick.abs()));
    let (scale, letter) = scale(most);
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min) / scale;
    let decimals = (0..12).find(|&decimals| {
        let scaled = step * 10_f64.powi(decimals);
        (scaled - scaled.round()).abs() < 1e-6 * scaled && scaled > 0.5
    });
    let decimals = decimals.unwrap_or(0) as usize;
    let text = |tick: &f64| {
        let text = format!("{:.decimals$}", tick / scale);
        if text.trim_matches(['-', '0', '.']).is_empty() { "0".to_owned() } else { minus(&text) + letter }
    };
    ticks.iter().map(text).collect()
}

/// A number by itself, as short as can be.
fn number(value: f64) -> String {
    let (scale, letter) = scale(value.abs());
    // Twelve digits hide what arithmetic left behind.
    let rounded: f64 = format!("{:.11e}", value / scale).parse().unwrap_or(value / scale);
    minus(&rounded.to_string()) + letter
}

fn scale(most: f64) -> (f64, &'static str) {
    match most {
        most if most >= 1e9 => (1e9, " G"),
        most if most >= 1e6 => (1e6, " M"),
        most if most >= 1e4 => (1e3, " k"),
        _ => (1.0, ""),
    }
}

fn minus(text: &str) -> String {
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_numbers_that_people_count_in() {
        let up = |values: &[f64]| Axis::up(values, false).expect("an axis");
        assert_eq!(texts(&up(&[0.0, 1.0])), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(&up(&[0.93, 0.991])), ["0.92", "0.94", "0.96", "0.98", "1.00"]);
        assert_eq!(texts(&up(&[3.0, 47_000.0])), ["0", "10 k", "20 k", "30 k", "40 k", "50 k"]);
        assert_eq!(texts(&up(&[-2.0, 4.0])), ["\u{2212}2", "\u{2212}1", "0", "1", "2", "3", "4"]);
        assert_eq!(texts(&up(&[5.0])).first(), Some(&"2"));
    }

    #[test]
    fn few_values_have_a_tick_each() {
        let along = |values: &[f64], is_log| Axis::along(values, is_log).expect("an axis");
        assert_eq!(texts(&along(&[2.0, 8.0, 4.0, 1024.0], true)), ["2", "4", "8", "1024"]);
        assert_eq!(texts(&along(&[0.1, 0.2, 0.3], false)), ["0.1", "0.2", "0.3"]);
        assert_eq!(texts(&along(&[1.0, 100.0, 1_000_000.0], true)), ["1", "100", "1 M"]);
        assert_eq!(texts(&along(&[0.5, 1.0], false)), ["0.5", "1.0"]);
        assert_eq!(texts(&along(&[7.0], false)), ["7"]);
    }

    #[test]
    fn a_range_is_kept() {
        let axis = Axis::between((0.05, 0.5), false).expect("an axis");
        assert_eq!((axis.low, axis.high), (0.05, 0.5));
        assert_eq!(texts(&axis), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert!(Axis::between((0.0, 1.0), true).is_err());
    }

    #[test]
    fn a_logarithmic_axis_has_no_place_for_zero() {
        assert!(Axis::up(&[0.0, 1.0], true).expect_err("0").contains("0 has no place"));
        assert!(Axis::along(&[], false).expect_err("nothing").contains("nothing to draw"));
    }
}
