//! The segments of `examples/plca/` go wrong as docs/symptoms.md says, and the counters that it names show it.

use sim::figures::results::{Results, StationResults};
use sim::run::measure::{results, run};
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plca").join(format!("{name}.toml"))
}

/// What a scenario comes to, and what was said of it before.
fn of(name: &str) -> (Results, Vec<String>) {
    let plan = Plan::read(Some(&path(name)), &Overrides::default(), 1).expect(name);
    let measured = run(&plan, 1, &mut (), |_| true).expect(name);
    let results = results(&plan, std::slice::from_ref(&measured));
    assert!(results.stations.iter().all(StationResults::adds_up), "{name}");
    (results, plan.warnings)
}

fn counter(results: &Results, station: usize, name: &str) -> u64 {
    results.stations[station].plca.as_ref().expect("PLCA").counters[name]
}

fn every(results: &Results, name: &str) -> Vec<u64> {
    (0..results.stations.len()).map(|station| counter(results, station, name)).collect()
}

fn longest_cycle(results: &Results) -> u64 {
    results.medium.plca.as_ref().expect("PLCA").cycle_max_bt
}

#[test]
fn a_right_segment_has_no_collision_and_no_warning() {
    let (results, warnings) = of("right");
    assert_eq!(results.medium.collision_episodes, 0);
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(results.medium.plca.as_ref().map(|plca| plca.cycle_min_bt), Some(276));
    assert_eq!(every(&results, "corrupted"), [0; 8]);
}

#[test]
fn a_lost_coordinator_shows_in_status_and_cycle() {
    let (results, _) = of("01-coordinator-lost");
    assert_eq!(every(&results, "status_losses"), [1; 8]);
    assert!(longest_cycle(&results) > 900_000 && results.medium.collision_episodes > 0);
    assert!(results.stations.iter().all(|station| station.plca.as_ref().is_some_and(|plca| plca.status)));
}

#[test]
fn two_coordinators_starve_the_nodes_after_them() {
    let (results, warnings) = of("02-two-coordinators");
    assert!(warnings[0].contains("both send BEACONs"), "{warnings:?}");
    assert!(counter(&results, 0, "received_in_own_turn") > 0 && counter(&results, 2, "received_in_own_turn") > 0);
    assert_eq!(counter(&results, 3, "used"), 0);
    assert!(results.stations[3].queued > 0);
}

#[test]
fn one_id_twice_collides_at_these_two() {
    let (results, _) = of("03-one-id-twice");
    let corrupted = every(&results, "corrupted");
    assert!(corrupted[1] > 0 && corrupted[1] == corrupted[2], "{corrupted:?}");
    assert_eq!((corrupted[0], corrupted[3]), (0, 0));
    assert!(counter(&results, 1, "received_in_own_turn") > 0);
}

#[test]
fn an_id_above_the_count_has_no_turn() {
    let (results, warnings) = of("04-id-above-the-count");
    assert!(warnings[0].contains("its turn comes after the last"), "{warnings:?}");
    assert_eq!(results.stations[3].counter("frames_transmitted_ok"), 0);
    assert!(counter(&results, 3, "beacons_before_turn") > 1_000);
    assert_eq!(counter(&results, 2, "beacons_before_turn"), 0);
}

#[test]
fn a_node_without_plca_sends_into_the_turns_of_others() {
    for name in ["05-id-255", "07-plca-off-on-one-node"] {
        let (results, _) = of(name);
        assert!(results.stations[3].plca.as_ref().is_some_and(|plca| !plca.status), "{name}");
        assert!(every(&results, "corrupted").iter().sum::<u64>() > 0, "{name}");
        assert!(counter(&results, 0, "received_in_own_turn") > 0, "{name}");
    }
}

#[test]
fn a_node_count_too_high_costs_what_the_warning_says() {
    let (results, warnings) = of("06-node-count-too-high");
    assert_eq!(warnings, ["node count 40 with 8 ids: 1,024 BT of every idle cycle are empty"]);
    assert_eq!(results.medium.plca.as_ref().map(|plca| plca.cycle_min_bt), Some(276 + 1_024));
    assert_eq!(results.medium.collision_episodes, 0);
}

#[test]
fn another_to_timer_takes_turns_of_others() {
    let (results, warnings) = of("08-other-to-timer");
    assert!(warnings[0].contains("to-tmr is 24 BT and the coordinator's 32 BT"), "{warnings:?}");
    assert!(counter(&results, 4, "corrupted") > 0);
}

