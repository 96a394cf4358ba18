//! `ethbus sim` from outside: known numbers, repeatability, the schema, and bad input (issue 4). Needs no privileges.

use crate::common::process::{Finished, Running, ethbus, run};
use crate::common::results::{check, metric, number, station, stations, sum};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const WRONG_USE: i32 = 2;

fn sim(arguments: &str) -> Finished {
    run(ethbus(["sim"].into_iter().chain(arguments.split_whitespace())))
}

/// Results of a run, which keep every rule that results have.
#[track_caller]
fn simulated(arguments: &str) -> Value {
    let results = sim(&format!("{arguments} --format json")).json();
    check(&results);
    results
}

#[track_caller]
fn refused(arguments: &str, words: &[&str]) {
    let ended = sim(arguments);
    ended.failed_with(WRONG_USE, words);
    assert!(!ended.stderr.contains("panicked") && ended.stdout.is_empty(), "{ended:#?}");
}

fn scenario(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("scenario.toml");
    std::fs::write(&path, text).expect("own folder");
    (folder, path)
}

#[track_caller]
fn simulated_scenario(text: &str, arguments: &str) -> Value {
    let (_folder, path) = scenario(text);
    simulated(&format!("{} {arguments}", path.display()))
}

#[track_caller]
fn refused_scenario(text: &str, words: &[&str]) {
    let (_folder, path) = scenario(text);
    let path = path.display().to_string();
    let words: Vec<&str> = words.iter().copied().chain([path.as_str()]).collect();
    refused(&path, &words);
}

fn half_width(results: &Value, name: &str) -> f64 {
    results["medium"]["ci95"][name].as_f64().unwrap_or_else(|| panic!("no half-width of {name} in {results}"))
}

/// 14,880.95 frames a second at 64 octets, 8,445.9 at 128, 812.74 at 1518; ten times that at 100 Mb/s (STANDARD.md).
#[test]
fn a_lone_saturated_station_sends_at_line_rate() {
    for (rate, seconds) in [("10M", 10.0), ("100M", 1.0)] {
        for (size, per_second) in [(64, 14_880.95), (128, 8_445.95), (1518, 812.74)] {
            let results = simulated(&format!(
                "--stations 1 --rate {rate} --frame-size {size} --duration {seconds}s --warmup 100ms"
            ));
            let frames = sum(&results, "frames_transmitted_ok") as f64;
            assert!((frames - per_second * 10.0).abs() < 1.01, "{rate}, {size} octets: {frames}");
            assert_eq!(sum(&results, "collisions"), 0);
            assert!(metric(&results, "utilization_total") > 0.9999, "{results}");
        }
    }
}

/// At 1000 Mb/s a lone frame takes 64 + 4096 + 96 BT, and a burst 64 + 4096, then 96 + 64 + 512 each up to 65,536 BT.
#[test]
fn gigabit_frames_are_extended_and_bursts_are_not() {
    let frames = |bursting| {
        let results = simulated(&format!(
            "--stations 1 --rate 1G --bursting {bursting} --duration 42560us --warmup 0 --frame-size 64"
        ));
        sum(&results, "frames_transmitted_ok")
    };
    assert_eq!(frames("off"), 10_000);
    // After the first, frames begin while 4160 + 672 n < 65,536: n = 0 … 91; then a gap of 96 BT.
    let (burst, length) = (93, 4_160 + 92 * 672 + 96);
    let most = 42_560_000 / length * burst;
    assert!((most..=most + burst).contains(&frames("on")), "{} against {most}", frames("on"));
}

#[test]
fn the_same_command_gives_the_same_octets_and_another_seed_does_not() {
    let once = |arguments: &str| sim(arguments).succeeded().stdout;
    for format in ["table", "json", "csv"] {
        let arguments = format!("--stations 5 --duration 100ms --warmup 10ms --format {format}");
        assert_eq!(once(&arguments), once(&arguments));
        assert_eq!(once(&arguments), once(&format!("{arguments} --seed 1")), "the seed is 1 unless said otherwise");
        assert_ne!(once(&arguments), once(&format!("{arguments} --seed 2")));
    }
}

