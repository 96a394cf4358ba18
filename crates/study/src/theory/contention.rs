//! Contention on Ethernet in a sentence each: the efficiency of Metcalfe and Boggs, and the textbook's capture effect.

use super::{Answer, Refusal, Value};

/// The chance A that exactly one of Q stations sends in a slot if each does with the chance 1/Q.
///
/// # Errors
/// No stations.
pub fn acquisition(stations: u32) -> Result<f64, Refusal> {
    if stations == 0 {
        return Err(Refusal::new("--stations 0", "there is nobody to send", "the smallest number is 1"));
    }
    let q = f64::from(stations);
    Ok((1.0 - 1.0 / q).powf(q - 1.0))
}

/// W, the mean number of slots lost before a packet: (1 - A) / A.
///
/// # Errors
/// No stations.
pub fn slots_lost(stations: u32) -> Result<f64, Refusal> {
    let acquired = acquisition(stations)?;
    Ok((1.0 - acquired) / acquired)
}

/// E, the part of the time that packets of `bits` take where a slot has `slot_bits`: (P/C) / (P/C + W T).
///
/// # Errors
/// No stations; a packet or a slot that has no length.
pub fn efficiency(stations: u32, bits: f64, slot_bits: f64) -> Result<f64, Refusal> {
    for (option, length) in [("--packet", bits), ("--slot", slot_bits)] {
        if !(length > 0.0 && length.is_finite()) {
            return Err(Refusal::new(format!("{option} {length}"), "it is a length in bits", "it has to be above 0"));
        }
    }
    Ok(bits / (bits + slots_lost(stations)? * slot_bits))
}

/// What `ethbus theory metcalfe-boggs` prints.
///
/// # Errors
/// As [`efficiency`].
pub fn metcalfe_boggs(stations: u32, bits: f64, slot_bits: f64) -> Result<Answer, Refusal> {
    let source = "Metcalfe and Boggs, Ethernet: Distributed Packet Switching for Local Computer Networks, CACM 19 (7), \
        1976, section 6: A = (1 - 1/Q)^(Q - 1), W = (1 - A)/A, E = (P/C) / (P/C + W T)";
    let holds = "each of Q stations always has a packet, knows Q, and sends in a slot with the chance 1/Q. Binary \
        exponential backoff does not know Q, and a sender that has just won tries again at once: see `ethbus theory check`";
    Ok(Answer::new("metcalfe-boggs", source, holds)
        .with("stations", "Q", Value::Count(stations.into()))
        .with("packet_bits", "P", Value::Number(bits))
        .with("slot_bits", "T C", Value::Number(slot_bits))
        .with("acquisition_probability", "A, one sender in a slot", Value::Number(acquisition(stations)?))
        .with("slots_lost", "W, mean slots lost before a packet", Value::Number(slots_lost(stations)?))
        .with(
            "efficiency",
            "E, the part of the time that packets take",
            Value::Number(efficiency(stations, bits, slot_bits)?),
        ))
}

/// The chance that A, whose frame has collided once, draws less than B, whose frame has collided `collisions` times.
///
/// Below 2^n values of B, A's 0 and 1 win 2 (M - 1) - 1 of 2 M pairs: 1 - 3/(2 M), M = 2^min(n, 10).
///
/// # Errors
/// Fewer than one collision: then B does not draw. More than 15: the 16th discards B's frame.
pub fn first_draw(collisions: u32) -> Result<f64, Refusal> {
    match collisions {
        0 => Err(Refusal::new("--collisions 0", "B has no delay to draw", "the smallest number is 1")),
        1 => Ok(0.25),
        2..=15 => Ok(1.0 - 3.0 / f64::from(2_u32 << collisions.min(10))),
        _ => {
            let because = "the 16th collision discards the frame";
            Err(Refusal::new(format!("--collisions {collisions}"), because, "the largest number is 15"))
        }
    }
}

/// What `ethbus theory capture` prints.
///
/// # Errors
/// As [`first_draw`].
pub fn capture(collisions: Option<u32>) -> Result<Answer, Refusal> {
    let source = "Peterson and Davie, Computer Networks, exercises of chapter 2: 5/8, 13/16; IEEE 802.3, 4.2.3.2.5. Races \
        with equal draws drawn again: a Markov chain (`ethbus theory two-stations`)";
    let holds = "two saturated stations in one place. A has won and its next frame has collided once, so that A draws from \
        0 and 1; B's frame has collided n times";
    let answer = Answer::new("capture", source, holds);
    let answer = match collisions {
        Some(n) => answer.with("collisions", "n, of B's frame", Value::Count(n.into())).with(
            "first_draw",
            "A draws less than B",
            Value::Number(first_draw(n)?),
        ),
        None => answer,
    };
    let races = super::two_stations::Chain::stationary().streaks(15);
    let rows = (2..=15_u32)
        .map(|n| {
            let race = races.get(n as usize - 2).copied();
            Ok(vec![Some(f64::from(n)), Some(first_draw(n)?), Some(f64::from(n - 1)), race])
        })
        .collect::<Result<Vec<_>, Refusal>>()?;
    let columns = vec!["collisions", "first_draw", "races_won", "next_race"];
    Ok(answer.with(
        "curve",
        "A draws less than B; A wins the next race after so many in a row",
        Value::Curve { columns, rows },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One station loses nothing; two lose a slot for each packet; many come to A = 1/e.
    #[test]
    fn the_efficiency_has_its_known_values() {
        assert_eq!(efficiency(1, 48.0, 48.0), Ok(1.0));
        assert_eq!(efficiency(2, 48.0, 48.0), Ok(0.5));
        let many = efficiency(1_000_000, 48.0, 48.0).expect("stations");
        assert!((many - (-1.0_f64).exp()).abs() < 1e-6);
    }

    /// Their table: 4096, 1024, 512 and 48 bit, 5 and 256 stations, slots of 48 bit, four digits.
    #[test]
    fn the_efficiency_is_that_of_their_table() {
        for (stations, bits, printed) in
            [(5, 4096.0, 0.9834), (5, 48.0, 0.4096), (32, 1024.0, 0.9272), (256, 512.0, 0.8616)]
        {
            let e = efficiency(stations, bits, 48.0).expect("a packet");
            assert!((e - printed).abs() < 0.000_06, "{stations} stations, {bits} bit: {e}");
        }
    }

    /// Peterson and Davie: 5/8 for the second race, 13/16 for the third. And by counting pairs.
    #[test]
    fn the_textbooks_capture_comes_out() {
        assert_eq!((first_draw(2), first_draw(3)), (Ok(5.0 / 8.0), Ok(13.0 / 16.0)));
        for n in 1..=15_u32 {
            let m = 1_u32 << n.min(10);
            let wins = (0..2_u32).flat_map(|a| (0..m).map(move |b| (a, b))).filter(|(a, b)| a < b).count();
            assert_eq!(first_draw(n), Ok(wins as f64 / f64::from(2 * m)), "n = {n}");
        }
        assert!(first_draw(0).is_err() && first_draw(16).is_err());
    }

    #[test]
    fn lengths_of_nothing_are_refused() {
        assert!(efficiency(0, 48.0, 48.0).is_err());
        assert!(efficiency(2, 0.0, 48.0).is_err() && efficiency(2, 48.0, f64::NAN).is_err());
    }
}
