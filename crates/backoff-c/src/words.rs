//! The words of the generator, many at a time: one path for every machine, and one for AVX2, chosen at run time.
//! Both write the same words; `ffi-tests/batch.c` compares them with single calls.

use backoff_core::Generator;

/// Writes the `bits` high bits of the next `count` words of the generator in state `state`, and gives its state then.
///
/// # Safety
/// `words` is valid for writes of `count` entries, and used by no other thread.
pub(crate) unsafe fn fill_high_bits(words: *mut u64, count: usize, state: u64, bits: u32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if avx2::is_there() {
        // SAFETY: by the contract above; and the processor has AVX2.
        return unsafe { avx2::fill_high_bits(words, count, state, bits) };
    }
    // SAFETY: by the contract above.
    unsafe { fill_one_by_one(words, count, state, bits) }
}

/// The same on every machine.
///
/// # Safety
/// `words` is valid for writes of `count` entries, and used by no other thread.
unsafe fn fill_one_by_one(words: *mut u64, count: usize, state: u64, bits: u32) -> u64 {
    let mut generator = Generator::new(state);
    let shift = u64::BITS - bits;
    for index in 0..count {
        let word = generator.next_u64();
        // Shifts by 0 to 64 in two steps of at most 32: Rust refuses a shift by the whole word.
        let bits = (word >> (shift / 2)) >> (shift - shift / 2);
        // SAFETY: by the contract above, there is room for `count` words.
        unsafe { words.add(index).write(bits) };
    }
    generator.state()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use core::arch::x86_64::{
        __m128i, __m256i, _mm_cvtsi64_si128, _mm256_add_epi64, _mm256_and_si256, _mm256_mul_epu32, _mm256_mullo_epi32,
        _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_slli_epi64, _mm256_srl_epi64, _mm256_srli_epi64,
        _mm256_storeu_si256, _mm256_xor_si256,
    };

    /// γ and the two multipliers of splitmix64, as in the core's generator.
    const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
    const FIRST: u64 = 0xBF58_476D_1CE4_E5B9;
    const SECOND: u64 = 0x94D0_49BB_1331_11EB;

    cpufeatures::new!(found, "avx2");

    #[inline]
    pub(super) fn is_there() -> bool {
        found::get()
    }

    /// Eight words at a time in two registers, so that one multiplies while the other waits.
    ///
    /// # Safety
    /// The processor has AVX2; `words` is valid for writes of `count` entries, and used by no other thread.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn fill_high_bits(words: *mut u64, count: usize, state: u64, bits: u32) -> u64 {
        let shift = _mm_cvtsi64_si128((u64::BITS - bits).into());
        let step = |n: u64| state.wrapping_add(GAMMA.wrapping_mul(n)) as i64;
        let mut low = _mm256_set_epi64x(step(4), step(3), step(2), step(1));
        let four = _mm256_set1_epi64x(GAMMA.wrapping_mul(4) as i64);
        let eight = _mm256_set1_epi64x(GAMMA.wrapping_mul(8) as i64);
        let mut high = _mm256_add_epi64(low, four);
        let whole = count & !7;
        let mut index = 0;
        while index < whole {
            let (first, second) = (high_bits(low, shift, bits), high_bits(high, shift, bits));
            // SAFETY: by the contract above, there is room for `count` words, and index + 8 is at most that.
            unsafe {
                _mm256_storeu_si256(words.add(index).cast(), first);
                _mm256_storeu_si256(words.add(index + 4).cast(), second);
            }
            low = _mm256_add_epi64(low, eight);
            high = _mm256_add_epi64(high, eight);
            index += 8;
        }
        let state = state.wrapping_add(GAMMA.wrapping_mul(whole as u64));
        // SAFETY: by the contract above, the rest has room too.
        unsafe { super::fill_one_by_one(words.add(whole), count - whole, state, bits) }
    }

    /// The high bits of four mixed states. The last step of the mix changes the 33 low bits only; up to 31 high ones
    /// do without it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn high_bits(state: __m256i, shift: __m128i, bits: u32) -> __m256i {
        let z = multiplied::<FIRST>(_mm256_xor_si256(state, _mm256_srli_epi64::<30>(state)));
        let z = multiplied::<SECOND>(_mm256_xor_si256(z, _mm256_srli_epi64::<27>(z)));
        let z = if bits <= 31 { z } else { _mm256_xor_si256(z, _mm256_srli_epi64::<31>(z)) };
        // A shift by 64 leaves nothing, as it should.
        _mm256_srl_epi64(z, shift)
    }

    /// z · FACTOR modulo 2^64, from products of halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn multiplied<const FACTOR: u64>(z: __m256i) -> __m256i {
        let factor = _mm256_set1_epi64x(FACTOR as i64);
        let swapped = _mm256_set1_epi64x(FACTOR.rotate_left(32) as i64);
        // The low halves of z's halves times the other halves of the factor; their sum counts 2^32.
        let crossed = _mm256_mullo_epi32(z, swapped);
        let high = _mm256_and_si256(crossed, _mm256_set1_epi64x(!0 << 32));
        let crossed = _mm256_add_epi64(_mm256_slli_epi64::<32>(crossed), high);
        _mm256_add_epi64(_mm256_mul_epu32(z, factor), crossed)
    }
}
