//! What each kind of policy is made of: a row for each, in the order of their numbers; and the law that follows from a row
//! and the fields of a `struct backoff_policy` that are not 0.
//!
//! All in nanoseconds of 64 bits, without a copy of the policy: a decision takes a few operations. The laws themselves are
//! the core's. `ffi-tests/golden.rs` compares every row with the core's policy of that name.
//!
//! One file above 500 lines because each kind has its row.

use core::hint::black_box;

use backoff_core::internals::{Around, Hint, Uniform, exponential_slots, geometric_within, parts};
use backoff_core::{Generator, Jitter as CoreJitter, Law as CoreLaw};

use crate::Status;
use crate::kinds::Straight;
use crate::named::{BACKOFF_FLAG_FIRST_AT_ONCE, BACKOFF_FLAG_FIRST_EXACT, Jitter, Named};
use crate::policy::{BACKOFF_FLAG_HINT_ABOVE_DRAW, BACKOFF_FLAG_IGNORE_UNUSED, BACKOFF_INTERVALS, Kind, Policy};

/// No limit, no ceiling.
pub(crate) const NONE: u64 = u64::MAX;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
/// The first delay before jitter, where neither the policy nor the kind says one.
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
const DHCPV6: u32 = Jitter::Dhcpv6 as u32;
const POLLY: u32 = Jitter::Polly as u32;
const DHCPV6_SOLICIT: u32 = Jitter::Dhcpv6Solicit as u32;

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
    /// 2^min(n, 10) slots.
    Ieee,
    /// slot_base^min(n, slot_limit) slots.
    Slots,
    /// intervals[n-1] slots.
    Table,
    /// The product of the first n intervals, in slots.
    Products,
    /// 8, 16, 32, 32 ... slots.
    Ieee802154,
    /// intervals[0] slots.
    Uniform,
    /// Geometric, as intervals[0] slots.
    Geometric,
}

/// The defaults of a kind. Its fields are as narrow as they may be, and widened by the load: there are many rows.
pub(crate) struct Preset {
    growth: Growth,
    /// The kind's own, and its amount.
    jitter: Jitter,
    amount: u16,
    base: u64,
    /// In millionths.
    multiplier: u32,
    ceiling: u64,
    /// -1: none.
    attempt_limit: i8,
    elapsed_limit: u64,
    /// The elapsed limit in units of the base, where it is not 0.
    elapsed_bases: u8,
    flags: u8,
    /// How far above the drawn delay a hint may lead, in seconds; 0: a hint moves the range up.
    hint_above: u8,
    slot: u32,
    straight: Straight,
}

impl Straight {
    /// As the row says.
    const fn of(preset: &Preset) -> Straight {
        if preset.flags != 0 {
            return Straight::CLOSED;
        }
        let doublings = match preset.growth {
            Growth::Constant => 0,
            Growth::Exponential if preset.multiplier == TWICE => 1,
            Growth::Exponential if preset.multiplier == 2 * TWICE => 2,
            _ => return Straight::CLOSED,
        };
        let (from_d, from_half, below) = match preset.jitter {
            Jitter::None => (-1, 0, 0),
            Jitter::Full => (0, 0, 0),
            Jitter::Below => (0, 0, 1),
            Jitter::Equal => (0, -1, 0),
            _ => return Straight::CLOSED,
        };
        Straight { open: true, doublings, from_d, from_half, below }
    }
}

impl Preset {
    /// Exponential from 100 ms on without jitter, doubling, without any end.
    const PLAIN: Preset = Preset {
        growth: Growth::Exponential,
        jitter: Jitter::None,
        amount: 0,
        base: BASE,
        multiplier: TWICE,
        ceiling: NONE,
        attempt_limit: -1,
        elapsed_limit: NONE,
        elapsed_bases: 0,
        flags: 0,
        hint_above: 0,
        slot: SLOT,
        straight: Straight::CLOSED,
    };

    /// Full jitter from `base` milliseconds on, at most 20 s; attempt number `attempts` is the last.
    const fn aws(base: u64, attempts: i8) -> Preset {
        let ceiling = 20 * SECOND;
        Preset { jitter: Jitter::Full, base: base * MS, ceiling, attempt_limit: attempts, ..Preset::PLAIN }
    }

    /// The failure that is the last; `u64::MAX`: none.
    #[inline(always)]
    const fn attempts(&self) -> u64 {
        self.attempt_limit as i64 as u64
    }

