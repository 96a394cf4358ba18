//! Figures from small tables.

use super::*;

fn figure(text: &str, x: &str, y: &str, by: Option<&str>, only: &[(&str, &str)]) -> Result<Figure, String> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("runs.csv");
    std::fs::write(&path, text).expect("own folder");
    let wanted = Wanted {
        x: x.to_owned(),
        y: y.split(',').map(str::to_owned).collect(),
        by: by.map(str::to_owned),
        versus: None,
        only: only.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        unit: TimeUnit::BitTimes,
        title: None,
        ranges: [None, None],
    };
    Table::read(&path).and_then(|table| table.figure(&wanted)).map_err(|error| error.to_string())
}

const TABLE: &str = "run,medium.rate,seed,stations,fairness,same_winner,access_delay_mean_bt,ci95_fairness\n\
    1,10M,1,4,0.5,0.1,9,0.25\n2,10M,2,4,0.7,0.1,9,\n3,1M,1,2,0.9,0.1,9,0.125\n4,10M,1,2,1,0.1,9,0.5\n";

/// The half-width of two samples is t(0.975, 1) = 12.706 times their distance by two (any table of Student's t).
#[test]
fn points_are_means_over_seeds_with_students_interval_or_a_single_runs_own() {
    let figure = figure(TABLE, "stations", "fairness", Some("medium.rate"), &[]).expect("a figure");
    let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["10M", "1M"]);
    let points = &figure.series[0].points;
    assert_eq!((points[0].x, points[0].mean, points[0].half, points[0].seeds), (2.0, 1.0, Some(0.5), 1));
    assert!((points[1].mean - 0.6).abs() < 1e-12 && (points[1].half.expect("two seeds") - 1.2706).abs() < 1e-4);
    assert_eq!(figure.series[1].points.len(), 1);
    assert_eq!(figure.note, ["mean of 1 to 2 seeds", "band: 95 % confidence"]);
}

#[test]
fn rows_of_different_media_are_never_mixed() {
    let error = figure(TABLE, "stations", "fairness", None, &[]).expect_err("two rates");
    assert!(
        error.contains("medium.rate") && error.contains("10M, 1M") && error.contains("--where medium.rate=10M"),
        "{error}"
    );
    figure(TABLE, "stations", "fairness", None, &[("medium.rate", "10M")]).expect("one rate");
}

/// Delay over carried load: a point for each combination of keys, in the order of the grid, a line for each number of
/// stations.
#[test]
fn a_metric_can_be_along_x() {
    let table = "run,traffic.arrivals,seed,stations,rate_bits_per_second,utilization_frame,mac_delay_mean_bt\n\
        1,poisson:0.1,1,2,10000000,0.1,100\n2,poisson:0.1,2,2,10000000,0.2,300\n\
        3,poisson:0.9,1,2,10000000,0.1,900\n4,poisson:0.1,1,4,10000000,0.3,\n";
    let drawn = figure(table, "utilization_frame", "mac_delay_mean_bt", Some("stations"), &[]).expect("a figure");
    let points: Vec<(f64, f64)> = drawn.series[0].points.iter().map(|point| (point.x, point.mean)).collect();
    assert!((points[0].0 - 0.15).abs() < 1e-12 && points[0].1 == 200.0 && points[1] == (0.1, 900.0), "{points:?}");
    assert!(drawn.series[1].points.is_empty(), "a mean of nothing is no point");
    assert_eq!(drawn.x_label, "Utilization, frames (part of the rate)");
    let other = table.replace("traffic.arrivals,", "traffic.arrivals,medium.queue,").replace(",1,2,", ",5,1,2,");
    let other = other.replace("poisson:0.1,2,2", "poisson:0.1,6,2,2").replace("poisson:0.1,1,4", "poisson:0.1,5,1,4");
    let error = figure(&other, "utilization_frame", "mac_delay_mean_bt", Some("stations"), &[]).expect_err("two");
    assert!(error.contains("medium.queue") && error.contains("--by"), "{error}");
}

/// Differences of runs with one seed: 1 and 3, so 2 ± t(0.975, 1) = 12.706 times 1 (any table of Student's t).
#[test]
fn differences_are_paired_by_seed() {
    let table = "run,medium.rate,seed,stations,fairness\n1,10M,1,4,5\n2,10M,2,4,9\n3,1M,1,4,6\n4,1M,2,4,12\n";
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("runs.csv");
    std::fs::write(&path, table).expect("own folder");
    let wanted = |versus: &str, by: Option<&str>| Wanted {
        x: "stations".to_owned(),
        y: vec!["fairness".to_owned()],
        by: by.map(str::to_owned),
        versus: Some(versus.to_owned()),
        only: Vec::new(),
        unit: TimeUnit::BitTimes,
        title: None,
        ranges: [None, None],
    };
    let draw = |versus, by| Table::read(&path).and_then(|table| table.figure(&wanted(versus, by)));
    let figure = draw("10M", Some("medium.rate")).expect("a figure");
    let [line] = &figure.series[..] else { panic!("one line") };
    assert_eq!((line.name.as_str(), line.points[0].mean), ("1M: 0 of 1 differ", 2.0));
    assert!((line.points[0].half.expect("two seeds") - 12.706).abs() < 1e-2, "{line:?}");
    assert!(figure.note.iter().any(|line| line == "differ: paired t test, 5 %"), "{figure:?}");
    assert!(draw("2M", Some("medium.rate")).is_err_and(|error| error.to_string().contains("there are 10M, 1M")));
}

/// A key that follows from the one along x mixes nothing.
#[test]
fn a_key_that_follows_from_others_is_no_other_medium() {
    let table = "run,traffic.arrivals,seed,stations,fairness\n1,poisson:0.4,1,2,1\n2,poisson:0.2,1,4,1\n";
    figure(table, "stations", "fairness", None, &[]).expect("a figure");
}

#[test]
fn a_range_is_two_numbers() {
    assert_eq!(range("-1 .. 2.5"), Ok((-1.0, 2.5)));
    for text in ["1", "2..1", "a..b", "0..inf", "..", "1..1"] {
        assert!(range(text).is_err_and(|error| error.contains("like `0..0.5`")), "{text}");
    }
}

#[test]
fn what_makes_no_figure_is_named() {
    let cases = [
        ("station", "fairness", None, &[][..], "no column `station`"),
        ("stations", "fairnes", None, &[], "no column `fairnes`"),
        ("stations", "fairness", Some("rate"), &[], "no column `rate`"),
        ("stations", "same_winner,access_delay_mean_bt", Some("medium.rate"), &[], "has unit part of frames and"),
        ("stations", "fairness", None, &[("medium.rate", "2M")], "there are 10M, 1M"),
        ("seed", "medium.rate", None, &[("stations", "4")], "line 2: `10M` in column medium.rate is no number"),
    ];
    for (x, y, by, only, word) in cases {
        let error = figure(TABLE, x, y, by, only).expect_err(word);
        assert!(error.contains(word), "{error}");
    }
    let error = figure("run,stations,fairness\n", "stations", "fairness", None, &[]).expect_err("no rows");
    assert!(error.contains("no rows"), "{error}");
}
