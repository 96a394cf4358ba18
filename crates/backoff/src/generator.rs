//! The value-stable generator: splitmix64, one stream for each station.
//!
//! It must never know what its words are used for, nor take entropy from anywhere: the seed is all there is.

use core::convert::Infallible;

use rand_core::{SeedableRng, TryRng, utils};

/// What the state grows by for each word: 2^64 divided by the golden ratio, made odd.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A splitmix64 generator: a counter of 64 bits and a mix of it (Steele, Lea and Flood, 2014).
///
/// For each word the state grows by γ = `0x9E3779B97F4A7C15`, and the word is `mix(state)`:
///
/// ```text
/// mix(z):  z = (z ^ (z >> 30)) · 0xBF58476D1CE4E5B9
///          z = (z ^ (z >> 27)) · 0x94D049BB133111EB
///          z ^ (z >> 31)                                all modulo 2^64
/// ```
///
/// The state is a counter, so a batch can compute its words side by side and they are the same words. The last step
/// changes only the 33 low bits: a caller that needs at most 31 high bits may leave it out. Every word comes exactly
/// once in 2^64. The words are not secret: one of them tells all the others.
///
/// It is not `Copy`, so that no two owners draw the same words by accident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    state: u64,
}

impl Generator {
    /// The generator whose state is `seed`: its first word is `mix(seed + γ)`.
    ///
    /// Neighbouring seeds give unrelated words. Where several generators belong to one run, take
    /// [`stream`](Self::stream): seeds that differ by a multiple of γ would give one sequence, shifted.
    #[inline]
    pub const fn new(seed: u64) -> Generator {
        Generator { state: seed }
    }

    /// The generator of station, or device, number `stream` in the run that `seed` names.
    ///
    /// ```text
    /// state = mix(mix(seed + γ) + (stream + 1) · γ)       modulo 2^64
    /// ```
    ///
    /// In words: the first word of `new(seed)` seeds a second generator, and that one's word number `stream`, counted
    /// from 0, is the state. So both numbers pass through a whole mix, ids may be 1, 2, 3 …, streams of one seed never
    /// start at the same state, and one more station leaves the streams of the others as they were.
    #[inline]
    pub const fn stream(seed: u64, stream: u64) -> Generator {
        let run = mix(seed.wrapping_add(GAMMA));
        Generator::new(mix(run.wrapping_add(stream.wrapping_add(1).wrapping_mul(GAMMA))))
    }

    /// The generator of operation number `stream` in the run that `seed` names: other words than those of the station
    /// of that number.
    ///
    /// ```text
    /// state = mix(mix(seed + 2 · γ) + (stream + 1) · γ)   modulo 2^64
    /// ```
    ///
    /// In words: the second word of `new(seed)` takes the place of the first one in [`stream`](Self::stream).
    #[inline]
    pub const fn operation(seed: u64, stream: u64) -> Generator {
        let run = mix(seed.wrapping_add(GAMMA.wrapping_mul(2)));
        Generator::new(mix(run.wrapping_add(stream.wrapping_add(1).wrapping_mul(GAMMA))))
    }

    /// The next word, uniform over all of `u64`.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// The `count` high bits of the next word, all of them if there are no more.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn next_high_bits(&mut self, count: u32) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        if count.wrapping_sub(1) < 31 {
            // The last step of the mix changes the 33 low bits only. And a shift takes its distance modulo 64.
            return half_mixed(self.state).wrapping_shr(count.wrapping_neg());
        }
        high_bits(mix(self.state), count)
    }

    /// The same for 1 to 31 bits, without asking how many they are; of other counts any bits.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn next_few_high_bits(&mut self, count: u32) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        half_mixed(self.state).wrapping_shr(count.wrapping_neg())
    }

    /// The state: `Generator::new(generator.state())` continues from this state.
    #[inline]
    pub const fn state(&self) -> u64 {
        self.state
    }
}

/// Spreads every bit of `z` over the whole word; one to one, and 0 stays 0.
const fn mix(z: u64) -> u64 {
    let z = half_mixed(z);
    z ^ (z >> 31)
}

/// The mix without its last step.
#[inline(always)]
const fn half_mixed(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

/// The `count` high bits of `word`, all of them if there are no more.
// A shift takes its distance modulo 64; so 64 less the count is the count's negative. That leaves out 0, and what is
// above 64: a branch that is never guessed wrong, in place of three operations on every draw.
#[doc(hidden)]
#[inline(always)]
pub const fn high_bits(word: u64, count: u32) -> u64 {
    if count.wrapping_sub(1) >= u64::BITS {
        return if count == 0 { 0 } else { word };
    }
    word.wrapping_shr(count.wrapping_neg())
}

/// A `u32` is the high half of a word, and octets are words in little-endian order: the same on every machine.
impl TryRng for Generator {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next_u64() >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next_u64())
    }

    #[inline]
    fn try_fill_bytes(&mut self, octets: &mut [u8]) -> Result<(), Infallible> {
        utils::fill_bytes_via_next_word(octets, || self.try_next_u64())
    }
}

/// The octets are the seed of [`Generator::new`] in little-endian order.
impl SeedableRng for Generator {
    type Seed = [u8; 8];

    #[inline]
    fn from_seed(seed: [u8; 8]) -> Generator {
        Generator::new(u64::from_le_bytes(seed))
    }

    #[inline]
    fn seed_from_u64(seed: u64) -> Generator {
        Generator::new(seed)
    }
}
