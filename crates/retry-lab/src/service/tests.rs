use super::*;

fn settings(options: &[(&str, &str)], policy: &str) -> Settings {
    let option = |(name, text): &(&str, &str)| (keys::key(name).expect("a key").name, (*text).to_owned());
    let options: Vec<_> = options.iter().map(option).collect();
    Settings::read(None, &options, &[policy.to_owned()]).expect("a policy")
}

fn run(options: &[(&str, &str)], policy: &str) -> Outcome {
    let settings = settings(options, policy);
    settings.service().expect("a service").run(&settings.policies[0]).expect("a run")
}

/// Each run asserts that operations and requests are conserved; here with every option, and all of them at once.
#[test]
fn nothing_is_lost_and_nothing_is_made() {
    let plain = [("capacity", "100/s"), ("duration", "60s"), ("warm-up", "5s"), ("dip", "10s,5s,0")];
    let options = [
        [("load", "150/s")],
        [("think", "500ms")],
        [("timeout", "200ms")],
        [("lost", "20%")],
        [("keys", "10%")],
        [("retry-after", "3s")],
        [("refusal", "403")],
        [("quota", "2/s")],
        [("rate", "1/s")],
        [("budget", "bucket:3,10%")],
        [("budget", "finagle:20%,1/s,10s")],
        [("budget", "envoy")],
        [("budget", "aws")],
        [("budget", "grpc")],
        [("breaker", "3,5s")],
        [("breaker", "50%/10s,5s")],
        [("class", "cheat:20:100:constant:50ms")],
        [("queue", "0")],
        [("work", "exponential")],
    ];
    for policy in ["full-jitter:100ms,20s", "google-http", "google-drive", "sip-e", "exponential:1s/elapsed=12s"] {
        for option in &options {
            let all = [&plain[..], option].concat();
            let outcome = run(&all, policy);
            assert_eq!(outcome, run(&all, policy), "the same seed gives the same run");
            assert_eq!(outcome.requests_over_time.iter().sum::<u64>(), outcome.counts.requests, "{option:?}");
            assert_eq!(outcome.served_over_time.iter().sum::<u64>(), outcome.counts.served, "{option:?}");
        }
        run(&[&plain[..], &options.concat()[2..]].concat(), policy);
    }
}

/// Mean time in an M/D/1 and an M/M/1 system: (1/μ)(1 + ρ/(2(1 − ρ))) and 1/(μ − λ) (Pollaczek 1930, Khinchine 1932).
#[test]
fn waiting_is_that_of_pollaczek_and_khinchine() {
    for (work, expected) in [("constant", 0.01 * (1.0 + 0.7 / 0.6)), ("exponential", 1.0 / 30.0)] {
        let options = [
            ("capacity", "100/s"),
            ("load", "70/s"),
            ("timeout", "none"),
            ("queue", "100000"),
            ("work", work),
            ("duration", "3000s"),
        ];
        let outcome = run(&options, "constant:1s");
        let mean = outcome.measured.mean_delay_s.expect("some were served");
        let half = outcome.ci95.expect("steady").mean_delay_s.expect("batches");
        assert!((mean - expected).abs() < 2.0 * half && half < 0.1 * expected, "{work}: {mean} ± {half}, {expected}");
        assert_eq!(outcome.counts.served + outcome.pending_at_end, outcome.counts.requests);
    }
}

/// The machine-repairman model without a queue that matters: N clients give at most N / (Z + 1/μ), and at most μ.
#[test]
fn a_closed_loop_is_bounded_by_clients_and_by_capacity() {
    for (clients, goodput) in [("10", 10.0 / 1.01), ("400", 100.0)] {
        let options =
            [("capacity", "100/s"), ("think", "1s"), ("clients", clients), ("timeout", "none"), ("duration", "500s")];
        let found = run(&options, "constant:1s").measured.goodput_per_s.expect("a goodput");
        assert!(found <= 1.01 * goodput && found > 0.93 * goodput, "{clients} clients: {found}, bound {goodput}");
    }
}

