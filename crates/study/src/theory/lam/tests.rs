use super::*;

fn channel(stations: u32, load: f64, retransmit: u32) -> Channel {
    Channel::new(Population::Finite(stations), load, retransmit, 0).expect("a channel")
}

/// The whole matrix of the chain, by counting who sends: an opinion of its own.
fn matrix(channel: &Channel, stations: usize) -> Vec<Vec<f64>> {
    let binomial = |n: usize, k: usize, p: f64| {
        let ways = (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
        ways * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)
    };
    let (s, p) = (channel.arrival_probability(), channel.retransmission_probability());
    let mut matrix = vec![vec![0.0; stations + 1]; stations + 1];
    for (n, row) in matrix.iter_mut().enumerate() {
        for new in 0..=stations - n {
            for again in 0..=n {
                let to = if new == 0 && again == 1 {
                    n - 1
                } else if new == 1 && again == 0 {
                    n
                } else {
                    n + new
                };
                row[to] += binomial(stations - n, new, s) * binomial(n, again, p);
            }
        }
    }
    matrix
}

/// Solves `a x = b` with nalgebra's LU decomposition.
fn solve(a: &[Vec<f64>], b: Vec<f64>) -> Vec<f64> {
    let size = b.len();
    let matrix = nalgebra::DMatrix::from_fn(size, size, |row, column| a[row][column]);
    matrix.lu().solve(&nalgebra::DVector::from_vec(b)).expect("not singular").iter().copied().collect()
}

/// Kleinrock and Lam 1975 and its use in the literature: N = 400, S = 0.32. K = 10 has three equilibria and leaves the first
/// within some hundred slots; K = 200 is stable, with a delay near 67 slots.
#[test]
fn lams_example_comes_out() {
    let short = channel(400, 0.32, 10);
    let equilibria = short.equilibria();
    assert_eq!(equilibria.backlogs.len(), 3, "{equilibria:?}");
    assert!(!equilibria.stable);
    let exit = short.first_exit_time_slots().expect("it leaves");
    assert!((100.0..1000.0).contains(&exit), "{exit}");
    assert_eq!(short.steady(), None, "an unstable channel has no mean delay");

    let long = channel(400, 0.32, 200);
    assert!(long.equilibria().stable);
    let steady = long.steady().expect("stable");
    assert!((steady.mean_delay_slots - 67.0).abs() < 0.5, "{steady:?}");
    assert!((steady.throughput - 0.3039).abs() < 1e-4, "{steady:?}");
    assert_eq!(long.first_exit_time_slots(), None);
}

/// With the satellite's R = 12 slots, K = 10 holds out longer: the mean time until a packet comes again is 17.5 slots.
#[test]
fn an_acknowledgement_that_takes_longer_delays_the_exit() {
    let satellite = Channel::new(Population::Finite(400), 0.32, 10, 12).expect("a channel");
    assert!((satellite.retransmission_probability() - 1.0 / 17.5).abs() < 1e-15);
    let exit = satellite.first_exit_time_slots().expect("it leaves");
    assert!(exit > 10_000.0 && exit < 20_000.0, "{exit}");
}

/// The rows of the chain against counting, and both solutions against a general linear solver.
#[test]
fn the_chain_agrees_with_a_general_solver() {
    for (stations, load, retransmit) in [(1, 0.5, 3), (2, 0.9, 2), (12, 0.3, 20), (30, 0.25, 60)] {
        let channel = channel(stations, load, retransmit);
        let size = stations as usize + 1;
        let p = matrix(&channel, stations as usize);
        // pi (P - 1) = 0 and sum pi = 1: the last equation in place of a redundant one.
        let mut a: Vec<Vec<f64>> =
            (0..size).map(|to| (0..size).map(|from| p[from][to] - f64::from(u8::from(from == to))).collect()).collect();
        a[size - 1] = vec![1.0; size];
        let mut b = vec![0.0; size];
        b[size - 1] = 1.0;
        let expected = solve(&a, b);
        let stationary = Chain::new(&channel, stations).stationary().expect("a chain");
        for (n, (got, expected)) in stationary.iter().zip(&expected).enumerate() {
            assert!((got - expected).abs() < 1e-12, "N = {stations}, backlog {n}: {got}, {expected}");
        }
        if stations == 1 {
            continue; // never blocked, and never leaves
        }
        // (1 - P) t = 1 within 0 to `last`.
        let last = size / 2;
        let a: Vec<Vec<f64>> = (0..=last)
            .map(|from| (0..=last).map(|to| f64::from(u8::from(from == to)) - p[from][to]).collect())
            .collect();
        let expected = solve(&a, vec![1.0; last + 1])[0];
        let exit = Chain::new(&channel, last as u32).first_exit();
        // The general solver loses as many digits as the time has.
        assert!((exit / expected - 1.0).abs() < 1e-14 * exit.max(100.0), "N = {stations}: {exit}, {expected}");
    }
}

