//! The law of each kind of policy: a row for each, in the order of their numbers; and the law that follows from a row and
//! the fields of a `struct backoff_policy` that are not 0.
//!
//! All in nanoseconds of 64 bits, without a copy of the policy: a decision takes a few operations. The laws themselves are
//! the core's. `ffi-tests/golden.rs` compares every kind with the core's policy of that name.
//!
//! One file above 500 lines because each kind has its law.

use core::hint::black_box;

use backoff_core::internals::{Around, Uniform, exponential_slots, geometric_within, parts};
use backoff_core::{Generator, Jitter as CoreJitter, Law as CoreLaw};

use crate::Status;
use crate::kinds::Straight;
use crate::others::{BACKOFF_FLAG_FIRST_AT_ONCE, BACKOFF_FLAG_FIRST_EXACT, Jitter, OtherKind};
use crate::policy::{BACKOFF_FLAG_HINT_ABOVE_DRAW, BACKOFF_FLAG_IGNORE_UNUSED, BACKOFF_INTERVALS, Kind, Policy};

/// No limit, no ceiling.
pub(crate) const NONE: u64 = u64::MAX;
const MS: u64 = 1_000_000;
/// The first delay before jitter, where the policy says none.
pub(crate) const BASE: u64 = 100 * MS;
/// slotTime at 10 Mb/s.
pub(crate) const SLOT: u32 = 51_200;
/// A multiplier of 2, in millionths.
const TWICE: u32 = 2_000_000;
/// One of 1.5.
const THREE_HALVES: u32 = 1_500_000;
/// The largest multiplier_percent whose millionths fit 32 bits.
pub(crate) const MOST_PERCENT: u32 = u32::MAX / 10_000;
/// The flags that make the first delay unlike the others, and all flags.
const FIRST: u32 = BACKOFF_FLAG_FIRST_AT_ONCE | BACKOFF_FLAG_FIRST_EXACT;
pub(crate) const FLAGS: u32 = FIRST | BACKOFF_FLAG_HINT_ABOVE_DRAW | BACKOFF_FLAG_IGNORE_UNUSED;

/// Jitters by number, for patterns.
const FULL: u32 = Jitter::Full as u32;
const BELOW: u32 = Jitter::Below as u32;
const EQUAL: u32 = Jitter::Equal as u32;
const PROPORTIONAL: u32 = Jitter::Proportional as u32;
const ADDED: u32 = Jitter::Added as u32;
const DECORRELATED: u32 = Jitter::Decorrelated as u32;
const UPPER_HALF: u32 = Jitter::UpperHalf as u32;
const INITIAL: u32 = Jitter::Initial as u32;
const DECORRELATED_CLAMPED: u32 = Jitter::DecorrelatedClamped as u32;
const DHCPV6: u32 = Jitter::Dhcpv6 as u32;
const DHCPV6_SOLICIT: u32 = Jitter::Dhcpv6Solicit as u32;
const POLLY: u32 = Jitter::Polly as u32;
const PROPORTIONAL_CLAMPED: u32 = Jitter::ProportionalClamped as u32;
const AROUND: u32 = Jitter::Around as u32;

/// How the delay before jitter follows from the number of failures.
#[derive(Clone, Copy)]
enum Growth {
    /// base * multiplier^(n-1).
    Exponential,
    /// The base.
    Constant,
    /// base + (n-1) * increment.
    Linear,
    /// base * F(n).
    Fibonacci,
    /// base * (ceiling/base)^((n-1)/intervals[0]), then the ceiling.
    Steps,
    /// slot_base^min(n, slot_limit) slots.
    Slots,
    /// intervals[n-1] slots.
    Table,
    /// The product of the first n intervals, in slots.
    Products,
    /// intervals[0] slots.
    Uniform,
    /// Geometric, as intervals[0] slots.
    Geometric,
}

/// What a kind is, where the policy says nothing else.
pub(crate) struct Row {
    growth: Growth,
    jitter: Jitter,
    straight: Straight,
}

