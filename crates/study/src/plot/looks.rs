//! What tells the lines of a figure apart.

use super::labels::numbers;
use sim::scenario::file::AccessMethod;

/// What tells the series of a figure apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Looks {
    /// The place of each in the legend: colour, dashes and the shape of points.
    #[default]
    Places,
    /// Shades from dark to light, by a rising number; names stand at the ends of lines.
    Shades,
    /// The number of the look that each has in every figure.
    Own(Vec<usize>),
}

/// Lines of numbers from this many on have shades.
const SHADES: usize = 4;

impl Looks {
    /// What tells the lines of `by` apart; numbers are put in order then.
    pub fn of(by: &str, groups: &mut [Option<&str>], are_lines: bool) -> Looks {
        let values: Vec<&str> = groups.iter().copied().flatten().collect();
        let methods: Option<Vec<usize>> = values.iter().map(|value| look_of_method(value)).collect();
        if let Some(methods) = methods.filter(|_| by == "access.method") {
            return Looks::Own(methods);
        }
        let own = numbers(by, &values).map(|(own, _)| own);
        let Some(own) = own.filter(|own| are_lines && own.len() >= SHADES) else { return Looks::Places };
        let mut rising: Vec<(f64, Option<&str>)> = own.into_iter().zip(groups.iter().copied()).collect();
        rising.sort_by(|one, other| one.0.total_cmp(&other.0));
        groups.iter_mut().zip(rising).for_each(|(group, (_, value))| *group = value);
        Looks::Shades
    }
}

/// The look of an access method in every figure.
fn look_of_method(name: &str) -> Option<usize> {
    AccessMethod::WORDS.iter().position(|word| *word == name)
}
