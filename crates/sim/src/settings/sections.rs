//! The sections of a scenario as types that serde reads, from the table of settings.
//!
//! Whether a value makes sense by itself is for `keys` to say; whether values fit together is for the plan.

use super::values::{
    AccessMethod, ArrivalsText, BackoffText, BitTimesText, CaptureText, ControlText, DurationText, FaultText,
    HostDelayText, InstantText, LengthText, MacText, MachineText, Network, OctetsNumber, OwnAddress, PersistenceText,
    PhyText, PlaceText, PopulationChoice, PortKind, PpmText, RateText, RetryLimitsText, RunTimeText, SizesText,
    SpeedText, SpiClockText, TopologyText, UntilText, WindowText,
};
use crate::words::choices::{FanOutChoice, FilterChoice, LatencyChoice, LinkChoice, OnOverload};
use medium::Parameters;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;
use toml::Spanned;

/// A value with its place, if the scenario gives one.
pub type Given<T> = Option<Spanned<T>>;

/// The value, if there is one.
pub fn value<T: Clone>(given: &Given<T>) -> Option<T> {
    given.as_ref().map(|value| value.get_ref().clone())
}

/// Where the value is, if there is one.
pub fn span<T>(given: &Given<T>) -> Option<Range<usize>> {
    given.as_ref().map(Spanned::span)
}

/// What any entry of a section can be asked.
trait Entry: Clone {
    /// Where its value is, if it has one.
    fn place(&self) -> Option<Range<usize>>;
    /// Takes the value of `other` in place of its own, if that has one; `at` is where that value is then, if elsewhere.
    fn overrule(&mut self, other: &Self, at: Option<&Range<usize>>);
}

impl<T: Clone> Entry for Given<T> {
    fn place(&self) -> Option<Range<usize>> {
        span(self)
    }

    fn overrule(&mut self, other: &Self, at: Option<&Range<usize>>) {
        if let Some(value) = other {
            let at = at.cloned().unwrap_or_else(|| value.span());
            *self = Some(Spanned::new(at, value.get_ref().clone()));
        }
    }
}

impl<T: Clone> Entry for Vec<Spanned<T>> {
    fn place(&self) -> Option<Range<usize>> {
        self.first().map(Spanned::span)
    }

    fn overrule(&mut self, other: &Self, _: Option<&Range<usize>>) {
        if !other.is_empty() {
            self.clone_from(other);
        }
    }
}

/// The buses of a file. No option makes one.
impl Entry for BTreeMap<String, Spanned<Scenario>> {
    fn place(&self) -> Option<Range<usize>> {
        self.values().next().map(Spanned::span)
    }

    fn overrule(&mut self, _: &Self, _: Option<&Range<usize>>) {}
}

macro_rules! sections {
    ($(
        #[doc = $title:literal]
        $section:ident $table:ident {$(
            $(#[doc = $about:literal])+
            $field:ident $(= $name:literal)?: $type:ty, $takes:expr, $right:literal
                $(, default $default:literal)?
                $(, of $of:expr)?
                $(, sets $sets:ident)?
                $(, option $option:expr)?;
        )*}
    )*) => {$(
        #[doc = $title]
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $section {$(
            $(#[doc = $about])+
            $(#[serde(rename = $name)])?
            pub $field: $type,
        )*}

        impl $section {
            /// Where the value of the key `field` is, by its name in the table of settings.
            pub fn place_of(&self, field: &str) -> Option<Range<usize>> {
                match field {
                    $(stringify!($field) => self.$field.place(),)*
                    _ => None,
                }
            }

            /// Puts what the section gives into the parameters of 802.3.
            #[allow(unused_variables, reason = "most sections have none of them")]
            pub fn set(&self, parameters: &mut Parameters) {
                $($(if let Some(given) = &self.$field {
                    parameters.$sets = (*given.get_ref()).into();
                })?)*
            }
        }

        impl Entry for $section {
            fn place(&self) -> Option<Range<usize>> {
                None
            }

            fn overrule(&mut self, other: &Self, at: Option<&Range<usize>>) {
                $(self.$field.overrule(&other.$field, at);)*
            }
        }
    )*};
}
super::table::settings!(sections);

impl Scenario {
    /// Values of `other` replace those here. `at` is the place that errors name for them, if it is another.
    pub fn take_over(&mut self, other: &Scenario, at: Option<&Range<usize>>) {
        self.overrule(other, at);
    }
}