    /// Whether the kind counts nanoseconds, and not slots.
    const fn is_timed(&self) -> bool {
        use Growth::{Constant, Exponential, Fibonacci, Linear, Steps};
        matches!(self.growth, Exponential | Constant | Linear | Fibonacci | Steps)
    }

    const fn of_kind(kind: Kind) -> Preset {
        const PLAIN: Preset = Preset::PLAIN;
        match kind {
            Kind::FullJitter => Preset { jitter: Jitter::Full, ..PLAIN },
            Kind::EqualJitter => Preset { jitter: Jitter::Equal, ..PLAIN },
            Kind::DecorrelatedJitter => Preset { jitter: Jitter::Decorrelated, ..PLAIN },
            Kind::Exponential => PLAIN,
            Kind::Constant => Preset { growth: Growth::Constant, ..PLAIN },
            Kind::Linear => Preset { growth: Growth::Linear, ..PLAIN },
            Kind::Fibonacci => Preset { growth: Growth::Fibonacci, ..PLAIN },
            Kind::SlotExponential => Preset { growth: Growth::Slots, ..PLAIN },
        }
    }

    const fn of_named(named: Named) -> Preset {
        const PLAIN: Preset = Preset::PLAIN;
        match named {
            Named::Polling => PLAIN,
            Named::Systemd => Preset { growth: Growth::Steps, ..PLAIN },
            Named::Ieee8023 => Preset { growth: Growth::Ieee, attempt_limit: 16, ..PLAIN },
            Named::Rcp => Preset { growth: Growth::Table, ..PLAIN },
            Named::RcpMultipliers => Preset { growth: Growth::Products, ..PLAIN },
            Named::AlohaUniform => Preset { growth: Growth::Uniform, ..PLAIN },
            Named::AlohaGeometric => Preset { growth: Growth::Geometric, ..PLAIN },
            Named::SipTimerE => Preset { base: 500 * MS, ceiling: 4 * SECOND, elapsed_bases: 64, ..PLAIN },
            Named::SipTimerA => Preset { base: 500 * MS, elapsed_bases: 64, ..PLAIN },
            Named::GoogleHttp => Preset {
                jitter: Jitter::Proportional,
                amount: 50,
                base: 500 * MS,
                multiplier: THREE_HALVES,
                ceiling: 60 * SECOND,
                elapsed_limit: 900 * SECOND,
                ..PLAIN
            },
            Named::GoogleDrive => {
                Preset { jitter: Jitter::Added, amount: 1000, base: SECOND, attempt_limit: 6, ..PLAIN }
            }
            Named::Grpc => Preset {
                jitter: Jitter::Proportional,
                amount: 20,
                base: SECOND,
                multiplier: 1_600_000,
                ceiling: 120 * SECOND,
                flags: BACKOFF_FLAG_FIRST_EXACT as u8,
                ..PLAIN
            },
            Named::AwsStandard => Preset { hint_above: 5, ..Preset::aws(50, 3) },
            Named::AwsThrottling => Preset { hint_above: 5, ..Preset::aws(1000, 3) },
            Named::AwsDynamodb => Preset { hint_above: 5, ..Preset::aws(25, 4) },
            Named::AwsStandardBefore => Preset::aws(1000, 3),
            Named::KubernetesQueue => Preset { base: 5 * MS, ceiling: 1000 * SECOND, ..PLAIN },
            Named::KubernetesCrashLoop => Preset { base: 10 * SECOND, ceiling: 300 * SECOND, ..PLAIN },
            Named::TcpRto => Preset { base: SECOND, ceiling: 60 * SECOND, ..PLAIN },
            Named::Trickle => Preset { jitter: Jitter::UpperHalf, base: 8 * MS, ceiling: (8 * MS) << 20, ..PLAIN },
            Named::Ieee802154 => Preset { growth: Growth::Ieee802154, slot: 320_000, attempt_limit: 6, ..PLAIN },
            Named::Coap => Preset { jitter: Jitter::Initial, amount: 50, base: 2 * SECOND, attempt_limit: 6, ..PLAIN },
            Named::Dhcpv6Solicit => {
                Preset { jitter: Jitter::Dhcpv6Solicit, base: SECOND, ceiling: 3600 * SECOND, ..PLAIN }
            }
            Named::Dhcpv6 => Preset { jitter: Jitter::Dhcpv6, base: SECOND, ..PLAIN },
            Named::Polly => Preset { jitter: Jitter::Polly, ..PLAIN },
            Named::AmazonSimpledb => Preset { jitter: Jitter::Below, base: 400 * MS, multiplier: 2 * TWICE, ..PLAIN },
        }
    }
}

