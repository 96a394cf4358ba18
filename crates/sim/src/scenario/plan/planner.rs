//! What the parts of a plan share: the scenario with the place of each value, and the errors found so far.

use crate::scenario::file::{Scenario, SourceText};
use crate::settings::overrides::{Overrides, option_at};
use crate::settings::wrong::{FilePlace, PlanError, Wrong, Wrongs};
use std::cell::RefCell;
use std::ops::Range;
use toml::Spanned;

/// A scenario with the place of each value, so that an error can name it.
pub(super) struct Planner<'a> {
    /// What the file says, and the command line over it.
    pub(super) scenario: Scenario,
    pub(super) source: Option<&'a SourceText>,
    pub(super) overrides: &'a Overrides,
    /// Sections from which wrong values were taken out, so that nothing can be said about what depends on them.
    pub(super) broken: &'a [&'static str],
    /// All that was found to be wrong.
    pub(super) found: RefCell<Vec<Wrong>>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        scenario: &Scenario,
        source: Option<&'a SourceText>,
        overrides: &'a Overrides,
        broken: &'a [&'static str],
    ) -> Planner<'a> {
        Planner { scenario: overrides.over(scenario), source, overrides, broken, found: RefCell::default() }
    }

    /// The value; an error is kept for the end.
    pub(super) fn keep<T>(&self, part: Result<T, PlanError>) -> Option<T> {
        part.map_err(|PlanError(wrongs)| self.found.borrow_mut().extend(wrongs.into_vec())).ok()
    }

    /// Nothing, if something was taken out of one of these sections.
    pub(super) fn if_sound(&self, sections: &[&str]) -> Option<()> {
        (!self.broken.iter().any(|broken| sections.contains(broken))).then_some(())
    }

    /// All of them, or all that is wrong with any.
    pub(super) fn all<T>(parts: impl Iterator<Item = Result<T, PlanError>>) -> Result<Vec<T>, PlanError> {
        let (mut right, mut wrongs) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                Ok(part) => right.push(part),
                Err(PlanError(more)) => wrongs.extend(more.into_vec()),
            }
        }
        if wrongs.is_empty() { Ok(right) } else { Err(PlanError(Wrongs::new(wrongs))) }
    }

    /// The place in the file; none for an option.
    pub(super) fn place(&self, span: Option<Range<usize>>) -> Option<FilePlace> {
        Some(self.source?.place(span.filter(|span| option_at(span).is_none())?))
    }

    /// An error at `span` of the scenario, which may be an option's place, or else at the option or key `name`.
    pub(super) fn wrong(&self, name: &str, span: Option<Range<usize>>, what: String) -> PlanError {
        if let Some(option) = span.as_ref().and_then(option_at) {
            return PlanError::option(&format!("--{}", option.long), what);
        }
        Wrong { place: self.place(span), name: name.to_owned(), what }.into()
    }

    /// Where the section of station number `index` begins, if it has one.
    pub(super) fn section_at(&self, index: usize) -> Option<Range<usize>> {
        self.scenario.station.get(index).map(Spanned::span)
    }

    pub(super) fn at<T>(&self, key: &str, value: &Spanned<T>, what: String) -> PlanError {
        self.wrong(key, Some(value.span()), what)
    }
}