impl Straight {
    /// Of a kind that grows and is spread so.
    const fn of(growth: Growth, jitter: Jitter) -> Straight {
        let doublings = match growth {
            Growth::Constant => 0,
            Growth::Exponential => 1,
            _ => return Straight::CLOSED,
        };
        let (from_d, from_half) = match jitter {
            Jitter::None => (-1, 0),
            Jitter::Full => (0, 0),
            Jitter::Equal => (0, -1),
            _ => return Straight::CLOSED,
        };
        Straight { open: true, doublings, from_d, from_half }
    }
}

impl Row {
    const fn of(growth: Growth, jitter: Jitter) -> Row {
        Row { growth, jitter, straight: Straight::of(growth, jitter) }
    }

    /// Whether the kind counts nanoseconds, and not slots.
    const fn is_timed(&self) -> bool {
        use Growth::{Constant, Exponential, Fibonacci, Linear, Steps};
        matches!(self.growth, Exponential | Constant | Linear | Fibonacci | Steps)
    }

    const fn of_kind(kind: Kind) -> Row {
        match kind {
            Kind::FullJitter => Row::of(Growth::Exponential, Jitter::Full),
            Kind::EqualJitter => Row::of(Growth::Exponential, Jitter::Equal),
            Kind::DecorrelatedJitter => Row::of(Growth::Exponential, Jitter::Decorrelated),
            Kind::Exponential => Row::of(Growth::Exponential, Jitter::None),
            Kind::Constant => Row::of(Growth::Constant, Jitter::None),
            Kind::Linear => Row::of(Growth::Linear, Jitter::None),
            Kind::Fibonacci => Row::of(Growth::Fibonacci, Jitter::None),
            Kind::SlotExponential => Row::of(Growth::Slots, Jitter::None),
        }
    }

    const fn of_other(kind: OtherKind) -> Row {
        match kind {
            OtherKind::Steps => Row::of(Growth::Steps, Jitter::None),
            OtherKind::Rcp => Row::of(Growth::Table, Jitter::None),
            OtherKind::RcpMultipliers => Row::of(Growth::Products, Jitter::None),
            OtherKind::AlohaUniform => Row::of(Growth::Uniform, Jitter::None),
            OtherKind::AlohaGeometric => Row::of(Growth::Geometric, Jitter::None),
        }
    }
}

/// How many kinds there are.
pub(crate) const COUNT: usize = Kind::ALL.len() + OtherKind::ALL.len();

/// The rows, by number.
static ROWS: [Row; COUNT] = {
    let mut rows = [const { Row::of_kind(Kind::Exponential) }; COUNT];
    let mut filled = [false; COUNT];
    let mut entry = 0;
    while entry < COUNT {
        let (number, row) = if entry < Kind::ALL.len() {
            (Kind::ALL[entry] as usize, Row::of_kind(Kind::ALL[entry]))
        } else {
            let other = OtherKind::ALL[entry - Kind::ALL.len()];
            (other as usize, Row::of_other(other))
        };
        assert!(!filled[number], "one number, one row");
        filled[number] = true;
        rows[number] = row;
        entry += 1;
    }
    rows
};