/// Issue 4, item 3: these names, exactly.
#[test]
fn the_schema_has_every_metric_and_every_counter() {
    let results = simulated("--stations 3 --duration 200ms --warmup 10ms");
    let medium = &results["medium"];
    for delay in ["access_delay", "mac_delay"] {
        for figure in ["mean_bt", "p50_bt", "p99_bt", "max_bt"] {
            assert!(medium[delay][figure].is_number(), "{delay}.{figure} in {medium}");
        }
        assert!(medium["ci95"][delay]["mean_bt"].is_number(), "{medium}");
    }
    for name in ["utilization_frame", "attempts_per_frame", "discard_fraction", "attempts_per_episode", "same_winner"] {
        assert!(half_width(&results, name) >= 0.0);
    }
    assert!(results["emulator"].is_null(), "{results}");
    assert_eq!(results["measured_bit_times"], 2_000_000);
    assert_eq!(results["seed"], 1);
    for name in ["carrier_sense_errors", "frame_too_long_errors", "excessive_deferrals", "delivered"] {
        stations(&results).iter().for_each(|station| _ = number(station, name));
    }
}

/// With no frame there is no delay of 0, and with no collision there are not 0 stations in one.
#[test]
fn a_mean_of_nothing_is_none() {
    let run = "--stations 2 --traffic silent --duration 10ms";
    let silent = simulated(run);
    for name in ["attempts_per_frame", "discard_fraction", "attempts_per_episode", "same_winner", "fairness"] {
        assert!(silent["medium"][name].is_null(), "{name} in {silent}");
    }
    for delay in ["access_delay", "mac_delay"] {
        for figure in ["mean_bt", "p50_bt", "p99_bt", "max_bt"] {
            assert!(silent["medium"][delay][figure].is_null(), "{delay}.{figure} in {silent}");
        }
    }
    assert!(simulated(&format!("{run} --replications 2"))["medium"]["fairness"].is_null());
    let table = sim(run).succeeded().stdout;
    assert!(
        table.contains("fairness           \u{2013} (Jain; without 2 silent of 2 stations), same winner \u{2013}"),
        "{table}"
    );
    assert!(table.contains("access delay       \u{2013}\n"), "{table}");
    let csv = sim(&format!("{run} --format csv")).succeeded().stdout;
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, values) = (lines.next().expect("a header"), lines.next().expect("a row"));
    for name in ["fairness", "attempts_per_episode", "mac_delay_mean_bt", "access_delay_max_bt"] {
        let column = names.iter().position(|known| *known == name).unwrap_or_else(|| panic!("no {name} in {csv}"));
        assert_eq!(values[column], "", "{name}");
    }
}

/// A frame can get through after as many collisions as attempt_limit allows but one, and is discarded after the last.
#[test]
fn attempt_limit_says_how_many_places_collision_frames_has() {
    for limit in [1, 2, 5, 17] {
        let scenario = format!("stations = 6\n[medium]\nattempt_limit = {limit}\n");
        let results = simulated_scenario(&scenario, "--duration 100ms --warmup 0");
        let places = results["medium"]["collision_frames"].as_array().expect("a list");
        assert_eq!(places.len(), limit - 1, "{results}");
        if limit < 17 {
            let folder = tempfile::tempdir().expect("a folder for temporary files");
            let path = folder.path().join("limit.toml");
            std::fs::write(&path, &scenario).expect("own folder");
            let table = sim(&format!("{} --duration 100ms --warmup 0", path.display())).succeeded().stdout;
            let last = table.lines().rfind(|line| line.contains('\u{2588}')).expect("a bar");
            assert!(last.trim_start().starts_with(&format!("{limit} ")), "{table}");
        }
    }
}