#[test]
fn without_collision_detection_nobody_notices() {
    let (results, _) = of("09-collision-detection-off");
    assert_eq!(results.medium.collision_episodes, 0);
    assert!(results.stations.iter().map(|station| station.counter("fcs_errors")).sum::<u64>() > 100);
}

#[test]
fn a_mac_that_ignores_logical_collisions_loses_frames_below_it() {
    let (results, _) = of("10-logical-collisions-ignored");
    let sent = results.stations[2].counter("frames_transmitted_ok");
    assert!(counter(&results, 2, "used") < sent);
    assert!(results.stations[2].counter("delivered") < sent);
    assert_eq!(results.stations[1].counter("delivered"), results.stations[1].counter("frames_transmitted_ok"));
}

#[test]
fn several_ids_give_several_turns() {
    let (results, _) = of("11-several-ids");
    assert!(counter(&results, 1, "used") > 3 * counter(&results, 2, "used") / 2);
}

#[test]
fn phy_delays_make_turns_longer() {
    let (results, _) = of("12-phy-delay");
    // The BEACON's end is heard 14 BT later.
    assert_eq!(results.medium.plca.as_ref().map(|plca| plca.cycle_min_bt), Some(276 + 14));
    assert_eq!(results.medium.collision_episodes, 0);
}

#[test]
fn a_cable_too_long_makes_turns_collide() {
    let (results, _) = of("13-cable-too-long");
    assert!(every(&results, "corrupted").iter().sum::<u64>() > 0);
}

#[test]
fn turns_of_a_slow_host_pass_although_frames_wait() {
    let (results, _) = of("14-slow-host");
    assert!(counter(&results, 2, "yielded") > counter(&results, 2, "used"));
    assert!(results.stations[2].queued > 0);
}

#[test]
fn skipped_turns_pass_although_frames_wait() {
    let (results, _) = of("22-skipped-turns");
    let (used, yielded) = (counter(&results, 2, "used"), counter(&results, 2, "yielded"));
    assert!(yielded.abs_diff(2 * used) <= 2, "{used} used, {yielded} yielded");
    assert!(results.stations[2].queued > 0);
    assert_eq!(results.medium.collision_episodes, 0);
}

#[test]
fn a_reset_costs_the_status_once() {
    let (results, _) = of("15-reset");
    assert_eq!(every(&results, "status_losses"), [0, 0, 1, 0]);
    assert!(results.stations[2].plca.as_ref().is_some_and(|plca| plca.status));
}

#[test]
fn wrong_bits_at_a_tap_fail_the_fcs_of_that_node_alone() {
    let (results, _) = of("18-bit-errors");
    let errors: Vec<u64> = results.stations.iter().map(|station| station.counter("fcs_errors")).collect();
    assert!(errors[2] > 0 && errors.iter().sum::<u64>() == errors[2], "{errors:?}");
    // BEACONs with a wrong bit are not recognised there.
    assert!(counter(&results, 2, "beacons") < counter(&results, 0, "beacons"));
    assert_eq!(results.medium.collision_episodes, 0);
}

#[test]
fn a_deaf_node_loses_its_status_and_sends_over_others() {
    let (results, _) = of("19-deaf-node");
    assert_eq!(every(&results, "status_losses"), [0, 0, 1, 0, 0]);
    assert!(counter(&results, 2, "beacons") < counter(&results, 0, "beacons") / 2);
    assert!(every(&results, "collisions_in_turn").iter().sum::<u64>() > 0);
    assert_eq!(counter(&results, 2, "collisions_in_turn"), 0, "it does not notice");
}

#[test]
fn lost_beacons_are_missing_in_the_count_of_their_node() {
    let (results, _) = of("20-lost-beacons");
    let beacons = every(&results, "beacons");
    assert!(beacons[2] < beacons[0] && beacons[1] == beacons[0], "{beacons:?}");
    assert_eq!(every(&results, "status_losses"), [0; 5]);
}

/// What was said of a scenario of this text.
fn warned(text: &str) -> Vec<String> {
    let path = Path::new("bus.toml");
    let (scenario, source) = Scenario::from_text(path, text.to_owned()).expect(text);
    Plan::new(&scenario, Some(&source), &Overrides::default(), 1).expect(text).warnings
}

