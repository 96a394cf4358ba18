//! The types of the fields of events, as traces have them.

use super::Cause;
use crate::time::{BitTimes, Octets};

/// A field of an event, as traces have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A count, a length or a span; the field defines the unit.
    Number(u64),
    /// A fact that is true or false.
    Truth(bool),
    /// One of a few names.
    Word(&'a str),
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// [`Value::Number`].
    Number,
    /// [`Value::Truth`].
    Truth,
    /// [`Value::Word`].
    Word,
}

/// A receiver of the fields of an event: a closure, or a type whose method is worth inlining.
pub trait Visitor {
    /// Takes one more field.
    fn field(&mut self, name: &'static str, value: Value<'static>);
}

impl<F: FnMut(&'static str, Value<'static>)> Visitor for F {
    #[inline]
    fn field(&mut self, name: &'static str, value: Value<'static>) {
        self(name, value);
    }
}

/// A type that a field can have.
pub(super) trait Field: Sized {
    const SHAPE: Shape;
    /// The unit of its numbers; empty for counts and for what is no number.
    const UNIT: &str = "";
    fn value(self) -> Value<'static>;
    /// `None` if `value` is of another type or out of range.
    fn of(value: Value<'_>) -> Option<Self>;
}

impl Field for u64 {
    const SHAPE: Shape = Shape::Number;

    #[inline]
    fn value(self) -> Value<'static> {
        Value::Number(self)
    }

    fn of(value: Value<'_>) -> Option<u64> {
        match value {
            Value::Number(number) => Some(number),
            Value::Truth(_) | Value::Word(_) => None,
        }
    }
}

impl Field for u32 {
    const SHAPE: Shape = Shape::Number;

    #[inline]
    fn value(self) -> Value<'static> {
        Value::Number(self.into())
    }

    fn of(value: Value<'_>) -> Option<u32> {
        u64::of(value)?.try_into().ok()
    }
}

impl Field for BitTimes {
    const SHAPE: Shape = Shape::Number;
    const UNIT: &str = "BT";

    #[inline]
    fn value(self) -> Value<'static> {
        Value::Number(self.get())
    }

    fn of(value: Value<'_>) -> Option<BitTimes> {
        u64::of(value).map(BitTimes::new)
    }
}

impl Field for Octets {
    const SHAPE: Shape = Shape::Number;
    const UNIT: &str = "octet";

    #[inline]
    fn value(self) -> Value<'static> {
        Value::Number(self.get().into())
    }

    fn of(value: Value<'_>) -> Option<Octets> {
        u32::of(value).map(Octets::new)
    }
}

impl Field for bool {
    const SHAPE: Shape = Shape::Truth;

    #[inline]
    fn value(self) -> Value<'static> {
        Value::Truth(self)
    }

    fn of(value: Value<'_>) -> Option<bool> {
        match value {
            Value::Truth(truth) => Some(truth),
            Value::Number(_) | Value::Word(_) => None,
        }
    }
}

impl Field for Cause {
    const SHAPE: Shape = Shape::Word;

    #[inline]
    fn value(self) -> Value<'static> {
        Value::Word(self.name())
    }

    fn of(value: Value<'_>) -> Option<Cause> {
        match value {
            Value::Word(word) => Cause::ALL.into_iter().find(|cause| cause.name() == word),
            Value::Number(_) | Value::Truth(_) => None,
        }
    }
}

impl From<u64> for Value<'static> {
    fn from(number: u64) -> Self {
        Value::Number(number)
    }
}

impl From<u32> for Value<'static> {
    fn from(number: u32) -> Self {
        Value::Number(number.into())
    }
}

impl From<bool> for Value<'static> {
    fn from(truth: bool) -> Self {
        Value::Truth(truth)
    }
}