/// In the long run as many packets go in as come out, at 400 stations too.
#[test]
fn input_and_output_balance() {
    let channel = channel(400, 0.32, 200);
    let stationary = Chain::new(&channel, 400).stationary().expect("a chain");
    let mean = |f: &dyn Fn(f64) -> f64| stationary.iter().enumerate().map(|(n, part)| part * f(n as f64)).sum::<f64>();
    let (input, output) = (mean(&|n| channel.input(n)), mean(&|n| channel.output(n)));
    assert!((input - output).abs() < 1e-12, "{input}, {output}");
}

/// Lam's corollary and his third result: K(N, s) makes a channel stable, every larger K too, and it grows with N.
#[test]
fn the_smallest_stable_k_is_a_boundary() {
    let mut last = 0;
    for stations in [50, 100, 200, 400] {
        let k = channel(stations, 0.32, 1).smallest_stable_k().expect("there is one");
        for larger in k..k + 50 {
            assert!(channel(stations, 0.32, larger).usable(), "N = {stations}, K = {larger}");
        }
        for smaller in 1..k {
            assert!(!channel(stations, 0.32, smaller).usable(), "N = {stations}, K = {smaller}");
        }
        assert!(k > last);
        last = k;
        let most = channel(2, 0.32, k).largest_stable_n().expect("there is one");
        assert!(most >= stations, "K = {k} holds {stations} stations, and {most} at most");
        assert!(channel(most, 0.32, k).usable() && !channel(most + 1, 0.32, k).usable());
    }
    assert!((150..=200).contains(&last), "K = 200 is enough for about 400 stations: {last}");
}

#[test]
fn an_infinite_population_is_never_stable() {
    for retransmit in [10, 60, 200] {
        let channel = Channel::new(Population::Infinite, 0.2, retransmit, 0).expect("a channel");
        let equilibria = channel.equilibria();
        assert_eq!(equilibria.backlogs.len(), 2, "{equilibria:?}");
        assert!(!equilibria.stable && !equilibria.overloaded);
        assert!(channel.first_exit_time_slots().is_some_and(|time| time > 1.0));
        assert_eq!((channel.steady(), channel.smallest_stable_k()), (None, None));
    }
    let lost = Channel::new(Population::Infinite, 0.4, 200, 0).expect("a channel");
    assert!(lost.equilibria().backlogs.is_empty() && lost.equilibria().overloaded);
    assert_eq!(lost.first_exit_time_slots(), None);
}

/// A user alone succeeds at once, whatever K.
#[test]
fn one_user_never_waits() {
    let steady = channel(1, 0.7, 5).steady().expect("stable");
    assert_eq!(steady, Steady { throughput: 0.7, mean_backlog: 0.0, mean_delay_slots: 1.0 });
    assert_eq!(channel(1, 1.0, 5).steady().expect("stable").throughput, 1.0);
}

/// Exit times that no general solver holds: each K lasts far longer than the one before, without noise.
#[test]
fn long_exit_times_keep_their_digits() {
    let mut last = 1.0_f64;
    for retransmit in [10, 20, 40, 80, 120, 140] {
        let exit = channel(400, 0.32, retransmit).first_exit_time_slots().expect("it leaves");
        assert!(exit > 5.0 * last, "K = {retransmit}: {exit}");
        last = exit;
    }
    assert!(last > 1e16, "{last}");
}

#[test]
fn what_cannot_be_is_refused_and_what_does_not_exist_is_no_number() {
    for (stations, load, retransmit) in
        [(0, 0.3, 10), (400, 0.0, 10), (400, 1.1, 10), (400, 0.3, 0), (400, f64::NAN, 10)]
    {
        assert!(Channel::new(Population::Finite(stations), load, retransmit, 0).is_err());
    }
    let answer = channel(400, 0.32, 10).answer();
    for key in ["throughput", "mean_backlog", "mean_delay_slots"] {
        assert!(matches!(answer.value(key), Some(Value::None(why)) if why.contains("K = ")), "{key}");
    }
    assert!(matches!(answer.value("first_exit_time_slots"), Some(Value::Number(_))));
    assert!(matches!(channel(400, 0.32, 200).answer().value("first_exit_time_slots"), Some(Value::None(_))));
}
