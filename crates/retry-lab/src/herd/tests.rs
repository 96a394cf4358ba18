use super::*;
use backoff::BudgetLimits;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

fn herd(clients: u32, seed: u64) -> Herd {
    Herd {
        clients,
        outage: 10 * SECOND,
        capacity: 100.0,
        queue: 50,
        spread: 0,
        retry_after: 0,
        budget: None,
        rate: None,
        classes: Vec::new(),
        duration: 600 * SECOND,
        seed,
    }
}

fn run(herd: &Herd, policy: &str) -> Report {
    herd.run(&Named::parse(policy).expect("a policy")).expect("a run")
}

/// Requests and clients are accounted for, whatever the options: every one has exactly one end.
#[test]
fn nothing_is_lost_and_nothing_is_made() {
    for seed in 1..=6 {
        let plain = herd(300, seed);
        let herds = [
            plain.clone(),
            Herd { retry_after: 3 * SECOND, ..plain.clone() },
            Herd { budget: Some(BudgetLimits::new(4)), ..plain.clone() },
            Herd { rate: Some(RateLimits::new(Duration::from_millis(100))), spread: 2 * SECOND, ..plain.clone() },
            Herd { duration: 11 * SECOND, queue: 0, ..plain },
        ];
        for (number, herd) in herds.iter().enumerate() {
            for policy in
                ["full-jitter:100ms,20s", "polling/cap=2s", "google-drive", "sip-e", "exponential:1s/elapsed=12s"]
            {
                let report = run(herd, policy);
                let what = format!("seed {seed}, herd {number}, {policy}: {report:?}");
                let refused = report.refused_during_outage + report.refused_when_full;
                assert_eq!(report.requests, refused + report.served + report.in_service_at_end, "{what}");
                let gave_up =
                    report.gave_up_at_attempt_limit + report.gave_up_at_elapsed_limit + report.gave_up_without_budget;
                assert_eq!(u64::from(herd.clients), report.served + gave_up + report.pending_at_end, "{what}");
                assert_eq!(report.requests_over_time.iter().sum::<u64>(), report.requests, "{what}");
                assert_eq!(report.served_over_time.iter().sum::<u64>(), report.served, "{what}");
                // Work-conserving, and no more than the capacity in any second.
                assert!(report.served_over_time.iter().all(|&served| served <= 101), "{what}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let first = run(&herd(200, 7), "full-jitter:100ms,20s");
    assert_eq!(first, run(&herd(200, 7), "full-jitter:100ms,20s"));
    assert_ne!(first, run(&herd(200, 8), "full-jitter:100ms,20s"));
}

/// Without jitter all come back together, and 51 of 300 find a place; with jitter they come one after another.
#[test]
fn jitter_spreads_what_would_come_at_once() {
    let (none, full) = (run(&herd(300, 1), "polling/cap=5s"), run(&herd(300, 1), "full-jitter:100ms,5s"));
    assert_eq!(none.peak_after_outage_per_s, 300);
    assert_eq!(none.served_over_time[11], 51);
    assert!(full.peak_after_outage_per_s < 150, "{full:?}");
    assert!(full.recovered_all_s < none.recovered_all_s, "{full:?} {none:?}");
}

/// One client, worked out by hand: it asks at 0 s, 1.001 s, 3.002 s, 7.003 s and 15.004 s, and is served 10 ms later.
#[test]
fn one_client_is_worked_out_by_hand() {
    let report = run(&herd(1, 1), "exponential:1s");
    assert_eq!((report.requests, report.refused_during_outage, report.served), (5, 4, 1));
    assert!((report.p99_delay_s.expect("served") - 15.014).abs() < 1e-9, "{report:?}");
    assert!((report.recovered_all_s.expect("served") - 5.014).abs() < 1e-9, "{report:?}");
}

#[test]
fn a_budget_bounds_the_requests() {
    let limited = Herd { budget: Some(BudgetLimits::new(3)), ..herd(100, 1) };
    let report = run(&limited, "constant:1s");
    assert_eq!((report.requests, report.gave_up_without_budget, report.served), (400, 100, 0));
}

/// A hint moves every delay: during an outage of 10 s a client asks at 0 s and then 4 s later or more.
#[test]
fn retry_after_thins_the_requests() {
    let hinted = Herd { retry_after: 4 * SECOND, ..herd(100, 1) };
    let (plain, report) = (run(&herd(100, 1), "full-jitter:100ms,1s"), run(&hinted, "full-jitter:100ms,1s"));
    assert!(report.refused_during_outage <= 300 && report.refused_during_outage < plain.refused_during_outage);
}

/// The rate falls with each refusal and recovers slowly: fewer requests than without.
#[test]
fn rate_limiting_thins_the_requests() {
    let limits = RateLimits::new(Duration::from_secs(1)).with_cooling_off(Duration::from_secs(5));
    let limited = Herd { rate: Some(limits), ..herd(100, 1) };
    let (plain, report) = (run(&herd(100, 1), "constant:500ms"), run(&limited, "constant:500ms"));
    assert!(report.requests < plain.requests / 2, "{} {}", report.requests, plain.requests);
    assert_eq!(report.served, 100);
}

/// Emergency calls back off less, and get through sooner.
#[test]
fn a_priority_class_gets_through_sooner() {
    let emergency = Class { name: "emergency".to_owned(), percent: 10, priority: 25, policy: None };
    let herd = Herd { classes: vec![emergency], ..herd(1000, 1) };
    let report = run(&herd, "full-jitter:1s,30s");
    let [urgent, others] = report.classes.as_slice() else { panic!("two classes") };
    assert_eq!(urgent.clients + others.clients, 1000);
    assert_eq!((urgent.percent, others.percent), (10, 90), "shares as they were written");
    assert!((95..=105).contains(&urgent.clients), "{urgent:?}");
    assert!(urgent.mean_delay_s < others.mean_delay_s, "{urgent:?} {others:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let plain = herd(10, 1);
    let policy = Named::parse("sip-e").expect("a policy");
    let class = |percent| Class { name: "some".to_owned(), percent, priority: 50, policy: None };
    for herd in [
        Herd { clients: 0, ..plain.clone() },
        Herd { capacity: 0.0, ..plain.clone() },
        Herd { capacity: f64::NAN, ..plain.clone() },
        Herd { duration: 5 * SECOND, ..plain.clone() },
        Herd { classes: vec![class(60), class(60)], ..plain.clone() },
    ] {
        assert!(herd.run(&policy).is_err());
    }
}

#[test]
fn tables_are_at_most_80_characters_wide() {
    let herd = herd(100, 1);
    let policies = ["full-jitter:100ms,20s", "google-http", "sip-e", "polling/cap=5s", "google-drive"];
    let table = Comparison::new(&herd, policies.map(|policy| run(&herd, policy)).into()).table();
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}