/// Distributions are of the same frames and collisions as the counters.
#[test]
fn distributions_add_up() {
    let results = simulated("--stations 4 --duration 500ms --replications 2");
    let total = |delay: &Value| -> u64 {
        let bins = delay["histogram"].as_object().expect("bins");
        bins.values().map(|count| count.as_u64().expect("whole")).sum()
    };
    let medium = &results["medium"];
    for delay in ["access_delay", "mac_delay"] {
        assert_eq!(total(&medium[delay]), sum(&results, "frames_transmitted_ok"));
        let figures = ["p50_bt", "p90_bt", "p95_bt", "p99_bt", "p999_bt", "max_bt"];
        assert!(figures.map(|figure| number(&medium[delay], figure)).is_sorted(), "{medium}");
        for station in stations(&results) {
            assert_eq!(total(&station[delay]), number(station, "frames_transmitted_ok"));
        }
        let mean = |it: &Value| it[delay]["mean_bt"].as_f64().expect("a mean");
        let weighted = stations(&results).iter().map(|it| mean(it) * number(it, "frames_transmitted_ok") as f64);
        let all = weighted.sum::<f64>() / sum(&results, "frames_transmitted_ok") as f64;
        assert!((all - mean(medium)).abs() < 1e-6 * all, "{all}");
    }
    let multiplicity = medium["collision_multiplicity"].as_array().expect("a list");
    let attempts: u64 = (1..).zip(multiplicity).map(|(of, count)| of * count.as_u64().expect("whole")).sum();
    // The attempts of a collision that goes on as a run begins are not in it.
    assert!(attempts <= sum(&results, "collisions") && sum(&results, "collisions") - attempts <= 8, "{medium}");
}

/// What did not happen in a run may yet happen: no discard in n frames leaves room for 3.69 in n (Poisson, 97.5 %).
#[test]
fn nothing_seen_is_not_nothing_for_sure() {
    let results = simulated("--stations 3 --traffic poisson:0.1 --duration 2s");
    let frames = sum(&results, "frames_transmitted_ok") as f64;
    assert_eq!(metric(&results, "discard_fraction"), 0.0);
    assert!((half_width(&results, "discard_fraction") * frames - 3.689).abs() < 0.001, "{results}");
    let silent = simulated("--stations 2 --traffic silent --duration 10ms");
    assert!(silent["medium"]["ci95"]["utilization_frame"].is_null(), "not 0 \u{b1} 0: {silent}");
    // Frames that many collisions will hold up may be all still to come.
    let two = simulated("--stations 2 --duration 1s");
    let delay = &two["medium"]["ci95"]["access_delay"];
    let (above, below) = (delay["mean_bt"].as_f64().expect("a width"), delay["mean_bt_below"].as_f64());
    assert!(below.is_some_and(|below| below < above), "{delay}");
}

/// That all collisions seen were of two attempts leaves room for 3.69 of three; a batch without one says nothing of them.
#[test]
fn what_never_varied_has_the_bound_of_what_was_not_seen() {
    let results = simulated("--stations 2 --duration 150ms --seed 3");
    assert_eq!(metric(&results, "attempts_per_episode"), 2.0);
    assert!(number(&results["medium"], "collision_episodes") < 32, "some of the 32 batches have none: {results}");
    let episodes = number(&results["medium"], "collision_episodes") as f64;
    assert!((half_width(&results, "attempts_per_episode") * episodes - 3.689).abs() < 0.001, "{results}");
    let table = sim("--stations 1 --duration 150ms").succeeded().stdout;
    assert!(!table.contains("\u{b1} 0.00 ") && !table.contains("\u{b1} 0 BT"), "{table}");
    assert!(simulated("--stations 2 --traffic silent --duration 10ms")["medium"]["ci95"]["mac_delay"].is_null());
}

/// Counters start at zero after the warm-up, and it still adds up: what was queued then is counted in.
#[test]
fn the_warm_up_is_not_counted() {
    let with = simulated("--stations 4 --duration 100ms --warmup 900ms");
    let without = simulated("--stations 4 --duration 1s --warmup 0");
    assert_eq!(with["measured_bit_times"], 1_000_000);
    let (late, all) = (sum(&with, "frames_transmitted_ok"), sum(&without, "frames_transmitted_ok"));
    assert!(late * 9 < all && late * 11 > all, "{late} of {all}");
    assert!(stations(&with).iter().any(|station| number(station, "queued_at_start") > 0));
}

