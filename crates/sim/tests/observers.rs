//! A run is compiled once for all observers and once without one: what observes it changes no result.

mod common;

use common::plan;
use medium::Event;
use sim::run::measure;
use sim::run::observer::{Both, Observer};
use std::convert::Infallible;

/// Counts events.
#[derive(Default)]
struct Counts(u64);

impl Observer for Counts {
    type Error = Infallible;

    fn event(&mut self, _: &Event) -> Result<(), Infallible> {
        self.0 += 1;
        Ok(())
    }
}

/// The results of this run beside `observer`.
fn results<O: Observer<Error = Infallible>>(text: &str, observer: &mut O) -> String {
    let plan = plan(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let measured = measure::run(&plan, 1, observer, |_| true).expect("a plan that was checked");
    serde_json::to_string(&measure::results(&plan, &[measured])).expect("numbers and names")
}

#[test]
fn results_are_the_same_beside_any_observer() {
    for access in ["csma-cd", "csma", "csma-ca", "plca", "aloha", "slotted-aloha", "tdma"] {
        for traffic in ["saturated", "poisson:0.1"] {
            let text = format!(
                "stations = 4\n[access]\nmethod = '{access}'\n[medium]\ntopology = 'star:0bt'\n\
                 [traffic]\narrivals = '{traffic}'\n[run]\nduration = '300ms'\nwarmup = '20ms'\n[[at]]\ntime = '100ms'\nunplug = 'st2'\n"
            );
            let mut counts = Counts::default();
            let observed = results(&text, &mut counts);
            assert!(counts.0 > 300, "{} events: {text}", counts.0);
            assert_eq!(results(&text, &mut ()), observed, "{text}");
            assert_eq!(results(&text, &mut None::<Counts>), observed, "{text}");
            assert_eq!(results(&text, &mut Both(None::<Counts>, Some(()))), observed, "{text}");
        }
    }
}

#[test]
fn only_an_observer_that_ignores_all_is_left_out() {
    assert!(().is_nothing() && None::<Counts>.is_nothing() && Some(()).is_nothing());
    assert!(!Counts::default().is_nothing() && !Some(Counts::default()).is_nothing());
    assert!(!Both((), Counts::default()).is_nothing() && !Both(Counts::default(), ()).is_nothing());
    // The second observer of a pair gets its events although the first one is none.
    let mut both = Both(None::<Counts>, Some(Counts::default()));
    results("stations = 2\n[run]\nduration = '10ms'\n", &mut both);
    assert!(both.1.is_some_and(|counts| counts.0 > 50));
}