/// Settings of PLCA without PLCA are said to have no effect, unless an option chose the method.
#[test]
fn settings_of_plca_that_nothing_reads_are_told() {
    let told = warned("stations = 4\n[plca]\nto-tmr = 24\n");
    assert_eq!(
        told,
        ["settings of PLCA (line 3) have no effect: write `method = \"plca\"` in [access], or `--access plca`"]
    );
    assert_eq!(warned("[[station]]\n[[station]]\nplca.node-id = 3\n").len(), 1);
    assert!(warned("stations = 4\n[access]\nmethod = \"plca\"\n").is_empty());
    let csma_cd = Overrides::default().with("access", "csma-cd");
    let plan = Plan::read(Some(&path("right")), &csma_cd, 1).expect("right");
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
}

/// More nodes than ids, a cable and PHYs that take as long as a turn; several ids on one node are no fault.
#[test]
fn what_a_segment_cannot_hold_is_told_before() {
    let with = |text: &str| warned(&format!("{text}[access]\nmethod = \"plca\"\n")).join("\n");
    assert!(with("stations = 300\n").contains("no node-id (255)"));
    assert!(with("stations = 4\n[medium]\ntopology = \"bus:800m\"\n").contains("a signal and its answer take up to"));
    let slow = with("stations = 4\n[plca]\nphy-on = \"40 BT\"\n");
    assert!(slow.contains("a signal and its answer take up to 40 BT, and a turn 32 BT"), "{slow}");
    assert!(of("11-several-ids").1.is_empty());
}

/// Results have each node's wait, and its bound for the longest frame that was sent; no bound if PLCA is not right.
#[test]
fn results_have_the_bound_of_each_wait() {
    let (results, _) = of("right");
    let plca = results.medium.plca.as_ref().expect("PLCA");
    assert_eq!((plca.frame_max_octets, plca.access_delay_bound_bt), (Some(64), Some(5_652)));
    for station in &results.stations {
        let longest = station.access_delay.as_ref().and_then(|delay| delay.max_bt).expect("frames");
        assert!(longest <= 5_652, "{}: {longest}", station.name);
    }
    let of_settings = ["03-one-id-twice", "08-other-to-timer", "12-phy-delay", "14-slow-host"];
    for wrong in of_settings.into_iter().chain(["15-reset", "17-cold-start", "19-deaf-node"]) {
        assert_eq!(of(wrong).0.medium.plca.and_then(|plca| plca.access_delay_bound_bt), None, "{wrong}");
    }
}

/// Issue 27: the bound was there again as soon as the noise had gone, beside waits that the noise had made longer.
#[test]
fn noise_suspends_the_bound_for_what_is_measured() {
    let with = |at: &str| {
        let head = "[run]\nduration = \"50ms\"\nwarmup = \"10ms\"\n[access]\nmethod = \"plca\"\n";
        let text = format!("stations = 4\n[traffic]\narrivals = \"poisson:0.3\"\n{head}{at}");
        let plan = Plan::of_text(Path::new("noise.toml"), text, &Overrides::default(), 1).expect("a scenario");
        let measured = run(&plan, 1, &mut (), |_| true).expect("a run");
        results(&plan, std::slice::from_ref(&measured)).medium.plca.expect("PLCA")
    };
    let at = |time: &str, fault: &str| format!("[[at]]\ntime = \"{time}\"\nstation = \"st3\"\nfault = \"{fault}\"\n");
    let lost = "lost_beacon:20%";
    let fault = |from: &str, until: &str| at(from, lost) + &at(until, "none");
    let during = with(&fault("20ms", "30ms"));
    assert_eq!((during.access_delay_bound_bt, during.noise_until_bt), (None, Some(200_000)));
    let before = with(&fault("1ms", "9ms"));
    assert_eq!((before.access_delay_bound_bt.is_some(), before.noise_until_bt), (true, None));
    let lasting = with(&at("20ms", lost));
    assert_eq!(lasting.access_delay_bound_bt, None);
    assert!(lasting.noise_until_bt.is_some_and(|until| (490_000..=500_000).contains(&until)), "{lasting:?}");
}

/// The best case and the worst of INET: a frame is ready a bit time before its turn, or as its turn begins.
#[test]
fn a_frame_waits_for_nothing_or_for_a_cycle() {
    let (results, _) = of("best-and-worst");
    let wait = |station: usize| results.stations[station].access_delay.as_ref().and_then(|delay| delay.max_bt);
    assert_eq!((wait(2), wait(3)), (Some(1), Some(148)));
}
