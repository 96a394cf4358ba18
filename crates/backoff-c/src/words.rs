//! The words of the generator, many at a time: one path for every machine, and one for AVX2, chosen at run time.
//! Both write the same words: the tests below, which `ffi-tests/words.rs` runs, compare the paths, and
//! `ffi-tests/batch.c` the calls.

use core::mem::MaybeUninit;

use backoff_core::Generator;

/// Fills `words` with the `bits` high bits of the next words of the generator in state `state`, and gives its state then.
pub(crate) fn fill_high_bits(words: &mut [MaybeUninit<u64>], state: u64, bits: u32) -> u64 {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if bits <= avx2::BITS && has_avx2() {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2::fill_high_bits(words, state, bits) };
    }
    fill_one_by_one(words, state, bits)
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
cpufeatures::new!(avx2_found, "avx2");

/// Whether the four words at a time are for this processor.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline]
pub(crate) fn has_avx2() -> bool {
    avx2_found::get()
}

/// The same on every machine.
pub(crate) fn fill_one_by_one(words: &mut [MaybeUninit<u64>], state: u64, bits: u32) -> u64 {
    let mut generator = Generator::new(state);
    let shift = u64::BITS - bits;
    for filled in words {
        let word = generator.next_u64();
        // Shifts by 0 to 64 in two steps of at most 32: Rust refuses a shift by the whole word.
        filled.write((word >> (shift / 2)) >> (shift - shift / 2));
    }
    generator.state()
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2 {
    use core::arch::x86_64::{
        __m128i, __m256i, _mm_cvtsi64_si128, _mm256_add_epi32, _mm256_add_epi64, _mm256_and_si256, _mm256_mul_epu32,
        _mm256_mullo_epi32, _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_slli_epi64, _mm256_srl_epi64,
        _mm256_srli_epi64, _mm256_storeu_si256, _mm256_xor_si256,
    };
    use core::mem::MaybeUninit;

    /// γ and the two multipliers of splitmix64, as in the core's generator.
    const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
    const FIRST: u64 = 0xBF58_476D_1CE4_E5B9;
    const SECOND: u64 = 0x94D0_49BB_1331_11EB;

    /// The most high bits that are drawn here; hardly any range has more.
    pub(super) const BITS: u32 = 31;

    /// Eight words at a time in two registers, so that one multiplies while the other waits.
    ///
    /// The last step of the mix changes the 33 low bits only; up to 31 high ones do without it, and without the low half of
    /// the last product.
    #[target_feature(enable = "avx2")]
    pub(super) fn fill_high_bits(words: &mut [MaybeUninit<u64>], state: u64, bits: u32) -> u64 {
        let shift = _mm_cvtsi64_si128((u64::BITS - bits).into());
        let step = |n: u64| state.wrapping_add(GAMMA.wrapping_mul(n)) as i64;
        let mut low = _mm256_set_epi64x(step(4), step(3), step(2), step(1));
        let four = _mm256_set1_epi64x(GAMMA.wrapping_mul(4) as i64);
        let eight = _mm256_set1_epi64x(GAMMA.wrapping_mul(8) as i64);
        let mut high = _mm256_add_epi64(low, four);
        let mut eights = words.chunks_exact_mut(8);
        let mut state = state;
        for words in &mut eights {
            let (first, second) = (high_bits(low, shift), high_bits(high, shift));
            let words: *mut __m256i = words.as_mut_ptr().cast();
            // SAFETY: there is room for eight words, and a store need not be aligned.
            unsafe {
                _mm256_storeu_si256(words, first);
                _mm256_storeu_si256(words.add(1), second);
            }
            low = _mm256_add_epi64(low, eight);
            high = _mm256_add_epi64(high, eight);
            state = state.wrapping_add(GAMMA.wrapping_mul(8));
        }
        super::fill_one_by_one(eights.into_remainder(), state, bits)
    }

    /// The high bits of four mixed states.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn high_bits(state: __m256i, shift: __m128i) -> __m256i {
        let z = multiplied::<FIRST>(_mm256_xor_si256(state, _mm256_srli_epi64::<30>(state)));
        let z = _mm256_xor_si256(z, _mm256_srli_epi64::<27>(z));
        // A shift by 64 leaves nothing, as it should.
        _mm256_srl_epi64(high_halves::<SECOND>(z), shift)
    }

    /// z · FACTOR modulo 2^64, from products of halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn multiplied<const FACTOR: u64>(z: __m256i) -> __m256i {
        let (product, crossed) = halves::<FACTOR>(z);
        // What they count is 2^32: their sum belongs into the high half.
        let high = _mm256_and_si256(crossed, _mm256_set1_epi64x(!0 << 32));
        _mm256_add_epi64(product, _mm256_add_epi64(_mm256_slli_epi64::<32>(crossed), high))
    }

    /// The high halves of it; anything in the low ones.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn high_halves<const FACTOR: u64>(z: __m256i) -> __m256i {
        let (product, crossed) = halves::<FACTOR>(z);
        // In halves, so that nothing is carried into the high one.
        _mm256_add_epi32(_mm256_add_epi32(product, crossed), _mm256_slli_epi64::<32>(crossed))
    }

    /// The product of the low halves of z and FACTOR, and those of each half of z with the other of FACTOR.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves<const FACTOR: u64>(z: __m256i) -> (__m256i, __m256i) {
        let factor = _mm256_set1_epi64x(FACTOR as i64);
        let swapped = _mm256_set1_epi64x(FACTOR.rotate_left(32) as i64);
        (_mm256_mul_epu32(z, factor), _mm256_mullo_epi32(z, swapped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place that nothing was written to.
    const UNTOUCHED: u64 = 0x5555_5555_5555_5555;

    type Path = fn(&mut [MaybeUninit<u64>], u64, u32) -> u64;

    /// The words that the path writes, with one place behind them, and the state of the generator then.
    fn filled(path: Path, count: usize, state: u64, bits: u32) -> (Vec<u64>, u64) {
        let mut words = vec![MaybeUninit::new(UNTOUCHED); count + 1];
        let state = path(&mut words[..count], state, bits);
        // SAFETY: all were initialised two lines above.
        (words.iter().map(|word| unsafe { word.assume_init() }).collect(), state)
    }

    /// All numbers of bits, with every count around the eight words of a round, from states at random and at the edges.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[test]
    fn the_portable_path_and_the_one_for_avx2_write_the_same_words() {
        if !has_avx2() {
            println!("SKIPPED: this processor has no AVX2; the portable path is the only one");
            return;
        }
        let mut generator = Generator::stream(802, 4);
        let mut states = vec![0, 1, u64::MAX, u64::MAX - 0x9E37_79B9_7F4A_7C15];
        states.extend((0..60).map(|_| generator.next_u64()));
        for bits in 0..=64 {
            for (count, &state) in (0..33).chain([1000, 1024, 1031]).zip(states.iter().cycle()) {
                let portable = filled(fill_one_by_one, count, state, bits);
                // With AVX2 there, this is its path.
                let chosen = filled(fill_high_bits, count, state, bits);
                assert_eq!(chosen, portable, "{count} words of {bits} bits from state {state:#x}");
                assert_eq!(portable.0[count], UNTOUCHED, "one more than {count} words of {bits} bits");
            }
        }
    }

    /// And those words are the generator's, one after the other.
    #[test]
    fn the_portable_path_writes_the_words_of_the_generator() {
        for bits in 0..=64 {
            let mut generator = Generator::stream(1, bits.into());
            let (words, state) = filled(fill_one_by_one, 100, generator.state(), bits);
            for word in &words[..100] {
                assert_eq!(*word, generator.next_u64().checked_shr(64 - bits).unwrap_or(0), "{bits} bits");
            }
            assert_eq!(state, generator.state());
        }
    }
}
