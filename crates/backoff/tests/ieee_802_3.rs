//! The 802.3 backoff by its public door: the values of the standard, exact, and total over every input.

use core::num::NonZeroU32;

use backoff::{Backoff, Generator, Limits};
use proptest::prelude::*;

/// 2^min(n,10) − 1 after collisions n = 1 to 15 (802.3, 4.2.3.2.5).
const LONGEST: [u64; 15] = [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 1023, 1023, 1023, 1023, 1023];

/// Two frames of 15 collisions and a discard, drawn from `Generator::stream(1, 1)`.
///
/// Computed by a C program of its own from the documented formula; `ffi-tests/ieee_802_3.c` holds the same table, so the
/// Rust library and the C library cannot drift apart.
const SEEDED: [[u64; 15]; 2] = [
    [1, 1, 3, 8, 14, 14, 22, 86, 257, 1009, 68, 324, 212, 585, 570],
    [1, 2, 5, 12, 22, 5, 63, 155, 35, 203, 534, 379, 739, 785, 438],
];

/// Values where a width, a shift or a count could go wrong.
const EDGES: [u32; 16] = [0, 1, 2, 9, 10, 11, 15, 16, 17, 31, 32, 63, 64, 65, u32::MAX - 1, u32::MAX];

fn limits(attempt_limit: u32, backoff_limit: u32) -> Limits {
    Limits::IEEE_802_3
        .with_attempt_limit(NonZeroU32::new(attempt_limit).expect("attempt_limit is at least 1"))
        .with_backoff_limit(backoff_limit)
}

/// The range doubles to 2^10 slots and stays (802.3, 4.2.3.2.5); all ones in the word ask for the longest delay.
#[test]
fn the_largest_word_gives_the_longest_delays() {
    let mut backoff = Backoff::new(Limits::IEEE_802_3);
    for (attempt, longest) in (1..).zip(LONGEST) {
        assert_eq!(backoff.collide(u64::MAX), Some(longest), "attempt {attempt}");
        assert_eq!(backoff.attempts(), attempt);
        assert_eq!(Limits::IEEE_802_3.max_slots(attempt), Some(longest));
    }
}

/// r may be 0 after every collision (802.3, 4.2.3.2.5).
#[test]
fn the_smallest_word_gives_no_delay() {
    let mut backoff = Backoff::new(Limits::IEEE_802_3);
    for attempt in 1..=15 {
        assert_eq!(backoff.collide(0), Some(0), "attempt {attempt}");
    }
}

/// attemptLimit counts attempts, the first included, so the 16th collision is the last (802.3, 4.2.3.2.5).
#[test]
fn the_sixteenth_collision_discards_the_frame() {
    let mut backoff = Backoff::new(Limits::IEEE_802_3);
    for attempt in 1..=15 {
        assert!(backoff.collide(0).is_some(), "attempt {attempt}");
    }
    assert_eq!(backoff.collide(0), None);
    assert_eq!(Limits::IEEE_802_3.max_slots(15), Some(1023));
    assert_eq!(Limits::IEEE_802_3.max_slots(16), None);
}

/// A caller that goes on after the discard must not get a delay, nor wrap the count.
#[test]
fn a_discarded_frame_stays_discarded_until_the_reset() {
    let mut backoff = Backoff::after(Limits::IEEE_802_3, 15);
    for _ in 0..100 {
        assert_eq!(backoff.collide(u64::MAX), None);
        assert_eq!(backoff.attempts(), 16);
    }
    backoff.reset();
    assert_eq!(backoff, Backoff::new(Limits::IEEE_802_3));
    assert_eq!(backoff.collide(u64::MAX), Some(1));
}

/// 1 + 3 + … + 511 + 6 · 1023 slots, which is 366 ms at 10 Mb/s.
#[test]
fn the_longest_sum_over_one_frame_is_7151_slots() {
    let mut backoff = Backoff::new(Limits::IEEE_802_3);
    let sum: u64 = core::iter::from_fn(|| backoff.collide(u64::MAX)).sum();
    assert_eq!(sum, 7_151);
}

/// All words, by the ends of the 2^k intervals that they fall into: the delay never falls as the word grows, so
/// between two ends that agree nothing else can lie. Each slot has 2^(64−k) words; no slot is favoured.
#[test]
fn every_slot_has_equally_many_words() {
    for (attempt, longest) in (1..).zip(LONGEST) {
        let words_per_slot = (1_u128 << 64) / (u128::from(longest) + 1);
        for slot in 0..=longest {
            let first = u128::from(slot) * words_per_slot;
            for word in [first, first + words_per_slot - 1] {
                let word = u64::try_from(word).expect("the last slot ends at the largest word");
                assert_eq!(slots_after(attempt, word), Some(slot), "attempt {attempt}");
            }
        }
    }
}

/// The delay after that collision of a frame.
fn slots_after(collisions: u32, word: u64) -> Option<u64> {
    Backoff::after(Limits::IEEE_802_3, collisions - 1).collide(word)
}

/// (2^min(n,10) − 1)/2 slots: 0.5, 1.5, 3.5 … 511.5, over every slot and not over a sample.
#[test]
fn the_mean_is_exact() {
    for (collisions, longest) in (1..).zip(LONGEST) {
        let range = longest + 1;
        let words = (0..range).map(|slot| slot << (64 - range.ilog2()));
        let sum: u64 = words.filter_map(|word| slots_after(collisions, word)).sum();
        let twice_mean = Limits::IEEE_802_3.twice_mean_slots(collisions);
        assert_eq!(twice_mean, Some(2 * sum / range), "collision {collisions}");
        assert_eq!(2 * sum % range, 0, "collision {collisions}");
    }
    assert_eq!(Limits::IEEE_802_3.twice_mean_slots(16), None);
}