const OUTAGE: [(&str, &str); 4] =
    [("capacity", "200/s"), ("dip", "30s,10s,10%"), ("duration", "150s"), ("warm-up", "5s")];

/// The trigger is over after 10 s, and without bounds the overload stays: 160 operations, four requests each, on 200.
#[test]
fn an_overload_outlives_its_trigger_and_a_budget_ends_it() {
    let outcome = run(&OUTAGE, "constant:1s/attempts=4");
    assert!(
        matches!(outcome.verdict, Some(Verdict::Metastable { goodput_fraction }) if goodput_fraction < 0.05),
        "{:?}",
        outcome.verdict
    );
    for cure in [("budget", "bucket:1,10%"), ("budget", "grpc"), ("queue", "100"), ("load", "40/s")] {
        let outcome = run(&[&OUTAGE[..], &[cure]].concat(), "constant:1s/attempts=4");
        assert!(matches!(outcome.verdict, Some(Verdict::Recovered { .. })), "{cure:?}: {:?}", outcome.verdict);
    }
}

/// The recursion and runs agree within 5 % on the dip that tips the service, of several loads, policies and budgets.
#[test]
fn what_tips_a_service_is_predicted() {
    let several: [(&[(&str, &str)], &str); 4] = [
        (&[("load", "800/s"), ("dip", "30s,10s,10%")], "constant:1s/attempts=4"),
        (&[("load", "600/s"), ("dip", "30s,10s,0")], "full-jitter:1s,10s/attempts=5"),
        (&[("load", "700/s"), ("dip", "30s,10s,30%")], "exponential:500ms/attempts=4"),
        (
            &[("load", "800/s"), ("dip", "30s,10s,10%"), ("clients", "10"), ("budget", "bucket:200,30%")],
            "constant:1s/attempts=4",
        ),
    ];
    for (options, policy) in several {
        let options = [&[("capacity", "1000/s"), ("duration", "100s"), ("warm-up", "5s")], options].concat();
        let settings = settings(&options, policy);
        let tip = settings.service().expect("a service").tip(&settings.policies[0], 3).expect("runs");
        let difference = tip.difference.unwrap_or_else(|| panic!("{options:?} {policy}: {tip:?}"));
        assert!(difference.abs() < 0.05, "{options:?} {policy}: {tip:?}");
    }
}

/// Answers that get lost are asked for again: without keys the service does the work twice, with keys it hardly works for them.
#[test]
fn keys_save_the_work_of_what_was_done() {
    let plain = [("load", "80/s"), ("capacity", "100/s"), ("lost", "20%"), ("timeout", "1s"), ("duration", "300s")];
    let without = run(&plain, "constant:1s");
    let with = run(&[&plain[..], &[("keys", "1%")]].concat(), "constant:1s");
    assert!(without.counts.repeated > 3_000 && with.counts.repeated > 3_000, "both are asked again");
    let (twice, once) = (without.measured.mean_delay_s, with.measured.mean_delay_s);
    assert!(twice > once, "load of 100 % against 80 %: {twice:?} {once:?}");
}

/// Cheats that hardly wait take more than their share; a quota gives it back to the others.
#[test]
fn a_quota_bounds_clients_that_cheat() {
    let plain = [
        ("think", "10ms"),
        ("clients", "100"),
        ("capacity", "100/s"),
        ("queue", "5"),
        ("class", "cheat:10:100:constant:5ms"),
        ("duration", "200s"),
    ];
    let share = |outcome: &Outcome| outcome.classes[0].share_of_served;
    let free = run(&plain, "full-jitter:1s,20s");
    let bound = run(&[&plain[..], &[("quota", "1/s")]].concat(), "full-jitter:1s,20s");
    assert!(share(&free) > 0.5 && share(&bound) < 0.2, "{:?} {:?}", free.classes, bound.classes);
    assert!(bound.fairness > free.fairness + 0.2, "{} {}", free.fairness, bound.fairness);
    assert!(bound.counts.refused_quota > 0);
}