/// Below saturation what is offered gets through; the estimate and its interval are honest about it.
#[test]
fn an_offered_load_is_carried() {
    for traffic in ["poisson:0.3", "periodic:30%", "on_off:0.3,on=5ms,off=5ms"] {
        let results = simulated(&format!(
            "--stations 8 --traffic {traffic} --frame-size 64:7,594:4,1518:1 --duration 5s --warmup 1s"
        ));
        let (carried, half) = (metric(&results, "utilization_frame"), half_width(&results, "utilization_frame"));
        // Three half-widths are six standard errors.
        assert!((carried - 0.3).abs() < 3.0 * half + 0.001, "{traffic}: {carried} ± {half}");
        assert_eq!(sum(&results, "queue_drops"), 0, "{traffic}");
    }
}

#[test]
fn a_station_may_have_traffic_of_its_own() {
    let text = "[traffic]\narrivals = 'poisson:0.2'\nframe_size = 128\n[[station]]\nname = 'quiet'\narrivals = 'silent'\n\
                [[station]]\n[[station]]\nname = 'big'\narrivals = 'periodic:0.1'\nframe_size = '1518'\ndestination = 'quiet'\n";
    let results = simulated_scenario(text, "--duration 2s --warmup 0");
    assert_eq!(number(station(&results, "quiet"), "offered"), 0);
    let big = station(&results, "big");
    let expected: u64 = 20_000_000 / 10 / (8 * 1518);
    assert!(number(big, "offered").abs_diff(expected) <= 1, "{big}");
    // The load of [traffic] is that of the two stations that share it; only one of them sends.
    let shared = number(station(&results, "st2"), "offered") as f64;
    assert!((shared - 0.2 * 20_000_000.0 / 1024.0).abs() < 6.0 * shared.sqrt(), "{shared}");
    assert_eq!(number(station(&results, "quiet"), "frames_received_ok"), number(big, "delivered"));
}

/// Replications are independent runs with the seeds that follow each other.
#[test]
fn replications_are_single_runs_taken_together() {
    let run = "--stations 6 --duration 100ms --warmup 10ms";
    let together = simulated(&format!("{run} --replications 3 --seed 7"));
    let singles: Vec<Value> = (7..10).map(|seed| simulated(&format!("{run} --seed {seed}"))).collect();
    for name in ["frames_transmitted_ok", "collisions", "attempts", "offered"] {
        assert_eq!(sum(&together, name), singles.iter().map(|single| sum(single, name)).sum::<u64>(), "{name}");
    }
    let mean = singles.iter().map(|single| metric(single, "utilization_frame")).sum::<f64>() / 3.0;
    assert!((metric(&together, "utilization_frame") - mean).abs() < 1e-12);
    assert_eq!(together["medium"]["ci95"]["samples"], 3);
    assert!(half_width(&together, "utilization_frame") > 0.0);
}

/// Shares become even with time, so fairness is that of one run's length, however many runs there are.
#[test]
fn fairness_of_replications_is_the_mean_of_theirs() {
    let run = "--stations 2 --duration 200ms --warmup 0";
    let together = metric(&simulated(&format!("{run} --replications 4")), "fairness");
    let single = |seed| metric(&simulated(&format!("{run} --seed {seed}")), "fairness");
    assert!((together - (1..5).map(single).sum::<f64>() / 4.0).abs() < 1e-12);
}

/// A load counts frames as they are sent, whatever the scenario pads them to.
#[test]
fn a_load_is_of_padded_frames() {
    for least in [18, 64, 512] {
        let text = format!(
            "stations = 2\n[medium]\nmin_frame_size = {least}\n[traffic]\narrivals = 'poisson:0.1'\nframe_size = 18\n"
        );
        let results = simulated_scenario(&text, "--duration 4s");
        let (carried, half) = (metric(&results, "utilization_frame"), half_width(&results, "utilization_frame"));
        assert!((carried - 0.1).abs() < 3.0 * half, "{least}: {carried} ± {half}");
    }
}

/// A late collision at 1000 Mb/s ends a frame, which then counts as finished (STANDARD.md, "Metrics").
#[test]
fn frames_lost_to_late_collisions_are_frames_too() {
    let results =
        simulated("--stations 5 --rate 1G --topology bus:2km --traffic poisson:0.5 --duration 20ms --warmup 0");
    let lost = sum(&results, "late_collision_discards");
    assert!(lost > 0, "{results}");
    let finished = sum(&results, "frames_transmitted_ok") + sum(&results, "excessive_collisions") + lost;
    let expected = sum(&results, "attempts") as f64 / finished as f64;
    assert_eq!(metric(&results, "attempts_per_frame"), expected);
}