/// Before the first collision there is nothing to wait for (802.3, 4.2.3.2: no backoff at the first attempt).
#[test]
fn a_frame_that_has_not_collided_does_not_wait() {
    assert_eq!(Limits::IEEE_802_3.max_slots(0), Some(0));
    assert_eq!(Limits::IEEE_802_3.twice_mean_slots(0), Some(0));
    assert_eq!(Backoff::new(Limits::IEEE_802_3).attempts(), 0);
}

/// The smallest attemptLimit there is.
#[test]
fn with_one_attempt_the_first_collision_discards() {
    let mut backoff = Backoff::new(limits(1, 10));
    assert_eq!(backoff.collide(u64::MAX), None);
    assert_eq!(backoff.attempts(), 1);
}

/// 2^0 = 1 slot to choose from.
#[test]
fn with_backoff_limit_0_there_is_no_delay() {
    let mut backoff = Backoff::new(limits(16, 0));
    for attempt in 1..=15 {
        assert_eq!(backoff.collide(u64::MAX), Some(0), "attempt {attempt}");
    }
}

/// The exponent stops at the 64 bits of the word: no shift overflows, no delay falls back to 0.
#[test]
fn from_the_64th_collision_on_the_delay_is_the_whole_word() {
    let mut backoff = Backoff::after(limits(u32::MAX, u32::MAX), 62);
    let word = 0xFEDC_BA98_7654_3211;
    assert_eq!(backoff.collide(word), Some(word >> 1));
    for _ in 64..=70 {
        assert_eq!(backoff.collide(word), Some(word));
    }
    assert_eq!(backoff.limits().max_slots(u32::MAX - 1), Some(u64::MAX));
}

/// The largest count must neither wrap nor give a delay of the first attempt again.
#[test]
fn the_count_stops_at_the_largest_attempt_limit() {
    let mut backoff = Backoff::after(limits(u32::MAX, 10), u32::MAX - 2);
    assert_eq!(backoff.collide(u64::MAX), Some(1023));
    assert_eq!(backoff.collide(u64::MAX), None);
    assert_eq!(backoff.collide(u64::MAX), None);
    assert_eq!(backoff.attempts(), u32::MAX);
}

/// Overflow at a high count, and then a panic or no delay at all, is the commonest fault of such libraries.
#[test]
fn every_edge_value_has_the_answer_of_the_formula() {
    for attempt_limit in EDGES.into_iter().skip(1) {
        for backoff_limit in EDGES {
            let limits = limits(attempt_limit, backoff_limit);
            for attempts in EDGES {
                for word in [0, 1, u64::MAX >> 1, 1 << 63, u64::MAX - 1, u64::MAX] {
                    let mut backoff = Backoff::after(limits, attempts);
                    assert_eq!(
                        backoff.collide(word),
                        formula(limits, attempts, word),
                        "{limits:?}, {attempts} attempts, word {word}"
                    );
                }
            }
        }
    }
}

proptest! {
    /// The formula in 128 bits, where nothing can overflow, against the library in 64.
    #[test]
    fn every_input_has_the_answer_of_the_formula(
        attempt_limit in 1..=200_u32,
        backoff_limit in 0..=80_u32,
        words in prop::collection::vec(any::<u64>(), 0..220),
    ) {
        let limits = limits(attempt_limit, backoff_limit);
        let mut backoff = Backoff::new(limits);
        for (attempts, word) in (0..).zip(words) {
            let slots = backoff.collide(word);
            prop_assert_eq!(slots, formula(limits, attempts, word));
            prop_assert!(slots <= limits.max_slots(backoff.attempts()));
            prop_assert_eq!(slots.is_none(), limits.max_slots(backoff.attempts()).is_none());
        }
    }
}

/// The delay after one collision more than `attempts`: floor(word · 2^k / 2^64).
fn formula(limits: Limits, attempts: u32, word: u64) -> Option<u64> {
    let collisions = u64::from(attempts) + 1;
    if collisions >= u64::from(limits.attempt_limit()) {
        return None;
    }
    let exponent = collisions.min(limits.backoff_limit().into()).min(64);
    let scaled = (u128::from(word) >> (64 - exponent)) as u64;
    Some(scaled)
}

/// The number of calls determines the generator's state; batch code relies on it.
#[test]
fn each_collision_takes_one_word_the_discarding_one_included() {
    let (mut generator, mut words) = (Generator::new(3), Generator::new(3));
    let (mut drawn, mut given) = (Backoff::new(Limits::IEEE_802_3), Backoff::new(Limits::IEEE_802_3));
    for call in 1..=40 {
        assert_eq!(drawn.collide_with(&mut generator), given.collide(words.next_u64()), "call {call}");
        assert_eq!(generator, words, "call {call}");
    }
}

/// Value stability: a run that is repeated in ten years draws these delays.
#[test]
fn the_seeded_delays_never_change() {
    let mut generator = Generator::stream(1, 1);
    let mut backoff = Backoff::new(Limits::IEEE_802_3);
    for frame in SEEDED {
        for slots in frame {
            assert_eq!(backoff.collide_with(&mut generator), Some(slots));
        }
        assert_eq!(backoff.collide_with(&mut generator), None);
        backoff.reset();
    }
}

/// One lies in every station and in every frame of a batch.
#[test]
fn the_state_of_a_frame_takes_at_most_16_octets() {
    assert!(size_of::<Backoff>() <= 16, "{}", size_of::<Backoff>());
}

/// A table of delays can be built at compile time.
#[test]
fn the_backoff_works_in_constants() {
    const THIRD: Option<u64> = Backoff::after(Limits::IEEE_802_3, 2).collide(u64::MAX);
    assert_eq!(THIRD, Some(7));
}
