//! The generator by its public door: its words are the published ones, and its streams have nothing to do with
//! each other.

use backoff::rand_core::{Rng, SeedableRng};
use backoff::{Backoff, Generator, Limits};

/// The reference words of splitmix64, as its authors' C code and the documentation of other languages print them.
#[test]
fn the_words_are_the_published_ones() {
    let cases = [
        (
            0,
            [
                0xE220_A839_7B1D_CDAF,
                0x6E78_9E6A_A1B9_65F4,
                0x06C4_5D18_8009_454F,
                0xF88B_B8A8_724C_81EC,
                0x1B39_896A_51A8_749B,
            ],
        ),
        (
            1_234_567,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ],
        ),
    ];
    for (seed, words) in cases {
        let mut generator = Generator::new(seed);
        assert_eq!(words.map(|_| generator.next_u64()), words, "seed {seed}");
    }
}

/// Value stability of the streams; computed by a C program of its own from the documented formula.
#[test]
fn the_words_of_a_stream_never_change() {
    let cases = [
        (0, 0, [0x2382_75BC_38FC_BE91, 0xF89A_2566_B582_2C54]),
        (1, 1, [0x9EDB_E9BD_18AD_781D, 0x7D8E_67D8_F2AF_75D5]),
        (1, 2, [0x3E12_2046_4423_4BB0, 0xFEAB_9A05_2C03_4D9F]),
        (2, 1, [0x8D6F_9559_8D30_BEF6, 0x179E_A213_BECA_D976]),
        (802, 3, [0xA630_60B8_1CD6_00A5, 0x9392_B85A_7EAC_6E31]),
        (u64::MAX, u64::MAX, [0x6950_5889_9520_CA9D, 0x2C4E_71FF_4DF2_52D1]),
    ];
    for (seed, stream, words) in cases {
        let mut generator = Generator::stream(seed, stream);
        let drawn = words.map(|_| generator.next_u64());
        assert_eq!(drawn, words, "seed {seed}, stream {stream}");
    }
}

/// The documentation says the formula in words too.
#[test]
fn a_stream_starts_at_a_word_of_a_generator_that_the_seed_seeds() {
    let mut starts = Generator::new(Generator::new(42).next_u64());
    for stream in 0..100 {
        assert_eq!(Generator::stream(42, stream), Generator::new(starts.next_u64()));
    }
}

/// A generator can be written down and taken up again, which the C face does at every call.
#[test]
fn the_state_is_the_whole_generator() {
    let mut generator = Generator::stream(5, 6);
    generator.next_u64();
    let mut resumed = Generator::new(generator.state());
    assert_eq!(resumed.next_u64(), generator.next_u64());
}

/// rand_core leaves these choices to the generator; they are part of what is stable here.
#[test]
fn the_rand_core_traits_give_high_halves_and_little_endian_octets() {
    let mut generator = Generator::seed_from_u64(0);
    assert_eq!(Rng::next_u64(&mut generator), 0xE220_A839_7B1D_CDAF);
    assert_eq!(Rng::next_u32(&mut generator), 0x6E78_9E6A);
    let mut octets = [0; 11];
    generator.fill_bytes(&mut octets);
    assert_eq!(octets, [0x4F, 0x45, 0x09, 0x80, 0x18, 0x5D, 0xC4, 0x06, 0xEC, 0x81, 0x4C]);
    assert_eq!(Generator::from_seed([1, 0, 0, 0, 0, 0, 0, 2]), Generator::new(0x0200_0000_0000_0001));
}

/// How a station's id becomes its generator.
type Numbering = fn(u64) -> Generator;

/// Ids 1, 2, 3 … fed raw to a small generator make neighbours choose the same slot up to 8.7 times too
/// often. Here every way to number stations is within 5 standard deviations of chance, at the 1st collision (where
/// chance is 1/2) as at the 10th (1/1024).
#[test]
fn neighbours_share_slots_no_more_often_than_chance() {
    const SEED: u64 = 802;
    let numberings: [(&str, Numbering); 3] = [
        ("streams of one seed", |id| Generator::stream(SEED, id)),
        ("one stream of neighbouring seeds", |id| Generator::stream(id, SEED)),
        ("seeds alone", Generator::new),
    ];
    for (name, generator) in numberings {
        for distance in [1, 2, 3, 16] {
            for collisions in [1, 10] {
                let deviation = shared_slots(generator, distance, collisions);
                assert!(
                    deviation.abs() < 5.0,
                    "{name}, seed {SEED}: stations {distance} apart share slots {deviation:.1} standard deviations \
                     too often after collision {collisions}"
                );
            }
        }
    }
}

/// How many standard deviations too often stations `distance` apart choose one slot, after that many collisions:
/// 10,000 pairs, 32 draws each.
fn shared_slots(generator: Numbering, distance: u64, collisions: u32) -> f64 {
    const PAIRS: u64 = 10_000;
    const DRAWS: u64 = 32;
    let mut shared = 0;
    for id in 1..=PAIRS {
        let (mut one, mut other) = (generator(id), generator(id + distance));
        for _ in 0..DRAWS {
            let slots = slots_after(collisions, &mut one);
            shared += u32::from(slots == slots_after(collisions, &mut other));
        }
    }
    let (pairs, chance) = ((PAIRS * DRAWS) as f64, 0.5_f64.powi(collisions as i32));
    (f64::from(shared) - pairs * chance) / (pairs * chance * (1.0 - chance)).sqrt()
}

/// The delay after that collision of a frame.
fn slots_after(collisions: u32, generator: &mut Generator) -> Option<u64> {
    Backoff::after(Limits::IEEE_802_3, collisions - 1).collide_with(generator)
}

/// Chi-square over the 1024 slots of the 10th collision, 100 expected in each: 1023 ± 5 standard deviations of 45.2.
/// Too even a spread would be as wrong as too uneven a one.
#[test]
fn the_slots_of_one_stream_are_as_uniform_as_chance() {
    const SEED: u64 = 4;
    const EXPECTED: u32 = 100;
    for stream in 1..=8 {
        let mut generator = Generator::stream(SEED, stream);
        let mut counts = [0_u32; 1024];
        for _ in 0..1024 * EXPECTED {
            let slots = slots_after(10, &mut generator);
            counts[slots.expect("below attemptLimit") as usize] += 1;
        }
        let squares: u64 = counts.iter().map(|&count| u64::from(count.abs_diff(EXPECTED)).pow(2)).sum();
        let chi_square = squares as f64 / f64::from(EXPECTED);
        assert!((797.0..1249.0).contains(&chi_square), "seed {SEED}, stream {stream}: {chi_square}");
    }
}

/// A station and an operation of one run with one number draw different words, and no two of 2,000 states meet.
#[test]
fn stations_and_operations_are_apart() {
    let states: std::collections::BTreeSet<u64> = (0..1000)
        .flat_map(|stream| [Generator::stream(42, stream).state(), Generator::operation(42, stream).state()])
        .collect();
    assert_eq!(states.len(), 2000);
    // The second word of the run's generator seeds the operations.
    let mut run = Generator::new(42);
    run.next_u64();
    let mut words = Generator::new(run.next_u64());
    (0..7).for_each(|_| {
        words.next_u64();
    });
    assert_eq!(Generator::operation(42, 7).state(), words.next_u64());
}