/// `utilization_total` is 1 for one station and falls as stations collide; 2 stations 50 BT apart need longer to jam.
#[test]
fn figures_move_the_way_theory_says() {
    let used = |arguments: &str| metric(&simulated(&format!("{arguments} --duration 2s")), "utilization_total");
    let by_stations = [1, 2, 10, 50].map(|stations| used(&format!("--stations {stations}")));
    assert!(by_stations.is_sorted_by(|a, b| a > b), "{by_stations:?}");
    assert!(used("--stations 10 --topology star:200bt") < used("--stations 10"));
}

#[test]
fn segments_with_repeaters_come_from_a_scenario() {
    let text = "stations = 4\n[medium]\ntopology = 'segments'\npropagation_speed = '0.65c'\n\
                [[segment]]\nname = 'a'\nlength = '185 m'\n[[segment]]\nname = 'b'\nlength = '185 m'\n\
                [[repeater]]\ndelay = '8 BT'\nports = ['a:185m', 'b:0m']\n";
    let results = simulated_scenario(text, "--duration 100ms");
    // 185 m at 0.65 c are 9.49 BT at 10 Mb/s: from one end to the other 9 + 8 + 9 BT, places rounded.
    assert_eq!(results["config"]["longest_distance_bt"], 26);
    assert_eq!(results["config"]["topology"], "segments");
    let placed = text.replace("stations = 4\n", "")
        + "[[station]]\nsegment = 'a'\nposition = '0 m'\n[[station]]\nsegment = 'a'\nposition = '100 m'\n\
           [[station]]\nsegment = 'b'\nposition = '40 m'\n";
    // 100 m and 40 m are 5 BT and 2 BT.
    assert_eq!(simulated_scenario(&placed, "--duration 100ms")["config"]["longest_distance_bt"], 19);
}

#[test]
fn a_medium_too_long_for_the_standard_is_a_warning_with_its_budget_and_goes_on() {
    let ended = sim("--stations 2 --topology star:300bt --frame-size 512 --duration 1s --format json").succeeded();
    for word in ["warning", "600 BT", "300 BT", "512 BT", "late"] {
        assert!(ended.stderr.contains(word), "no `{word}` in {ended:#?}");
    }
    assert!(sum(&ended.json(), "late_collisions") > 0);
    assert_eq!(sim("--stations 2 --topology star:256bt --duration 10ms").succeeded().stderr, "");
}

#[test]
fn every_wrong_option_is_named_with_what_would_be_right() {
    refused("--stations 0", &["--stations", "0", "1024"]);
    refused("--stations 1025", &["--stations", "1025", "1024"]);
    refused("--frame-size 17", &["--frame-size", "17"]);
    refused("--frame-size 1519", &["frame_size", "1519", "1518"]);
    refused("--frame-size 64:x", &["--frame-size", "64:x"]);
    refused("--traffic poison:0.4", &["--traffic", "poison:0.4", "poisson:0.4"]);
    refused("--traffic poisson:40", &["--traffic", "40"]);
    refused("--rate 10X", &["--rate", "10X", "10Mbit/s"]);
    refused("--rate 2G", &["rate", "1Gbit/s"]);
    refused("--topology ring:5m", &["--topology", "ring:5m", "star:50bt", "bus:500m"]);
    refused("--topology bus:500", &["--topology", "500", "500 m"]);
    refused("--bursting on", &["bursting", "1Gbit/s"]);
    refused("--bursting maybe --rate 1G", &["--bursting", "maybe", "on", "off"]);
    refused("--duration 0s", &["--duration", "0s", "above zero", "100s"]);
    refused("--warmup 1x", &["--warmup", "1x"]);
    refused("--replications 0", &["replications", "0"]);
    refused("--replications 2 --events e", &["--events", "--replications"]);
    refused("--format xml", &["--format", "xml", "table", "json", "csv"]);
    refused("--sead 1", &["--sead", "--seed"]);
}

