//! The laws of the eight kinds by structure, and the check of a policy that has nothing else.
//!
//! `backoff_retry_fail` links this and no row of `laws.rs`, so that a program with one policy stays small. Both files
//! give the same laws: `ffi-tests/golden/golden.c` compares them.

use core::hint::black_box;

use backoff_core::internals::{Around, Hint, Uniform, parts};
use backoff_core::{Generator, Jitter as CoreJitter};

use crate::Status;
use crate::laws::{BASE, COUNT, FLAGS, MOST_PERCENT, NONE, SLOT};
use crate::others::Jitter;
use crate::policy::{BACKOFF_FLAG_HINT_ABOVE_DRAW, BACKOFF_FLAG_IGNORE_UNUSED, Kind, Policy};

/// A kind of the straight path: it doubles or stays, and draws from a whole range. Masks and a shift describe it, so the
/// path has no branch.
#[derive(Clone, Copy)]
pub(crate) struct Straight {
    /// Whether the kind takes the straight path.
    pub(crate) open: bool,
    /// How often it doubles from failure to failure: 0 or 1.
    pub(crate) doublings: u8,
    /// All ones where the range begins at d, else 0. As an octet, so that a row is short: a load fills the word.
    pub(crate) from_d: i8,
    /// All ones where it begins at the half of d, else 0.
    pub(crate) from_half: i8,
}

impl Straight {
    pub(crate) const CLOSED: Straight = Straight { open: false, doublings: 0, from_d: 0, from_half: 0 };

    /// The law after a failure, from the base, the longest delay before jitter and the longest delay. The cap moves the range
    /// down: the first value falls as far as it can, and the width shrinks by the rest.
    #[inline(always)]
    pub(crate) fn law(self, failures: u64, base: u64, ceiling: u64, cap: u64) -> Uniform {
        let Straight { doublings, from_d, from_half, .. } = self;
        let steps = failures - 1;
        let doublings = if steps < 64 { steps * doublings as u64 } else { 64 * doublings as u64 };
        let grown = parts::shifted(base, doublings);
        let delay = if grown < ceiling { grown } else { ceiling };
        let first = (delay & i64::from(from_d) as u64) | ((delay / 2) & i64::from(from_half) as u64);
        let top = delay - first;
        let over = (first + top).saturating_sub(cap);
        Uniform { first: first.saturating_sub(over), step: 1, top: if top < cap { top } else { cap } }
    }
}

const FULL: u32 = Kind::FullJitter as u32;
const EQUAL: u32 = Kind::EqualJitter as u32;
const DECORRELATED: u32 = Kind::DecorrelatedJitter as u32;
const EXPONENTIAL: u32 = Kind::Exponential as u32;
const CONSTANT: u32 = Kind::Constant as u32;
const LINEAR: u32 = Kind::Linear as u32;
const FIBONACCI: u32 = Kind::Fibonacci as u32;
const SLOTS: u32 = Kind::SlotExponential as u32;

impl Policy {
    /// Whether it is one of the four kinds that double or stay, with nothing but a base, a ceiling, a cap and limits.
    #[inline(always)]
    fn is_straight(&self) -> bool {
        // By pairs of fields, each of which is one load; in boxes, and so not by way of vector registers, which interrupt
        // handlers may not touch.
        let pair = |one: u32, other: u32| u64::from(one) | u64::from(other) << 32;
        let growth = pair(self.multiplier_percent, self.priority_percent) | pair(self.jitter, self.jitter_amount);
        let counts = pair(self.slot_base, self.slot_limit) | pair(self.intervals_count, self.reserved);
        let later = pair(self.multiplier_millionths, self.flags);
        let others = black_box(growth | later) | black_box(counts);
        self.kind < LINEAR
            && self.kind != DECORRELATED
            && (others | self.increment_ns | self.slot_ns | u64::from(self.intervals[0])) == 0
    }

    /// A draw of a straight policy without a hint, and the generator behind it. `None`: it is not so plain, or this word would
    /// favour some delays.
    #[inline(always)]
    pub(crate) fn straight_draw(&self, before: u32, mut generator: Generator) -> Option<(u64, Generator)> {
        // A limit, a ceiling or a cap of 0, less 1, is above all others.
        if !self.is_straight() || self.attempt_limit.wrapping_sub(1) <= before.into() {
            return None;
        }
        let doublings = if self.kind == CONSTANT { 0 } else { before.into() };
        let grown = parts::shifted(self.structure_base(), doublings);
        let delay = (grown - 1).min(self.ceiling_ns.wrapping_sub(1)) + 1;
        let mut law = spread(self.kind, delay);
        if delay > self.cap_ns && self.cap_ns != 0 {
            law = law.capped(self.cap_ns);
        }
        let product = u128::from(generator.next_u64()) * u128::from(law.top.wrapping_add(1));
        let is_fair = product as u64 > law.top;
        is_fair.then_some((law.first + (product >> 64) as u64, generator))
    }

