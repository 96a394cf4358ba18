//! A run that ends before it should.

use sim::run::measure::{results, run};
use sim::scenario::plan::{Overrides, Plan};

/// What the warm-up counted is no result: an interrupt in it leaves nothing, at the stations as on the medium.
#[test]
fn nothing_is_counted_before_the_measurement_begins() {
    let overrides = Overrides::default().with("stations", 3);
    let plan = Plan::read(None, &overrides, 1).expect("a plan");
    let measured = run(&plan, 1, &mut (), |_| false).expect("nothing can fail");
    let results = results(&plan, &[measured]);
    for station in &results.stations {
        assert!(station.counters.values().all(|&count| count == 0) && station.adds_up(), "{station:?}");
    }
    assert_eq!((results.measured_bit_times, results.medium.fairness), (0, None));
}