/// The emergency calls of seed 000: a lower delay gets them through an overload sooner.
#[test]
fn a_class_with_priority_waits_less() {
    let options =
        [("load", "150/s"), ("capacity", "100/s"), ("queue", "5"), ("class", "emergency:10:10"), ("duration", "100s")];
    let outcome = run(&options, "full-jitter:1s,20s/attempts=6");
    assert!(outcome.classes[0].p99_delay_s < outcome.classes[1].p99_delay_s, "{:?}", outcome.classes);
}

/// A breaker that is open makes no requests; 429 and 403 go to policies that retry only 5xx.
#[test]
fn breakers_and_classifiers_stop_requests() {
    let plain = [("load", "300/s"), ("capacity", "100/s"), ("queue", "20"), ("duration", "100s")];
    let all = run(&plain, "constant:1s/attempts=5");
    let broken = run(&[&plain[..], &[("breaker", "5,10s")]].concat(), "constant:1s/attempts=5");
    assert!(broken.counts.gave_up_breaker > 0 && broken.counts.requests < all.counts.requests / 2);
    let refused = run(&plain, "google-drive");
    assert!(refused.counts.gave_up_answer > 0 && refused.counts.gave_up_attempts == 0, "503 is not 403");
    let retried = run(&[&plain[..], &[("refusal", "403")]].concat(), "google-drive");
    assert_eq!(retried.counts.gave_up_answer, 0);
}

/// Clients that were refused at once come back at once: waves of a policy without jitter, which jitter damps.
#[test]
fn waves_are_seen_and_damped_by_jitter() {
    let plain = [
        ("think", "1ms"),
        ("clients", "3000"),
        ("capacity", "100/s"),
        ("queue", "20"),
        ("dip", "20s,5s,0"),
        ("duration", "300s"),
        ("warm-up", "0s"),
    ];
    let waves = run(&plain, "constant:10s").oscillation.expect("waves");
    assert!((9.0..=11.0).contains(&waves.period_s), "{waves:?}");
    let damped = run(&plain, "full-jitter:10s,20s").oscillation;
    assert!(damped.is_none_or(|it| it.amplitude < waves.amplitude / 2.0), "{damped:?} {waves:?}");
}

#[test]
fn tables_are_at_most_80_characters_wide() {
    let policies = ["full-jitter:100ms,20s", "constant:1s/attempts=4", "sip-e"];
    let options = [&OUTAGE[..], &[("class", "emergency:10:25")]].concat();
    let runs = policies.map(|policy| run(&options, policy)).into();
    let table = Comparison::new(&settings(&options, "sip-e").service().expect("a service"), runs).table();
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

/// The page has the table of settings from here; `BLESS=1 cargo test -p ethbus-retry-lab --lib service` rewrites it.
#[test]
fn the_page_has_every_setting() {
    const BEGIN: &str = "From the table of settings: BLESS=1 cargo test -p ethbus-retry-lab --lib service -->\n";
    const END: &str = "<!-- As far as this. -->\n";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/retry.md");
    let page = std::fs::read_to_string(&path).expect("a file of the source tree");
    let (before, rest) = page.split_once(BEGIN).expect("the line after which they come");
    let (_, after) = rest.split_once(END).expect("the line before which they end");
    let row = |key: &keys::Key| {
        let default = if key.default.is_empty() { String::new() } else { format!("`{}`", key.default) };
        let text = [key.help, key.more].join(". ");
        let text = text.trim_end_matches([' ', '.']).replace('|', "\\|");
        format!("| `--{} {}` | {default} | {text} |\n", key.name, key.value)
    };
    let rows: String = keys::KEYS.iter().map(row).collect();
    let now = format!("{before}{BEGIN}| setting | default | meaning |\n|---|---|---|\n{rows}{END}{after}");
    match std::env::var_os("BLESS") {
        Some(_) => std::fs::write(&path, &now).expect("a file of the source tree"),
        None => assert_eq!(now, page),
    }
}
