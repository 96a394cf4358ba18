//! The rules of results for any events on the medium (docs/results.md; 802.3 clause 30.3).

use serde_json::Value;

/// A counter of a station, or another whole number.
#[track_caller]
pub fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("`{key}` is no whole number in {value}"))
}

/// A metric.
#[track_caller]
pub fn metric(results: &Value, key: &str) -> f64 {
    results["medium"][key].as_f64().unwrap_or_else(|| panic!("`{key}` is no number in {}", results["medium"]))
}

/// A figure about the emulator itself.
#[track_caller]
pub fn emulator(results: &Value, key: &str) -> u64 {
    number(&results["emulator"], key)
}

/// Whether every frame that was read is finished: none waits, none is being sent, no copy is outstanding.
#[track_caller]
pub fn nothing_is_on_its_way(results: &Value) -> bool {
    emulator(results, "deliveries_pending") + emulator(results, "arrivals_pending") + sum(results, "queued") == 0
}

/// The stations.
#[track_caller]
pub fn stations(results: &Value) -> &[Value] {
    results["stations"].as_array().expect("`stations` is a list")
}

/// One station.
#[track_caller]
pub fn station<'a>(results: &'a Value, name: &str) -> &'a Value {
    let found = stations(results).iter().find(|station| station["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {results}"))
}

/// A counter summed over all stations.
#[track_caller]
pub fn sum(results: &Value, key: &str) -> u64 {
    stations(results).iter().map(|station| number(station, key)).sum()
}

/// How much a counter of a station grew between two results.
#[track_caller]
pub fn grown(before: &Value, after: &Value, name: &str, key: &str) -> u64 {
    number(station(after, name), key) - number(station(before, name), key)
}

/// Everything that must be exactly true in any results.
#[track_caller]
pub fn check(results: &Value) {
    check_schema(results);
    for station in stations(results) {
        check_conservation(station);
        let attempt_limit = number(&results["config"]["medium"]["parameters"], "attempt_limit");
        check_histogram(station, attempt_limit, results["config"]["replications"].as_u64().unwrap_or(1));
    }
    check_medium(results);
}

/// One results schema serves every command (docs/results.md).
#[track_caller]
fn check_schema(results: &Value) {
    let keys: Vec<&str> = results.as_object().expect("an object").keys().map(String::as_str).collect();
    for key in ["version", "config", "seed", "measured_bit_times", "medium", "stations", "emulator"] {
        assert!(keys.contains(&key), "no `{key}` among {keys:?}");
    }
    assert_eq!(results["version"], 1);
    let frames = sum(results, "frames_transmitted_ok");
    let finished = frames + sum(results, "excessive_collisions") + sum(results, "late_collision_discards");
    for key in METRICS {
        let is_of_nothing = match key {
            "fairness" | "same_winner" => frames == 0,
            "attempts_per_frame" | "discard_fraction" => finished == 0,
            "attempts_per_episode" => number(&results["medium"], "collision_episodes") == 0,
            _ => false,
        };
        if is_of_nothing {
            assert!(results["medium"][key].is_null(), "{key} is a mean of nothing: {}", results["medium"]);
        } else {
            metric(results, key);
        }
    }
    for station in stations(results) {
        assert!(station["name"].is_string() && station["attached"].is_boolean(), "{station}");
        COUNTERS.iter().for_each(|key| _ = number(station, key));
    }
    if results["emulator"].is_null() {
        return assert!(results["config"]["duration_s"].is_number(), "only a run in virtual time has no emulator");
    }
    for key in ["deliveries", "lateness_p50_ns", "lateness_p99_ns", "late_arrivals", "ring_drops", "ports_lost"] {
        emulator(results, key);
    }
}

/// STANDARD.md, "Metrics".
const METRICS: [&str; 9] = [
    "utilization_frame",
    "utilization_wire",
    "utilization_total",
    "utilization_payload",
    "attempts_per_frame",
    "discard_fraction",
    "attempts_per_episode",
    "same_winner",
    "fairness",
];

/// STANDARD.md, "Counters".
const COUNTERS: [&str; 18] = [
    "frames_transmitted_ok",
    "single_collision_frames",
    "multiple_collision_frames",
    "deferred_transmissions",
    "late_collisions",
    "excessive_collisions",
    "excessive_deferrals",
    "octets_transmitted_ok",
    "frames_received_ok",
    "octets_received_ok",
    "fcs_errors",
    "alignment_errors",
    "internal_mac_transmit_errors",
    "queue_drops",
    "collisions",
    "fragments_received",
    "attempts",
    "queued",
];