#[test]
fn every_wrong_key_is_named_with_file_and_line() {
    refused_scenario("[traffic]\narivals = 'saturated'\n", &[":2:1: arivals:", "`arrivals`"]);
    refused_scenario("[traffic]\narrivals = 'poisson:x'\n", &[":2:12: arrivals:", "`x`", "`0.4`"]);
    refused_scenario("\n[run]\nduration = '10 bananas'\n", &[":3:12: duration:", "10 bananas", "10s"]);
    refused_scenario("[run]\nduration = '0'\n", &[":2", "duration", "above zero"]);
    refused_scenario("[run]\nreplications = 0\n", &[":2", "replications"]);
    refused_scenario("[traffic]\nframe_size = '64:1,1600:1'\n", &[":2", "frame_size", "1600", "1518"]);
    refused_scenario("[traffic]\ndestination = 'nobody'\n", &[":2", "destination", "nobody", "next"]);
    refused_scenario("[medium]\nattempt_limit = 0\n", &[":2", "attempt_limit", "from 1 to 4294967295"]);
    refused_scenario("[medium]\nqueue = 0\n", &[":2", "queue", "from 1 to 4294967295"]);
    refused_scenario("[medium]\nmax_frame_size = 3000\n", &[":2", "max_frame_size", "3000", "2000"]);
    refused_scenario("[medium]\nrate = '1G'\nslot_time = '512 BT'\n", &[":3", "slot_time", "512 BT", "64"]);
    refused_scenario("[medium]\nslot_time = '512 s'\n", &[":2:13: slot_time:", "512 s", "512 BT"]);
    refused_scenario("[medium]\nrate = '3G'\n", &[":2", "rate", "1Gbit/s"]);
    refused_scenario("[medium]\ninter_packet_gap_part_1 = '80'\n", &["inter_packet_gap_part_1", "two thirds"]);
    refused_scenario(
        "[medium]\ntopology = 'star:5bt'\n[[station]]\nposition = '1 m'\n[[station]]\n",
        &[":4", "position", "star"],
    );
    refused_scenario("[[segment]]\nlength = '5 m'\n", &["segment", "topology"]);
    let segments = "[medium]\ntopology = 'segments'\n";
    refused_scenario(segments, &[":2", "[[segment]]"]);
    refused_scenario(&format!("{segments}[[segment]]\nname = 'a'\n"), &[":3", "length"]);
    refused_scenario(
        &format!("{segments}[[segment]]\nlength = '5 m'\n[[segment]]\nlength = '5 m'\n[[station]]\n[[station]]\n"),
        &[":5", "segment `2`", "[[repeater]]"],
    );
    let joined = |ports: &str| {
        format!(
            "{segments}[[segment]]\nname = 'a'\nlength = '5 m'\n[[segment]]\nname = 'b'\nlength = '5 m'\n[[repeater]]\nports = [{ports}]\n"
        )
    };
    refused_scenario(&joined("'a:0m'"), &[":9", "two or more"]);
    refused_scenario(&joined("'a:0m', 'c:0m'"), &[":10", "`c`", "a, b"]);
    refused_scenario(&joined("'a:0m', 'b:6m'"), &[":10", "beyond", "`b`"]);
    refused_scenario(&joined("'a:0m', 'b'"), &[":10:", "a:185m"]);
    refused_scenario(&(joined("'a:0m', 'b:0m'") + "[[repeater]]\nports = ['b:5m', 'a:5m']\n"), &[":11", "loop"]);
    refused_scenario(
        &format!("{segments}[[segment]]\nname = 'a'\nlength = '5 m'\n[[station]]\nsegment = 'c'\n"),
        &[":7", "segment", "`c`", "a"],
    );
    refused_scenario(
        &format!("{segments}[[segment]]\nname = 'a'\nlength = '5 m'\n[[station]]\nposition = '6 m'\n"),
        &[":7", "position", "beyond"],
    );
}