    /// Refuses a policy that `backoff_retry_fail` does not take.
    #[inline(always)]
    pub(crate) fn check_structure(&self) -> Result<(), Status> {
        let bad = (self.reserved | self.flags & !FLAGS) != 0
            || self.kind as usize >= COUNT
            || self.jitter as usize >= Jitter::COUNT
            || self.multiplier_percent > MOST_PERCENT;
        if bad {
            return Err(Status::ConfigValue);
        }
        let others = self.other_multiplier()
            | self.jitter
            | if self.priority_percent == 100 { 0 } else { self.priority_percent };
        let flags = self.flags & !(BACKOFF_FLAG_HINT_ABOVE_DRAW | BACKOFF_FLAG_IGNORE_UNUSED);
        if !is_structure(self.kind) || (others | flags) != 0 || (self.kind == SLOTS && self.slot_base > 2) {
            return Err(Status::NeedsAny);
        }
        let slotted = self.kind == SLOTS;
        let counts = if slotted { 0 } else { self.slot_base | self.slot_limit };
        let mut unused = u64::from(counts | self.intervals_count | self.intervals[0] | self.jitter_amount);
        unused |= if slotted { self.base_ns } else { self.slot_ns };
        unused |= if self.kind == LINEAR { 0 } else { self.increment_ns };
        if unused != 0 && self.flags & BACKOFF_FLAG_IGNORE_UNUSED == 0 { Err(Status::FieldUnused) } else { Ok(()) }
    }

    /// 0 where the kind doubles and the policy says so or says nothing.
    const fn other_multiplier(&self) -> u32 {
        match (self.kind, self.multiplier_percent, self.multiplier_millionths) {
            (FULL | EQUAL | EXPONENTIAL, 0 | 200, 0) | (FULL | EQUAL | EXPONENTIAL, 0, 2_000_000) => 0,
            (_, percent, millionths) => percent | millionths,
        }
    }

    /// What the first delay grows from.
    #[inline(always)]
    pub(crate) const fn structure_base(&self) -> u64 {
        if self.base_ns == 0 { BASE } else { self.base_ns }
    }

    /// What a server's hint does.
    #[inline(always)]
    pub(crate) const fn structure_hint(&self) -> Hint {
        let above_draw = self.flags & BACKOFF_FLAG_HINT_ABOVE_DRAW != 0;
        Hint { limit: if self.hint_limit_ns == 0 { NONE } else { self.hint_limit_ns }, above_draw }
    }

    /// The law after failure number `failures`, which is not 0 and not the last; the policy has been checked.
    #[inline(always)]
    pub(crate) fn by_structure(&self, failures: u64, previous: u64) -> Uniform {
        let ceiling = if self.ceiling_ns == 0 { NONE } else { self.ceiling_ns };
        let cap = if self.cap_ns == 0 { NONE } else { self.cap_ns };
        let around = Around { ceiling, cap, priority: 100 };
        let base = self.structure_base();
        let law = match self.kind {
            DECORRELATED => around.timed(0, CoreJitter::Decorrelated, base, previous),
            SLOTS => {
                let limit = if self.slot_limit == 0 { 10 } else { self.slot_limit };
                let slots = 1_u64.checked_shl(failures.min(limit.into()).min(64) as u32).unwrap_or(NONE);
                around.slotted(slots, if self.slot_ns == 0 { SLOT.into() } else { self.slot_ns }, true)
            }
            kind => {
                let increment = if self.increment_ns == 0 { base } else { self.increment_ns };
                let grown = match kind {
                    LINEAR => base.saturating_add(increment.saturating_mul(failures - 1)),
                    FIBONACCI => base.saturating_mul(fibonacci(failures)),
                    CONSTANT => base,
                    _ => parts::shifted(base, failures - 1),
                };
                spread(kind, grown.min(ceiling))
            }
        };
        law.capped(cap)
    }
}

/// From where to where a delay before jitter is drawn, of a kind that is not chained and counts no slots.
#[inline(always)]
fn spread(kind: u32, delay: u64) -> Uniform {
    let first = match kind {
        FULL => 0,
        EQUAL => delay / 2,
        _ => delay,
    };
    Uniform::between(first, delay)
}

/// Whether that is the number of one of the eight kinds.
#[inline(always)]
const fn is_structure(kind: u32) -> bool {
    const NUMBERS: u32 = {
        let (mut numbers, mut entry) = (0, 0);
        while entry < Kind::ALL.len() {
            numbers |= 1 << Kind::ALL[entry] as u32;
            entry += 1;
        }
        numbers
    };
    kind < u32::BITS && NUMBERS >> kind & 1 != 0
}

/// F(n): 1, 1, 2, 3, 5 and so on. Without the table of [`parts::fibonacci`], which is larger than all of this.
fn fibonacci(failures: u64) -> u64 {
    let (mut number, mut next) = (0_u64, 1_u64);
    for _ in 0..failures.min(94) {
        // In a box, so that the loop is not unrolled: small before fast.
        (number, next) = (black_box(next), number.saturating_add(next));
    }
    number
}