impl Policy {
    /// The row of its kind, if the policy has no mistake.
    #[inline(always)]
    pub(crate) fn row(&self) -> Result<&'static Row, Status> {
        let row = ROWS.get(self.kind as usize).ok_or(Status::ConfigValue)?;
        if (self.reserved | self.flags & !FLAGS) != 0 || self.jitter as usize >= Jitter::COUNT {
            return Err(Status::ConfigValue);
        }
        let exact_slots = self.flags & BACKOFF_FLAG_FIRST_EXACT != 0 && !row.is_timed();
        if exact_slots || self.multiplier_percent > MOST_PERCENT {
            return Err(Status::ConfigValue);
        }
        if matches!(row.growth, Growth::Table | Growth::Products)
            && !(1..=BACKOFF_INTERVALS).contains(&(self.intervals_count as usize))
        {
            return Err(Status::ConfigValue);
        }
        if self.has_unused(row) { Err(Status::FieldUnused) } else { Ok(row) }
    }

    /// Whether a field is set that the policy does not use, and that is not asked to be ignored.
    #[inline(never)]
    fn has_unused(&self, row: &Row) -> bool {
        use Growth::{Exponential, Geometric, Linear, Products, Slots, Steps, Table, Uniform};
        let (growth, timed) = (row.growth, row.is_timed());
        let jitter = self.jitter_or_own(row);
        let is_chained = self.is_chained(row) && jitter != PROPORTIONAL_CLAMPED;
        let without_growth = timed && (is_chained || self.is_decorrelated(row));
        let unless = |used: bool, field: u64| if used { 0 } else { field };
        let grows = timed && !without_growth && (matches!(growth, Exponential) || self.is_initial(row));
        // INITIAL multiplies what it drew.
        let without_growth = without_growth || timed && self.is_initial(row);
        let has_ceiling = !timed || (jitter != POLLY && !(without_growth && matches!(growth, Steps)));
        let with_amount =
            matches!(jitter, PROPORTIONAL | ADDED | INITIAL | DHCPV6 | DHCPV6_SOLICIT | PROPORTIONAL_CLAMPED | AROUND);
        let intervals = match growth {
            Table | Products => 0,
            Steps if without_growth => self.intervals_count | self.intervals[0],
            Uniform | Geometric | Steps => u32::from(self.intervals_count > 1),
            _ => self.intervals_count | self.intervals[0],
        };
        let unused = unless(timed, self.base_ns)
            | unless(matches!(growth, Linear) && !without_growth, self.increment_ns)
            | unless(!timed, self.slot_ns)
            | unless(has_ceiling, self.ceiling_ns)
            | unless(matches!(growth, Slots), u64::from(self.slot_base | self.slot_limit))
            | unless(grows, u64::from(self.multiplier_percent | self.multiplier_millionths))
            | unless(self.multiplier_millionths == 0, self.multiplier_percent.into())
            | unless(timed, self.jitter.into())
            | unless(timed && with_amount, self.jitter_amount.into())
            | u64::from(intervals);
        unused != 0 && self.flags & BACKOFF_FLAG_IGNORE_UNUSED == 0
    }

    /// Whether every field that is set is plainly one of the kind's own; else [`has_unused`](Self::has_unused) has to be asked.
    #[inline(always)]
    const fn has_own_alone(&self, row: &Row) -> bool {
        let never = self.increment_ns | (self.slot_base | self.slot_limit | self.jitter_amount) as u64;
        let intervals = self.intervals_count | self.intervals[0];
        let others = match row.growth {
            Growth::Table | Growth::Products => self.base_ns,
            Growth::Uniform | Growth::Geometric => self.base_ns | (self.intervals_count > 1) as u64,
            Growth::Slots => self.base_ns | intervals as u64,
            _ => self.slot_ns | intervals as u64,
        };
        (never | others) == 0
    }

    /// How long after the start a delay may end; `u64::MAX`: for ever.
    #[inline(always)]
    pub(crate) const fn elapsed_limit(&self) -> u64 {
        or_default(self.elapsed_limit_ns, NONE)
    }

    /// The failure that is the last; `u64::MAX`: none.
    #[inline(always)]
    pub(crate) const fn attempts(&self) -> u64 {
        or_default(self.attempt_limit, NONE)
    }

    /// Whether failure number `failures` is the last.
    #[inline(always)]
    const fn gives_up_after(&self, failures: u64) -> bool {
        failures >= self.attempts() && self.attempts() != NONE
    }

    /// The law of the delay after failure number `failures`, the delay before being `previous_ns`; 0: the base.
    /// It is lent to `take`, and not given, so that it is not copied by way of a vector register.
    #[inline(always)]
    pub(crate) fn law<T>(
        &self,
        failures: u64,
        previous_ns: u64,
        take: impl FnOnce(&CoreLaw) -> T,
    ) -> Result<T, Status> {
        match self.checked(failures) {
            Ok(None) => Ok(take(&CoreLaw::always(0))),
            Ok(Some(row)) => {
                let previous = if previous_ns == 0 { self.first_previous(row) } else { previous_ns };
                Ok(take(&self.any_law(row, failures, previous)))
            }
            Err(status) => Err(status),
        }
    }

    /// The row of its kind, if the policy has no mistake and the failure is not the last; `None` of no failure.
    #[inline(never)]
    fn checked(&self, failures: u64) -> Result<Option<&'static Row>, Status> {
        let row = self.row()?;
        if failures == 0 {
            return Ok(None);
        }
        if self.gives_up_after(failures) { Err(Status::AttemptLimit) } else { Ok(Some(row)) }
    }

    /// The law after a failure that is not the last.
    #[inline(never)]
    fn any_law(&self, row: &Row, failures: u64, previous: u64) -> CoreLaw {
        if matches!(row.growth, Growth::Geometric) && !self.comes_at_once(failures) {
            return self.geometric();
        }
        if self.is_chained(row) {
            return self.chained(row, failures, previous);
        }
        // In two boxes, so that it is not copied by way of a vector register, which interrupt handlers may not touch.
        let Uniform { first, step, top } = self.uniform(row, failures, previous);
        CoreLaw::uniform(Uniform { first: black_box(first), step, top: black_box(top) })
    }

    /// The value of `word` in that law.
    #[inline(always)]
    pub(crate) fn at(&self, failures: u64, previous_ns: u64, word: u64) -> Result<u64, Status> {
        // Of the short ways that without a branch alone: the library is small.
        if failures > 0
            && let Some(row) = self.plain_row(failures)
            && row.straight.open
        {
            return Ok(self.straight(row, failures).at_ns(word));
        }
        self.at_the_long_way(failures, previous_ns, word)
    }

    #[inline(never)]
    fn at_the_long_way(&self, failures: u64, previous_ns: u64, word: u64) -> Result<u64, Status> {
        self.law(failures, previous_ns, |law| law.lent_at_ns(word))
    }

    /// The smallest delay of the law, a delay drawn from it, and the value that the next failure takes as the previous
    /// delay. `None`: this failure is the last one. `failures` is not 0.
    #[inline(always)]
    pub(crate) fn draw(
        &self,
        row: &Row,
        failures: u64,
        previous: u64,
        generator: &mut Generator,
    ) -> Option<(u64, u64, u64)> {
        if self.gives_up_after(failures) {
            return None;
        }
        if matches!(row.growth, Growth::Geometric) && !self.comes_at_once(failures) {
            let start = generator.state();
            let drawn = self.geometric_at(generator.next_u64()).unwrap_or_else(|| {
                *generator = Generator::new(start);
                draw_from(&self.geometric(), generator).0
            });
            return Some((0, drawn, drawn));
        }
        let law = self.any_law(row, failures, previous);
        let (drawn, remembered) = draw_from(&law, generator);
        Some((law.shortest_ns(), drawn, remembered))
    }

    /// Whether there is no delay after that failure.
    #[inline]
    const fn comes_at_once(&self, failures: u64) -> bool {
        failures == 1 && self.flags & BACKOFF_FLAG_FIRST_AT_ONCE != 0
    }

    /// The delay where `drawn` comes from a range that begins at `shortest`, and the server asks for `hint`; 0: for
    /// nothing. The policy has been checked.
    #[inline(always)]
    pub(crate) fn hinted(&self, drawn: u64, shortest: u64, hint: u64) -> u64 {
        if hint == 0 { drawn } else { self.delay(drawn, shortest, hint) }
    }

    /// The same of a hint that is not 0.
    #[cold]
    #[inline(never)]
    fn delay(&self, drawn: u64, shortest: u64, hint: u64) -> u64 {
        self.structure_hint().delay(drawn, shortest, hint)
    }

    /// Whether the number of failures alone says what the law is, and that is uniform.
    pub(crate) fn follows_from_the_count(&self, row: &Row) -> bool {
        !matches!(row.growth, Growth::Geometric)
            && !(row.is_timed() && (self.is_initial(row) || self.is_decorrelated(row)))
            && !self.is_chained(row)
    }

    /// Base, ceiling and cap of decorrelated jitter, where nothing else is asked for.
    pub(crate) fn decorrelated(&self, row: &Row) -> Option<(u64, u64, u64)> {
        let plain = (self.flags & FIRST) == 0 && (self.priority_percent == 0 || self.priority_percent == 100);
        let around = self.around(row);
        let found = plain && row.is_timed() && self.is_decorrelated(row);
        if found { Some((self.structure_base(), around.ceiling, around.cap)) } else { None }
    }

    fn is_decorrelated(&self, row: &Row) -> bool {
        matches!(self.spread(row), CoreJitter::Decorrelated)
    }

    /// The law, which is uniform, after a failure that is not the last. Not inlined: what is in a hurry asks
    /// [`plain`](Self::plain) first.
    #[inline(never)]
    pub(crate) fn uniform(&self, row: &Row, failures: u64, previous: u64) -> Uniform {
        if (self.flags & FIRST) != 0 || self.is_initial(row) {
            return self.first_and_others(row, failures, previous);
        }
        self.long_way(row, failures, previous)
    }

    /// Whether a delay follows from the one before by a law that is not uniform.
    #[inline]
    fn is_chained(&self, row: &Row) -> bool {
        row.is_timed() && (DECORRELATED_CLAMPED..=PROPORTIONAL_CLAMPED).contains(&self.jitter_or_own(row))
    }

    /// That law, after a failure that is not the last.
    #[inline(never)]
    fn chained(&self, row: &Row, failures: u64, previous: u64) -> CoreLaw {
        if self.comes_at_once(failures) {
            return CoreLaw::always(0);
        }
        let (around, base) = (self.around(row), self.structure_base());
        let grown_failures = failures - u64::from(self.flags & BACKOFF_FLAG_FIRST_AT_ONCE != 0);
        let is_first = grown_failures == 1;
        if is_first && self.flags & BACKOFF_FLAG_FIRST_EXACT != 0 {
            return CoreLaw::always(base.min(around.cap));
        }
        let amount = |default| if self.jitter_amount == 0 { default } else { self.jitter_amount };
        match self.jitter_or_own(row) {
            // Polly's curve begins one unit later where the first retry came at once, as in its source.
            POLLY => around.polly(base, failures, previous),
            DECORRELATED_CLAMPED => {
                let previous = if is_first { base } else { previous };
                around.clamped(around.timed(0, CoreJitter::Decorrelated, base, previous))
            }
            PROPORTIONAL_CLAMPED => {
                let jitter = CoreJitter::Proportional { percent: amount(50) };
                around.clamped(around.timed(self.grown(row, grown_failures), jitter, base, previous))
            }
            jitter => around.dhcpv6(base, previous, amount(10), is_first.then_some(jitter == DHCPV6_SOLICIT)),
        }
    }

    /// What counts as the delay before the first one.
    #[inline(always)]
    pub(crate) fn first_previous(&self, row: &Row) -> u64 {
        if self.jitter_or_own(row) == POLLY { 0 } else { self.structure_base() }
    }

    /// The number of the jitter.
    #[inline(always)]
    fn jitter_or_own(&self, row: &Row) -> u32 {
        if self.jitter == Jitter::Own as u32 { row.jitter as u32 } else { self.jitter }
    }

    /// The same where the first delay is not like the others.
    #[cold]
    #[inline(never)]
    fn first_and_others(&self, row: &Row, failures: u64, previous: u64) -> Uniform {
        if self.comes_at_once(failures) {
            return Uniform::always(0);
        }
        let failures = failures - u64::from(self.flags & BACKOFF_FLAG_FIRST_AT_ONCE != 0);
        let exact = failures == 1 && self.flags & BACKOFF_FLAG_FIRST_EXACT != 0;
        let initial = self.is_initial(row);
        let timed = row.is_timed();
        if !timed || !(initial || exact) {
            return self.long_way(row, failures, previous);
        }
        let grown = if initial && failures > 1 {
            parts::scaled(previous, self.multiplier(), 2)
        } else {
            self.grown(row, failures)
        };
        let percent = if exact || failures > 1 {
            0
        } else if self.jitter_amount == 0 {
            50
        } else {
            self.jitter_amount
        };
        let law = self.around(row).timed(grown, CoreJitter::Above { percent }, self.structure_base(), previous);
        law.capped(or_default(self.cap_ns, NONE))
    }

    /// The row of its kind, if the policy asks for nothing but what [`plain`](Self::plain) knows, and its failure is not the
    /// last.
    #[inline(always)]
    pub(crate) fn plain_row(&self, failures: u64) -> Option<&'static Row> {
        let row = ROWS.get(self.kind as usize)?;
        let known = self.has_own_alone(row) || !self.has_unused(row);
        if self.is_plain() && self.reserved == 0 && failures < self.attempts() && known { Some(row) } else { None }
    }

    /// The law after a failure of a policy with its kind's own jitter, multiplier and priority; `None`: the long way knows.
    /// `previous` is the delay before; `None`: the base.
    ///
    /// Of each kind only the fields are read that are its own: that is what a call costs.
    #[inline(always)]
    pub(crate) fn plain(&self, row: &Row, failures: u64, previous: Option<u64>) -> Option<Uniform> {
        if row.straight.open {
            return Some(self.straight(row, failures));
        }
        let (ceiling, cap) = (or_default(self.ceiling_ns, NONE), or_default(self.cap_ns, NONE));
        let around = Around { ceiling, cap, priority: 100 };
        let (base, steps) = (self.structure_base(), failures - 1);
        let timed = |grown, jitter| around.timed(grown, jitter, base, previous.unwrap_or(base));
        let law = match (row.growth, row.jitter) {
            (Growth::Linear, _) => {
                let increment = or_default(self.increment_ns, base);
                timed(base.saturating_add(increment.saturating_mul(steps)), CoreJitter::None)
            }
            (Growth::Fibonacci, _) => timed(base.saturating_mul(parts::fibonacci(failures)), CoreJitter::None),
            (Growth::Exponential, Jitter::Decorrelated) => timed(0, CoreJitter::Decorrelated),
            _ => around.slotted(self.plain_slots(row, failures)?, self.slot(), false),
        };
        Some(law.capped(cap))
    }

    /// From how many slots is chosen after a failure; `None`: the kind counts none, or the long way knows.
    #[inline(always)]
    fn plain_slots(&self, row: &Row, failures: u64) -> Option<u64> {
        Some(match row.growth {
            Growth::Slots if self.slot_base <= 2 && self.slot_limit < 64 => {
                1 << failures.min(if self.slot_limit == 0 { 10 } else { self.slot_limit.into() })
            }
            Growth::Table => self.intervals.get(self.entry(failures)?).copied()?.max(1).into(),
            Growth::Products => self.product(self.entry(failures)?),
            Growth::Uniform if self.intervals[0] == 0 => 2,
            Growth::Uniform => self.intervals[0].into(),
            Growth::Exponential | Growth::Constant | Growth::Linear | Growth::Fibonacci => return None,
            Growth::Steps | Growth::Slots | Growth::Geometric => return None,
        })
    }

    /// Which of the intervals is that of a failure; `None` where their count does not fit.
    #[inline(always)]
    fn entry(&self, failures: u64) -> Option<usize> {
        let last = self.intervals_count.wrapping_sub(1);
        if last as usize >= BACKOFF_INTERVALS {
            return None;
        }
        Some(if failures - 1 < u64::from(last) { failures as usize - 1 } else { last as usize })
    }

    /// The product of the intervals up to that one; at least 1.
    #[inline(always)]
    fn product(&self, entry: usize) -> u64 {
        let factors = self.intervals.iter().take(entry + 1);
        factors.fold(1_u64, |product, &factor| product.saturating_mul(factor.into())).max(1)
    }

    /// Jitter, multiplier and priority are the kind's own.
    #[inline(always)]
    const fn is_plain(&self) -> bool {
        (self.multiplier_percent | self.multiplier_millionths | self.priority_percent | self.jitter | self.flags) == 0
    }

    /// The same for a kind that doubles, with its own jitter, multiplier and priority.
    #[inline(always)]
    pub(crate) fn straight(&self, row: &Row, failures: u64) -> Uniform {
        let (ceiling, cap) = (or_default(self.ceiling_ns, NONE), or_default(self.cap_ns, NONE));
        row.straight.law(failures, self.structure_base(), ceiling, cap)
    }

    /// The same for every policy.
    fn long_way(&self, row: &Row, failures: u64, previous: u64) -> Uniform {
        let uniform = match row.growth {
            Growth::Exponential | Growth::Constant | Growth::Linear | Growth::Fibonacci | Growth::Steps => {
                let grown = self.grown(row, failures);
                self.around(row).timed(grown, self.spread(row), self.structure_base(), previous)
            }
            _ => self.slotted(row, &self.around(row), failures),
        };
        uniform.capped(or_default(self.cap_ns, NONE))
    }

    /// What is done to every growth.
    #[inline(always)]
    fn around(&self, row: &Row) -> Around {
        // Steps end at the ceiling by themselves, and know none below the base.
        let steps = matches!(row.growth, Growth::Steps);
        Around {
            ceiling: if steps { NONE } else { or_default(self.ceiling_ns, NONE) },
            cap: or_default(self.cap_ns, NONE),
            priority: if self.priority_percent == 0 { 100 } else { self.priority_percent },
        }
    }

    /// The geometric draw of one word; `None` where the law has to be asked.
    #[inline]
    fn geometric_at(&self, word: u64) -> Option<u64> {
        let (slots, slot, limit) = self.plainly_geometric()?;
        geometric_within(slots, slot, limit, word)
    }

    /// How many slots the geometric law has on average, a slot, and the longest delay; `None`: some other law.
    #[inline]
    pub(crate) fn plainly_geometric(&self) -> Option<(u32, u64, u64)> {
        let slots = if self.intervals[0] == 0 { 2 } else { self.intervals[0] };
        let (ceiling, cap) = (or_default(self.ceiling_ns, NONE), or_default(self.cap_ns, NONE));
        let (slot, limit) = (self.slot(), if ceiling < cap { ceiling } else { cap });
        // A cap below a slot makes another law of it.
        let plain = self.priority_percent == 0 && slots > 1 && cap >= slot;
        if plain { Some((slots, slot, limit)) } else { None }
    }

    /// The same, of a policy all of whose delays come from that law.
    pub(crate) fn always_geometric(&self, row: &Row) -> Option<(u32, u64, u64)> {
        let always = matches!(row.growth, Growth::Geometric) && !self.comes_at_once(1);
        if always { self.plainly_geometric() } else { None }
    }

    /// The geometric law.
    #[inline(never)]
    fn geometric(&self) -> CoreLaw {
        let slots = if self.intervals[0] == 0 { 2 } else { self.intervals[0] };
        let around = self.around(&ROWS[Kind::Exponential as usize]);
        around.geometric(slots, self.slot()).capped(around.cap)
    }

    /// The delay before ceiling, priority and jitter.
    #[inline(never)]
    fn grown(&self, row: &Row, failures: u64) -> u64 {
        let (base, steps) = (self.structure_base(), failures.wrapping_sub(1));
        let multiplier = self.multiplier();
        match row.growth {
            Growth::Exponential if multiplier == TWICE => parts::shifted(base, steps),
            Growth::Exponential if multiplier == THREE_HALVES => parts::three_halves(base, failures),
            Growth::Exponential if multiplier == 2 * TWICE => parts::shifted(base, steps.saturating_mul(2)),
            Growth::Exponential => parts::scaled(base, multiplier, failures),
            Growth::Linear => base.saturating_add(or_default(self.increment_ns, base).saturating_mul(steps)),
            Growth::Fibonacci => base.saturating_mul(parts::fibonacci(failures)),
            Growth::Steps => parts::stepped(base, or_default(self.ceiling_ns, NONE), self.intervals[0], failures),
            _ => base,
        }
    }

    /// The law of a kind that counts slots.
    #[inline(always)]
    fn slotted(&self, row: &Row, around: &Around, failures: u64) -> Uniform {
        let slot = self.slot();
        let last = (self.intervals_count as usize).wrapping_sub(1) & (BACKOFF_INTERVALS - 1);
        let first = if self.intervals[0] == 0 { 2 } else { self.intervals[0] };
        let entry = if failures - 1 < last as u64 { failures as usize - 1 } else { last };
        let slots = match row.growth {
            Growth::Slots => {
                let base = if self.slot_base < 2 { 2 } else { self.slot_base };
                exponential_slots(base, if self.slot_limit == 0 { 10 } else { self.slot_limit }, failures)
            }
            Growth::Table => self.intervals[entry & (BACKOFF_INTERVALS - 1)].max(1).into(),
            Growth::Products => self.product(entry),
            _ => first.into(),
        };
        around.slotted(slots, slot, matches!(row.growth, Growth::Slots))
    }

    /// The jitter, that of the kind where none is asked for.
    #[inline(always)]
    fn spread(&self, row: &Row) -> CoreJitter {
        let jitter = self.jitter_or_own(row);
        let amount = |default| if self.jitter_amount == 0 { default } else { self.jitter_amount };
        match jitter {
            FULL => CoreJitter::Full,
            BELOW => CoreJitter::Below,
            EQUAL => CoreJitter::Equal,
            PROPORTIONAL => CoreJitter::Proportional { percent: amount(50) },
            ADDED => CoreJitter::AddedMillis { most: amount(1000) },
            AROUND => CoreJitter::AroundMillis { most: amount(1000) },
            DECORRELATED => CoreJitter::Decorrelated,
            UPPER_HALF => CoreJitter::UpperHalf,
            _ => CoreJitter::None,
        }
    }

    /// The multiplier, in millionths.
    #[inline(never)]
    const fn multiplier(&self) -> u32 {
        if self.multiplier_millionths != 0 {
            self.multiplier_millionths
        } else if self.multiplier_percent != 0 {
            self.multiplier_percent.saturating_mul(10_000)
        } else {
            TWICE
        }
    }

    /// A slot.
    #[inline(always)]
    const fn slot(&self) -> u64 {
        or_default(self.slot_ns, SLOT as u64)
    }

    /// Whether only the first delay is drawn.
    #[inline(always)]
    fn is_initial(&self, row: &Row) -> bool {
        self.jitter_or_own(row) == Jitter::Initial as u32
    }
}

/// A delay of any law, and the value that the next failure takes as the previous delay.
#[inline(never)]
pub(crate) fn draw_from(law: &CoreLaw, generator: &mut Generator) -> (u64, u64) {
    law.draw_and_remember_ns(generator)
}

/// A field that is 0 means its default.
#[inline(always)]
const fn or_default(field: u64, default: u64) -> u64 {
    if field == 0 { default } else { field }
}