/// offered + queued at the start = transmitted + discarded by cause + queued at the end (STANDARD.md).
#[track_caller]
fn check_conservation(station: &Value) {
    let offered = number(station, "offered") + number(station, "queued_at_start");
    let sent = number(station, "frames_transmitted_ok");
    let causes =
        ["queue_drops", "excessive_collisions", "late_collision_discards", "too_short", "too_long", "detached"];
    let discarded: u64 = causes.iter().map(|cause| number(station, cause)).sum();
    assert_eq!(offered, sent + discarded + number(station, "queued"), "{station}");
}

/// aCollisionFrames counts successful frames by their collisions, so its sum and the frames without a collision make
/// all.
#[track_caller]
fn check_histogram(station: &Value, attempt_limit: u64, runs: u64) {
    let list: Vec<u64> = station["collision_frames"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|count| count.as_u64().expect("whole"))
        .collect();
    assert_eq!(list.len() as u64, attempt_limit - 1, "{station}");
    let sent = number(station, "frames_transmitted_ok");
    let collided: u64 = list.iter().sum();
    let once = list.first().copied().unwrap_or(0);
    assert_eq!(once, number(station, "single_collision_frames"), "{station}");
    assert_eq!(collided - once, number(station, "multiple_collision_frames"), "{station}");
    assert!(collided <= sent, "{station}");
    // Each frame without a collision either was deferred on its first attempt or was not.
    assert!(number(station, "deferred_transmissions") <= sent - collided, "{station}");
    // An attempt ends in success or collision; one may be under way at either end of each run.
    let (attempts, ended) = (number(station, "attempts"), sent + number(station, "collisions"));
    assert!(attempts.abs_diff(ended) <= runs, "{station}");
}

/// The medium's own figures are those of its stations.
#[track_caller]
fn check_medium(results: &Value) {
    let places = results["medium"]["collision_frames"].as_array().expect("a list").len();
    for n in 0..places {
        let of_stations: u64 =
            stations(results).iter().map(|station| station["collision_frames"][n].as_u64().expect("whole")).sum();
        assert_eq!(results["medium"]["collision_frames"][n], of_stations, "after {} collisions", n + 1);
    }
    let [frame, wire, total] =
        ["utilization_frame", "utilization_wire", "utilization_total"].map(|key| metric(results, key));
    assert!(metric(results, "utilization_payload") <= frame && frame <= wire && wire <= total, "{}", results["medium"]);
    // A frame that began before the measurement may end in it.
    let slack = 160.0 + 8.0 * 2_000.0;
    let measured = number(results, "measured_bit_times") as f64;
    assert!(total <= 1.0 + slack / measured, "more than the medium carries: {total}");
    let fairness = results["medium"]["fairness"].as_f64().unwrap_or(1.0);
    assert!((0.0..=1.0).contains(&fairness), "{}", results["medium"]);
    let counts = |key: &str| -> Vec<u64> {
        let list = results["medium"][key].as_array().expect("a list");
        list.iter().map(|count| count.as_u64().expect("whole")).collect()
    };
    let multiplicity: u64 = counts("collision_multiplicity").iter().sum();
    assert_eq!(multiplicity, number(&results["medium"], "collision_episodes"), "each episode has a multiplicity");
    let attempts: u64 = (1..).zip(counts("collision_multiplicity")).map(|(attempts, count)| attempts * count).sum();
    let mean = results["medium"]["attempts_per_episode"].as_f64().unwrap_or_default();
    assert!((mean * multiplicity as f64 - attempts as f64).abs() <= 1e-9 * attempts as f64, "{mean} in {multiplicity}");
    let successes: u64 = counts("episodes_before_success").iter().sum();
    assert_eq!(successes, sum(results, "frames_transmitted_ok"), "each success comes after some number of episodes");
    let runs = counts("capture_runs");
    let in_runs: u64 = (1..).zip(&runs).map(|(length, count)| length * count).sum();
    // The last of 1,024 places also has longer ones.
    assert!(in_runs == successes || runs.len() == 1_024 && in_runs < successes, "{in_runs} of {successes} in runs");
}
