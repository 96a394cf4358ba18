//! Grids of small scenarios.

use super::*;

fn grid(scenario: &str, sets: &[&str], seeds: &str) -> Result<Grid, String> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("scenario.toml");
    std::fs::write(&path, scenario).expect("own folder");
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let given = [("medium.rate", "--rate")];
    let asked = Asked { given: &given, sets: &sets, seeds, max_seeds: None, wish: Wish::default() };
    Grid::read(Some(&path), &Overrides::default(), &asked, 1).map_err(|error| error.to_string())
}

#[test]
fn the_last_key_changes_fastest_and_seeds_faster_still() {
    let grid = grid("seed = 7", &["stations=2,3", "medium.queue=5,6"], "2").expect("a grid");
    let order: Vec<_> = (0..grid.runs()).map(|run| grid.place(run)).collect();
    assert_eq!(order, [(0, 7), (0, 8), (1, 7), (1, 8), (2, 7), (2, 8), (3, 7), (3, 8)]);
    assert_eq!((0..4).map(|point| grid.values_at(point).join(" ")).collect::<Vec<_>>(), ["2 5", "2 6", "3 5", "3 6"]);
    let plan = grid.plan(5).expect("a plan");
    assert_eq!((plan.stations.len(), plan.medium.queue_limit, plan.medium.seed), (3, 5, 8));
}

#[test]
fn a_value_is_what_its_key_wants_with_or_without_quotes() {
    let sets = [
        "medium.slot_time=512BT",
        "run.duration=1,'2'",
        "medium.bursting=false",
        "traffic.frame_size=64,'64:7,1518:1'",
    ];
    let grid = grid("", &sets, "1..3").expect("a grid");
    let plan = grid.plan(grid.runs() - 1).expect("a plan");
    assert_eq!((plan.run.duration.as_secs(), plan.medium.seed), (2, 3));
    assert_eq!(plan.traffic[0].sizes.as_ref().map(ToString::to_string).as_deref(), Some("64:7,1518:1"));
}

#[test]
fn a_key_of_one_station_is_that_stations() {
    let scenario = "medium.topology = 'bus:500m'\n[[station]]\n[[station]]\nposition = '0m'\n";
    let grid = grid(scenario, &["station.2.position=100m,200m"], "1").expect("a grid");
    let places: Vec<String> =
        (0..2).map(|run| format!("{:?}", grid.plan(run).expect("a plan").medium.topology)).collect();
    assert_ne!(places[0], places[1]);
}

#[test]
fn what_makes_no_grid_is_named_with_key_and_value() {
    let cases: [(&[&str], &str, &[&str]); 14] = [
        (&["medium.raet=10M"], "1", &["--set medium.raet=10M", "raet: no such key", "did you mean `rate`"]),
        (&["medium.slot_time=512BT,x"], "1", &["--set medium.slot_time=512BT,x", "`x`"]),
        (&["medium=10M,100M"], "1", &["`medium` is a section", "write `--set medium.rate=10M,100M`"]),
        (&["stations=2,-3"], "1", &["`-3`", "out of range"]),
        (&["stations=abc"], "1", &["abc", "a whole number from 1 to 1024"]),
        (&["stations"], "1", &["--set stations", "write it like"]),
        (&["seed=1,2"], "1", &["--seeds"]),
        (&["medium.rate=10M"], "1", &["--rate", "leave one"]),
        (&["stations=2", "stations=3"], "1", &["already"]),
        (&["station.1.position=5m"], "1", &["station.1.position", "no [[station]]"]),
        (&[".=5"], "1", &["is no key"]),
        (&["stations=2"], "0", &["--seeds 0", "1 to"]),
        (&["stations=2"], "1..x", &["--seeds 1..x", "is no seed"]),
        (&["stations=1..1000", "medium.queue=1..1001"], "1", &["1000000 runs"]),
    ];
    for (sets, seeds, words) in cases {
        let error = grid("", sets, seeds).expect_err(sets[0]);
        assert!(words.iter().all(|word| error.contains(word)), "{sets:?}: {error}");
    }
    let error = grid("[[station]]\n", &["station.2.position=5m"], "1").expect_err("one section only");
    assert!(error.contains("station.1."), "{error}");
}

#[test]
fn combinations_that_do_not_fit_are_named_before_anything_runs() {
    let grid =
        grid("", &["stations=2,4", "medium.bursting=false,true"], "1").expect("each value by itself makes sense");
    let error = grid.check().expect_err("bursting at 10 Mb/s").to_string();
    assert!(error.contains("with stations = 2, medium.bursting = true") && error.contains("1Gbit/s"), "{error}");
}