/// A pcap of three frames, written by hand: 60, 60 and 1514 octets without FCS, 1 ms apart, from `senders` addresses in turn.
fn capture(senders: u8) -> Vec<u8> {
    let mut file: Vec<u8> =
        [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1].iter().flat_map(|x| x.to_le_bytes()).collect();
    for (number, length) in [(0_u32, 60_u32), (1, 60), (2, 1514)] {
        file.extend([0, 1_000 * number, length, length].iter().flat_map(|x: &u32| x.to_le_bytes()));
        let mut frame = vec![0; length as usize];
        frame[5] = 9;
        frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, number as u8 % senders]);
        file.extend(frame);
    }
    file
}

#[test]
fn a_capture_is_replayed_and_a_damaged_one_named_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("three.pcap");
    std::fs::write(&path, capture(2)).expect("own folder");
    let traffic = format!("--traffic replay:{}", path.display());
    let results = simulated(&format!("--stations 2 {traffic} --duration 10ms --warmup 0"));
    assert_eq!([0, 1].map(|n| number(&stations(&results)[n], "frames_transmitted_ok")), [2, 1]);
    assert_eq!(sum(&results, "octets_transmitted_ok"), 46 + 46 + 1500);
    assert_eq!(results["config"]["traffic"][0], format!("replay:{}", path.display()), "sizes are the file's");
    let early = sim(&format!("--stations 2 {traffic} --duration 10ms")).succeeded();
    assert!(early.stderr.contains("in the warm-up of 2s") && early.stdout.contains("while it was measured"));
    refused(&format!("--stations 2 --frame-size 64 {traffic}"), &["frame sizes", "leave one out"]);
    let alone = simulated(&format!("--stations 1 {traffic} --duration 10ms --warmup 0"));
    assert_eq!(sum(&alone, "frames_transmitted_ok"), 3, "a lone station sends the whole file");
    std::fs::write(&path, capture(3)).expect("own folder");
    refused(&format!("--stations 2 {traffic}"), &["three.pcap", "3", "2"]);
    std::fs::write(&path, &capture(2)[..150]).expect("own folder");
    refused(&format!("--stations 2 {traffic}"), &["three.pcap", "octet"]);
    refused("--traffic replay:/nonexistent.pcap", &["/nonexistent.pcap"]);
}

#[test]
fn a_file_that_takes_nothing_more_is_an_error_that_says_what_is_kept() {
    let full = sim("--stations 2 --duration 100ms --events /dev/full");
    full.failed_with(1, &["/dev/full", "No space left"]);
    let ended = sim("--stations 2 --duration 100ms --events /nonexistent/record --events-level inputs");
    ended.failed_with(1, &["/nonexistent/record"]);
    let mut command = ethbus(["sim", "--duration", "10ms"]);
    command.stdout(Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device")));
    let output = command.output().expect("ethbus runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the result"));
}

#[test]
fn a_recorded_run_gives_the_same_events_and_results_again() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let read = |name: &str| std::fs::read(Path::new(&file(name))).expect("written");
    let (events, record, again) = (file("events"), file("record"), file("again"));
    let arguments = "--stations 4 --traffic poisson:0.9 --topology bus:2000m --duration 200ms --warmup 20ms";
    let first = simulated(&format!("{arguments} --events {events} --events {record} --events-level inputs"));
    let second = run(ethbus(["replay", &record, "--events", &again, "--format", "json"])).json();
    assert!(read("events") == read("again"), "the events differ");
    assert_eq!(first["stations"], second["stations"]);
    for name in ["utilization_frame", "attempts_per_frame", "same_winner"] {
        assert_eq!(metric(&first, name), metric(&second, name), "{name}");
    }
    assert_eq!(first["medium"]["access_delay"], second["medium"]["access_delay"]);
}

/// Ctrl-C: what was measured so far, and the exit code of an interrupt.
#[test]
fn an_interrupted_run_tells_what_it_has() {
    // In a warm-up there would be no results yet.
    let options = ["sim", "--stations", "20", "--duration", "20h", "--warmup", "0s", "--format", "json"];
    let mut running = Running::start(ethbus(options), "");
    running.wait_until_interruptible();
    std::thread::sleep(std::time::Duration::from_millis(500));
    running.signal("INT");
    let ended = running.wait();
    ended.failed_with(130, &["interrupted after"]);
    let results: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    check(&results);
}