/// How many kinds and named policies there are.
pub(crate) const COUNT: usize = Kind::ALL.len() + Named::ALL.len();

/// The rows, by number.
static PRESETS: [Preset; COUNT] = {
    let mut presets = [Preset::PLAIN; COUNT];
    let mut filled = [false; COUNT];
    let mut entry = 0;
    while entry < COUNT {
        let (number, preset) = if entry < Kind::ALL.len() {
            (Kind::ALL[entry] as usize, Preset::of_kind(Kind::ALL[entry]))
        } else {
            let named = Named::ALL[entry - Kind::ALL.len()];
            (named as usize, Preset::of_named(named))
        };
        assert!(!filled[number], "one number, one row");
        filled[number] = true;
        presets[number] = preset;
        presets[number].straight = Straight::of(&presets[number]);
        entry += 1;
    }
    presets
};

impl Policy {
    /// The row of its kind, if the policy has no mistake.
    #[inline(always)]
    pub(crate) fn preset(&self) -> Result<&'static Preset, Status> {
        let preset = PRESETS.get(self.kind as usize).ok_or(Status::ConfigValue)?;
        if (self.reserved | self.flags & !FLAGS) != 0 || self.jitter as usize >= Jitter::COUNT {
            return Err(Status::ConfigValue);
        }
        let exact_slots = self.flags & BACKOFF_FLAG_FIRST_EXACT != 0 && !preset.is_timed();
        if exact_slots || self.multiplier_percent > MOST_PERCENT {
            return Err(Status::ConfigValue);
        }
        if matches!(preset.growth, Growth::Table | Growth::Products)
            && !(1..=BACKOFF_INTERVALS).contains(&(self.intervals_count as usize))
        {
            return Err(Status::ConfigValue);
        }
        if self.has_unused(preset) { Err(Status::FieldUnused) } else { Ok(preset) }
    }

    /// Whether a field is set that the policy does not use, and that is not asked to be ignored.
    #[inline(never)]
    fn has_unused(&self, preset: &Preset) -> bool {
        use Growth::{Exponential, Geometric, Linear, Products, Slots, Steps, Table, Uniform};
        let (growth, timed) = (preset.growth, preset.is_timed());
        let jitter = self.jitter_or_own(preset);
        let without_growth = timed && (self.is_chained(preset) || self.is_decorrelated(preset));
        let unless = |used: bool, field: u64| if used { 0 } else { field };
        let grows = timed && !without_growth && (matches!(growth, Exponential) || self.is_initial(preset));
        // INITIAL multiplies what it drew.
        let without_growth = without_growth || timed && self.is_initial(preset);
        let has_ceiling = !timed || (jitter != POLLY && !(without_growth && matches!(growth, Steps)));
        let with_amount = matches!(jitter, PROPORTIONAL | ADDED | INITIAL | DHCPV6 | DHCPV6_SOLICIT);
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
    const fn has_own_alone(&self, preset: &Preset) -> bool {
        let never = self.increment_ns | (self.slot_base | self.slot_limit | self.jitter_amount) as u64;
        let intervals = self.intervals_count | self.intervals[0];
        let others = match preset.growth {
            Growth::Table | Growth::Products => self.base_ns,
            Growth::Uniform | Growth::Geometric => self.base_ns | (self.intervals_count > 1) as u64,
            Growth::Ieee | Growth::Slots | Growth::Ieee802154 => self.base_ns | intervals as u64,
            _ => self.slot_ns | intervals as u64,
        };
        (never | others) == 0
    }

    /// The first delay before jitter; 0 for kinds that count slots, which never ask for it.
    #[inline(always)]
    pub(crate) fn base(&self, preset: &Preset) -> u64 {
        if self.base_ns == 0 { preset.base } else { self.base_ns }
    }

    /// How long after the start a delay may end; `u64::MAX`: for ever.
    #[inline(always)]
    pub(crate) fn elapsed_limit(&self, preset: &Preset) -> u64 {
        if self.elapsed_limit_ns != 0 {
            self.elapsed_limit_ns
        } else if preset.elapsed_bases == 0 {
            preset.elapsed_limit
        } else {
            self.base(preset).saturating_mul(preset.elapsed_bases.into())
        }
    }

    /// Whether failure number `failures` is the last.
    #[inline(always)]
    fn gives_up_after(&self, preset: &Preset, failures: u64) -> bool {
        let limit = or_default(self.attempt_limit, preset.attempts());
        failures >= limit && limit != NONE
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
            Ok(Some(preset)) => {
                let previous = if previous_ns == 0 { self.first_previous(preset) } else { previous_ns };
                Ok(take(&self.any_law(preset, failures, previous)))
            }
            Err(status) => Err(status),
        }
    }

    /// The row of its kind, if the policy has no mistake and the failure is not the last; `None` of no failure.
    #[inline(never)]
    fn checked(&self, failures: u64) -> Result<Option<&'static Preset>, Status> {
        let preset = self.preset()?;
        if failures == 0 {
            return Ok(None);
        }
        if self.gives_up_after(preset, failures) { Err(Status::AttemptLimit) } else { Ok(Some(preset)) }
    }

    /// The law after a failure that is not the last.
    #[inline(never)]
    fn any_law(&self, preset: &Preset, failures: u64, previous: u64) -> CoreLaw {
        if matches!(preset.growth, Growth::Geometric) && !self.comes_at_once(failures) {
            return self.geometric();
        }
        if self.is_chained(preset) {
            return self.chained(preset, failures, previous);
        }
        // In two boxes, so that it is not copied by way of a vector register, which interrupt handlers may not touch.
        let Uniform { first, step, top } = self.uniform(preset, failures, previous);
        CoreLaw::uniform(Uniform { first: black_box(first), step, top: black_box(top) })
    }

    /// The value of `word` in that law.
    #[inline(always)]
    pub(crate) fn at(&self, failures: u64, previous_ns: u64, word: u64) -> Result<u64, Status> {
        // Of the short ways that without a branch alone: the library is small.
        if failures > 0
            && let Some(preset) = self.plain_preset(failures)
            && preset.straight.open
        {
            return Ok(self.straight(preset, failures).at_ns(word));
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
        preset: &Preset,
        failures: u64,
        previous: u64,
        generator: &mut Generator,
    ) -> Option<(u64, u64, u64)> {
        if self.gives_up_after(preset, failures) {
            return None;
        }
        if matches!(preset.growth, Growth::Geometric) && !self.comes_at_once(failures) {
            let start = generator.state();
            let drawn = self.geometric_at(generator.next_u64()).unwrap_or_else(|| {
                *generator = Generator::new(start);
                draw_from(&self.geometric(), generator).0
            });
            return Some((0, drawn, drawn));
        }
        let law = self.any_law(preset, failures, previous);
        let (drawn, remembered) = draw_from(&law, generator);
        Some((law.shortest_ns(), drawn, remembered))
    }

    /// Whether there is no delay after that failure.
    #[inline]
    const fn comes_at_once(&self, failures: u64) -> bool {
        failures == 1 && self.flags & BACKOFF_FLAG_FIRST_AT_ONCE != 0
    }

    /// The delay where `drawn` comes from a range that begins at `shortest`, and the server asks for `hint`; 0: nothing.
    /// The policy has been looked at.
    #[inline(always)]
    pub(crate) fn hinted(&self, drawn: u64, shortest: u64, hint: u64) -> u64 {
        if hint == 0 { drawn } else { self.delay(drawn, shortest, hint) }
    }

    /// The same of a hint that is not 0.
    #[cold]
    #[inline(never)]
    fn delay(&self, drawn: u64, shortest: u64, hint: u64) -> u64 {
        let preset = PRESETS.get(self.kind as usize).unwrap_or(&Preset::PLAIN);
        let own = if preset.hint_above == 0 { NONE } else { u64::from(preset.hint_above) * SECOND };
        let above_draw = self.flags & BACKOFF_FLAG_HINT_ABOVE_DRAW != 0 || preset.hint_above != 0;
        Hint { limit: or_default(self.hint_limit_ns, own), above_draw }.delay(drawn, shortest, hint)
    }

    /// The failure that is the last; `u64::MAX`: none.
    pub(crate) fn attempts(&self, preset: &Preset) -> u64 {
        or_default(self.attempt_limit, preset.attempts())
    }

    /// Whether the number of failures alone says what the law is, and that is uniform.
    pub(crate) fn follows_from_the_count(&self, preset: &Preset) -> bool {
        !matches!(preset.growth, Growth::Geometric)
            && !(preset.is_timed() && (self.is_initial(preset) || self.is_decorrelated(preset)))
            && !self.is_chained(preset)
    }

    /// Base, ceiling and cap of decorrelated jitter, where nothing else is asked for.
    pub(crate) fn decorrelated(&self, preset: &Preset) -> Option<(u64, u64, u64)> {
        let plain = ((self.flags | u32::from(preset.flags)) & FIRST) == 0
            && (self.priority_percent == 0 || self.priority_percent == 100);
        let around = self.around(preset);
        let found = plain && preset.is_timed() && self.is_decorrelated(preset);
        if found { Some((self.base(preset), around.ceiling, around.cap)) } else { None }
    }

    fn is_decorrelated(&self, preset: &Preset) -> bool {
        matches!(self.spread(preset), CoreJitter::Decorrelated)
    }

    /// The law, which is uniform, after a failure that is not the last. Not inlined: what is in a hurry asks
    /// [`plain`](Self::plain) first.
    #[inline(never)]
    pub(crate) fn uniform(&self, preset: &Preset, failures: u64, previous: u64) -> Uniform {
        if ((self.flags | u32::from(preset.flags)) & FIRST) != 0 || self.is_initial(preset) {
            return self.first_and_others(preset, failures, previous);
        }
        self.long_way(preset, failures, previous)
    }

    /// Whether a delay follows from the one before by a law that is not uniform.
    #[inline]
    fn is_chained(&self, preset: &Preset) -> bool {
        preset.is_timed() && self.jitter_or_own(preset) >= Jitter::DecorrelatedClamped as u32
    }

    /// That law, after a failure that is not the last.
    #[inline(never)]
    fn chained(&self, preset: &Preset, failures: u64, previous: u64) -> CoreLaw {
        let flags = (self.flags | u32::from(preset.flags)) & FIRST;
        let (around, base) = (self.around(preset), self.base(preset));
        let at_once = flags & BACKOFF_FLAG_FIRST_AT_ONCE != 0;
        if failures == 1 && flags != 0 {
            return CoreLaw::always(if at_once { 0 } else { base.min(around.cap) });
        }
        let jitter = self.jitter_or_own(preset);
        // Polly's curve begins one unit later where the first retry came at once, as in its source.
        if jitter == POLLY {
            return around.polly(base, failures, previous);
        }
        let is_first = failures == 1 + u64::from(at_once);
        if jitter == Jitter::DecorrelatedClamped as u32 {
            return around.clamped(base, if is_first { base } else { previous });
        }
        let percent = if self.jitter_amount == 0 { 10 } else { self.jitter_amount };
        let first = if is_first { Some(jitter == Jitter::Dhcpv6Solicit as u32) } else { None };
        around.dhcpv6(base, previous, percent, first)
    }

    /// What counts as the delay before the first one.
    #[inline(always)]
    pub(crate) fn first_previous(&self, preset: &Preset) -> u64 {
        if self.jitter_or_own(preset) == POLLY { 0 } else { self.base(preset) }
    }

    /// The number of the jitter.
    #[inline(always)]
    fn jitter_or_own(&self, preset: &Preset) -> u32 {
        if self.jitter == Jitter::Own as u32 { preset.jitter as u32 } else { self.jitter }
    }

    /// The same where the first delay is not like the others.
    #[cold]
    #[inline(never)]
    fn first_and_others(&self, preset: &Preset, failures: u64, previous: u64) -> Uniform {
        let flags = self.flags | u32::from(preset.flags);
        let at_once = flags & BACKOFF_FLAG_FIRST_AT_ONCE != 0;
        if at_once && failures == 1 {
            return Uniform::always(0);
        }
        // What the caller asks for is about the first failure; what the kind has by itself moves with its growth.
        let exact = failures == 1 && self.flags & BACKOFF_FLAG_FIRST_EXACT != 0;
        let failures = failures - u64::from(at_once);
        let exact = exact || failures == 1 && u32::from(preset.flags) & BACKOFF_FLAG_FIRST_EXACT != 0;
        let initial = self.is_initial(preset);
        let timed = preset.is_timed();
        if !timed || !(initial || exact) {
            return self.long_way(preset, failures, previous);
        }
        let grown = if initial && failures > 1 {
            parts::scaled(previous, self.multiplier(preset), 2)
        } else {
            self.grown(preset, failures)
        };
        let percent = if exact || failures > 1 {
            0
        } else if self.jitter_amount == 0 {
            50
        } else {
            self.jitter_amount
        };
        let law = self.around(preset).timed(grown, CoreJitter::Above { percent }, self.base(preset), previous);
        law.capped(or_default(self.cap_ns, NONE))
    }

    /// The row of its kind, if the policy asks for nothing but what [`plain`](Self::plain) knows, and its failure is not the
    /// last.
    #[inline(always)]
    pub(crate) fn plain_preset(&self, failures: u64) -> Option<&'static Preset> {
        let preset = PRESETS.get(self.kind as usize)?;
        let limit = or_default(self.attempt_limit, preset.attempts());
        let known = self.has_own_alone(preset) || !self.has_unused(preset);
        if self.is_plain() && self.reserved == 0 && failures < limit && known { Some(preset) } else { None }
    }

    /// The law after a failure of a policy with its kind's own jitter, multiplier and priority; `None`: the long way knows.
    /// `previous` is the delay before; `None`: the base.
    ///
    /// Of each kind only the fields are read that are its own: that is what a call costs.
    #[inline(always)]
    pub(crate) fn plain(&self, preset: &Preset, failures: u64, previous: Option<u64>) -> Option<Uniform> {
        if preset.straight.open {
            return Some(self.straight(preset, failures));
        }
        let (ceiling, cap) = (or_default(self.ceiling_ns, preset.ceiling), or_default(self.cap_ns, NONE));
        let around = Around { ceiling, cap, priority: 100 };
        let (base, steps) = (self.base(preset), failures - 1);
        let amount = if self.jitter_amount == 0 { preset.amount.into() } else { self.jitter_amount };
        let timed = |grown, jitter| around.timed(grown, jitter, base, previous.unwrap_or(base));
        let law = match (preset.growth, preset.jitter) {
            (Growth::Linear, _) => {
                let increment = or_default(self.increment_ns, base);
                timed(base.saturating_add(increment.saturating_mul(steps)), CoreJitter::None)
            }
            (Growth::Fibonacci, _) => timed(base.saturating_mul(parts::fibonacci(failures)), CoreJitter::None),
            (Growth::Exponential, Jitter::Decorrelated) => timed(0, CoreJitter::Decorrelated),
            (Growth::Exponential, Jitter::Added) => {
                timed(parts::shifted(base, steps), CoreJitter::AddedMillis { most: amount })
            }
            (Growth::Exponential, Jitter::Proportional) if preset.multiplier == THREE_HALVES => {
                timed(parts::three_halves(base, failures), CoreJitter::Proportional { percent: amount })
            }
            _ => {
                around.slotted(self.plain_slots(preset, failures)?, or_default(self.slot_ns, preset.slot.into()), false)
            }
        };
        Some(law.capped(cap))
    }

    /// From how many slots is chosen after a failure; `None`: the kind counts none, or the long way knows.
    #[inline(always)]
    fn plain_slots(&self, preset: &Preset, failures: u64) -> Option<u64> {
        Some(match preset.growth {
            Growth::Ieee => 1 << failures.min(10),
            Growth::Slots if self.slot_base <= 2 && self.slot_limit < 64 => {
                1 << failures.min(if self.slot_limit == 0 { 10 } else { self.slot_limit.into() })
            }
            Growth::Table => self.intervals.get(self.entry(failures)?).copied()?.max(1).into(),
            Growth::Products => self.product(self.entry(failures)?),
            Growth::Uniform if self.intervals[0] == 0 => 2,
            Growth::Uniform => self.intervals[0].into(),
            Growth::Ieee802154 => 4 << failures.min(3),
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
    pub(crate) fn straight(&self, preset: &Preset, failures: u64) -> Uniform {
        let (ceiling, cap) = (or_default(self.ceiling_ns, preset.ceiling), or_default(self.cap_ns, NONE));
        preset.straight.law(failures, self.base(preset), ceiling, cap)
    }

    /// The same for every policy.
    fn long_way(&self, preset: &Preset, failures: u64, previous: u64) -> Uniform {
        let uniform = match preset.growth {
            Growth::Exponential | Growth::Constant | Growth::Linear | Growth::Fibonacci | Growth::Steps => {
                let grown = self.grown(preset, failures);
                self.around(preset).timed(grown, self.spread(preset), self.base(preset), previous)
            }
            _ => self.slotted(preset, &self.around(preset), failures),
        };
        uniform.capped(or_default(self.cap_ns, NONE))
    }

    /// What is done to every growth.
    #[inline(always)]
    fn around(&self, preset: &Preset) -> Around {
        // Steps end at the ceiling by themselves, and know none below the base.
        let steps = matches!(preset.growth, Growth::Steps);
        Around {
            ceiling: if steps { NONE } else { or_default(self.ceiling_ns, preset.ceiling) },
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
        let (slot, limit) = (or_default(self.slot_ns, SLOT.into()), if ceiling < cap { ceiling } else { cap });
        // A cap below a slot makes another law of it.
        let plain = self.priority_percent == 0 && slots > 1 && cap >= slot;
        if plain { Some((slots, slot, limit)) } else { None }
    }

    /// The same, of a policy all of whose delays come from that law.
    pub(crate) fn always_geometric(&self, preset: &Preset) -> Option<(u32, u64, u64)> {
        let always = matches!(preset.growth, Growth::Geometric) && !self.comes_at_once(1);
        if always { self.plainly_geometric() } else { None }
    }

    /// The geometric law.
    #[inline(never)]
    fn geometric(&self) -> CoreLaw {
        let slots = if self.intervals[0] == 0 { 2 } else { self.intervals[0] };
        let around = self.around(&Preset::PLAIN);
        around.geometric(slots, or_default(self.slot_ns, SLOT.into())).capped(around.cap)
    }

    /// The delay before ceiling, priority and jitter.
    #[inline(never)]
    fn grown(&self, preset: &Preset, failures: u64) -> u64 {
        let (base, steps) = (self.base(preset), failures.wrapping_sub(1));
        let multiplier = self.multiplier(preset);
        match preset.growth {
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
    fn slotted(&self, preset: &Preset, around: &Around, failures: u64) -> Uniform {
        let slot = or_default(self.slot_ns, preset.slot.into());
        let last = (self.intervals_count as usize).wrapping_sub(1) & (BACKOFF_INTERVALS - 1);
        let first = if self.intervals[0] == 0 { 2 } else { self.intervals[0] };
        let entry = if failures - 1 < last as u64 { failures as usize - 1 } else { last };
        let slots = match preset.growth {
            Growth::Ieee802154 => 4 << failures.min(3),
            Growth::Ieee => 1 << failures.min(10),
            Growth::Slots => {
                let base = if self.slot_base < 2 { 2 } else { self.slot_base };
                exponential_slots(base, if self.slot_limit == 0 { 10 } else { self.slot_limit }, failures)
            }
            Growth::Table => self.intervals[entry & (BACKOFF_INTERVALS - 1)].max(1).into(),
            Growth::Products => self.product(entry),
            _ => first.into(),
        };
        around.slotted(slots, slot, matches!(preset.growth, Growth::Slots))
    }

    /// The jitter, that of the kind where none is asked for.
    #[inline(always)]
    fn spread(&self, preset: &Preset) -> CoreJitter {
        let jitter = self.jitter_or_own(preset);
        let amount = |default| {
            if self.jitter_amount != 0 {
                self.jitter_amount
            } else if self.jitter == 0 {
                preset.amount.into()
            } else {
                default
            }
        };
        match jitter {
            FULL => CoreJitter::Full,
            BELOW => CoreJitter::Below,
            EQUAL => CoreJitter::Equal,
            PROPORTIONAL => CoreJitter::Proportional { percent: amount(50) },
            ADDED => CoreJitter::AddedMillis { most: amount(1000) },
            DECORRELATED => CoreJitter::Decorrelated,
            UPPER_HALF => CoreJitter::UpperHalf,
            _ => CoreJitter::None,
        }
    }

    /// The multiplier, in millionths.
    #[inline(always)]
    fn multiplier(&self, preset: &Preset) -> u32 {
        if (self.multiplier_percent | self.multiplier_millionths) == 0 { preset.multiplier } else { self.millionths() }
    }

    /// The multiplier that the policy asks for.
    #[inline(never)]
    fn millionths(&self) -> u32 {
        if self.multiplier_millionths != 0 {
            self.multiplier_millionths
        } else {
            self.multiplier_percent.saturating_mul(10_000)
        }
    }

    /// Whether only the first delay is drawn.
    #[inline(always)]
    fn is_initial(&self, preset: &Preset) -> bool {
        self.jitter_or_own(preset) == Jitter::Initial as u32
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
