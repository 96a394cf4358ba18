use super::*;

fn dcf(stations: u32, window: u32, stages: u32) -> Dcf {
    Dcf { stations, window, stages }
}

/// Bianchi 2000, table III, frequency hopping and a payload of 8184 bit: T_s and T_c in microseconds.
#[test]
fn times_are_those_of_the_paper() {
    let basic = Phy::Fhss1.times(1023, false);
    assert_eq!((basic.success_us, basic.collision_us, basic.slot_us), (8982.0, 8713.0, 50.0));
    let rts = Phy::Fhss1.times(1023, true);
    assert_eq!((rts.success_us, rts.collision_us), (9568.0, 417.0));
}

/// Bianchi 2000, section V: the largest throughput over tau is near 0.82 without RTS and 0.84 with it, and hardly depends
/// on n: K = sqrt(T_c* / 2) gives it. W = 128, m = 3 comes close for n = 10.
#[test]
fn throughput_is_that_of_the_papers_figures() {
    let (basic, rts) = (Phy::Fhss1.times(1023, false), Phy::Fhss1.times(1023, true));
    let s = |dcf: Dcf, times: &Times| dcf.throughput(times).expect("stations");
    // Figure 6, basic access: W = 32, m = 3 falls from 0.81 at n = 5 to 0.55 at n = 50.
    assert!((s(dcf(5, 32, 3), &basic) - 0.81).abs() < 0.01);
    assert!((s(dcf(10, 32, 3), &basic) - 0.75).abs() < 0.01);
    assert!((s(dcf(50, 32, 3), &basic) - 0.55).abs() < 0.01);
    assert!((s(dcf(10, 128, 3), &basic) - 0.826).abs() < 0.005);
    // Figure 7, RTS/CTS: between 0.82 and 0.84 for every n.
    for stations in [5, 10, 20, 50] {
        assert!((s(dcf(stations, 32, 3), &rts) - 0.83).abs() < 0.01, "{stations} stations");
    }
}

/// The largest S over all tau, equation 28: tau = 1 / (n sqrt(T_c* / 2)), reached within 1e-4 by the best tau.
#[test]
fn no_window_beats_the_best_tau() {
    let times = Phy::Fhss1.times(1023, false);
    let n = 10.0_f64;
    let s = |tau: f64| {
        let (some, one) = (1.0 - (1.0 - tau).powf(n), n * tau * (1.0 - tau).powf(n - 1.0));
        one * times.payload_us
            / ((1.0 - some) * times.slot_us + one * times.success_us + (some - one) * times.collision_us)
    };
    let best = s(crate::theory::roots::highest(1e-6, 1.0, s));
    let approximate = s(1.0 / (n * (times.collision_us / times.slot_us / 2.0).sqrt()));
    assert!(best - approximate < 1e-3 && best > approximate, "{best} {approximate}");
    for window in [8, 32, 128, 300, 1024] {
        assert!(dcf(10, window, 3).throughput(&times).expect("stations") <= best);
    }
}

/// A table of another implementation of the model, ns-3's wifi-bianchi (payload 1500 octets with 36 of headers, DIFS after
/// a collision): ofdm and dsss within 2 %; that one refines the slot after a busy period.
#[test]
fn another_implementation_agrees() {
    for (phy, stations, mbps) in [
        (Phy::Ofdm(6), 5, 4.7087),
        (Phy::Ofdm(6), 50, 3.5071),
        (Phy::Ofdm(12), 10, 8.2901),
        (Phy::Ofdm(24), 20, 14.0072),
        (Phy::Ofdm(54), 5, 29.8324),
        (Phy::Ofdm(54), 50, 23.5618),
        (Phy::Dsss1, 5, 0.8437),
        (Phy::Dsss1, 50, 0.6336),
    ] {
        let (window, stages) = phy.window_and_stages();
        // Their 36 octets are 8 more than ours: of the LLC, which is payload here.
        let times = phy.times(1508, false);
        let s = dcf(stations, window, stages).throughput(&times).expect("stations");
        let goodput = s * phy.rate_mbps() * 1500.0 / 1508.0;
        assert!((goodput / mbps - 1.0).abs() < 0.025, "{phy}, {stations} stations: {goodput}, {mbps}");
    }
}

/// Equation 8: without doubling tau = 2 / (W + 1). Alone, a station never collides. And both equations hold at the end.
#[test]
fn tau_and_p_agree() {
    let alone = dcf(1, 32, 5).attempts().expect("a station");
    assert_eq!((alone.tau, alone.collision_probability), (2.0 / 33.0, 0.0));
    assert!((dcf(7, 32, 0).attempts().expect("stations").tau - 2.0 / 33.0).abs() < 1e-15);
    for (stations, window, stages) in [(2, 16, 6), (10, 32, 5), (50, 32, 3), (1000, 16, 6), (5, 1, 0), (3, 2, 1)] {
        let dcf = dcf(stations, window, stages);
        let Attempts { tau, collision_probability: p } = dcf.attempts().expect("stations");
        assert!((dcf.tau_of(p) - tau).abs() < 1e-12, "{dcf:?}");
        // Equation 7 as it is printed.
        let (w, m) = (f64::from(window), stages as i32);
        let printed = 2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * (w + 1.0) + p * w * (1.0 - (2.0 * p).powi(m)));
        assert!((printed - tau).abs() < 1e-9, "{dcf:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (stations, window, stages) in [(0, 32, 5), (10, 0, 5), (10, 1 << 17, 0), (10, 32, 12)] {
        assert!(dcf(stations, window, stages).attempts().is_err());
    }
    assert!("ofdm-7".parse::<Phy>().expect_err("no such rate").to_string().contains("ofdm-6"));
    assert_eq!("dsss-11".parse(), Ok(Phy::Dsss11));
    assert!(answer(dcf(10, 32, 5), Phy::Fhss1, 0, false).is_err());
    assert!(answer(dcf(10, 32, 5), Phy::Fhss1, 5000, false).is_err());
    assert!(answer(dcf(10, 32, 5), Phy::Fhss1, 1023, true).is_ok());
}
