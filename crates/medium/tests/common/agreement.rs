//! Compares the events of the engine with those of a model.
#![allow(dead_code, reason = "each test file uses its own part of this module")]

use crate::common::{run, trace};
use crate::scenario::{Scenario, runner};
use medium::{Cause, Config, Event, Input, Kind};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A model's events for inputs, before an instant.
pub type Model = fn(&Config, &[(u64, Input)], u64) -> Vec<Event>;

/// The events of the engine before `until`, or the first difference from those of the model.
pub fn agreed_events(Scenario { config, inputs }: &Scenario, until: u64, model: Model) -> Result<Vec<Event>, String> {
    let (_, engine) = run(config.clone(), inputs, until);
    // A run without outputs takes a shorter path through the engine, and gives the same events.
    let (_, without) = run(Config { keep_outputs: false, ..config.clone() }, inputs, until);
    if without != engine {
        return Err(format!("with outputs:\n{}without:\n{}", trace(&engine), trace(&without)));
    }
    no_frame_ends_early(config, &engine)?;
    let model = model(config, inputs, until);
    let same = engine.iter().zip(&model).take_while(|(a, b)| a == b).count();
    if same == engine.len() && same == model.len() {
        return Ok(engine);
    }
    let next = |events: &[Event]| trace(&events[same..events.len().min(same + 6)]);
    let before = trace(&engine[same.saturating_sub(30)..same]);
    let method = &config.method;
    Err(format!("{method:?}\nboth:\n{before}engine:\n{}model:\n{}", next(&engine), next(&model)))
}

/// Rules of the medium that no frame breaks: how long it lasts at least, and which attempt may be its last.
fn no_frame_ends_early(config: &Config, events: &[Event]) -> Result<(), String> {
    let (mut sizes, mut begun, mut attempts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for event in events {
        if let Kind::Offered { size } = event.kind {
            sizes.insert(event.frame, size);
        }
        if let Kind::Attempt { attempt, .. } = event.kind {
            attempts.insert(event.frame, attempt);
        }
        let attempts = attempts.get(&event.frame).copied().unwrap_or(0);
        let is_right = match event.kind {
            Kind::Attempt { .. } | Kind::Data { .. } => {
                begun.insert(event.frame, event.at);
                true
            }
            Kind::Delivered { .. } | Kind::Transmitted { .. } => {
                event.at >= begun[&event.frame] + config.lasts_at_least(sizes[&event.frame])
            }
            Kind::Discarded { cause, .. } => match cause {
                Cause::ExcessiveCollisions | Cause::LateCollision => config.may_be_last(attempts),
                Cause::TooShort | Cause::TooLong => attempts == 0,
                Cause::Detached => true,
            },
            _ => true,
        };
        if !is_right {
            return Err(format!("{:?}\n{event} comes too early:\n{}", config.method, trace(events)));
        }
    }
    Ok(())
}

/// Draws scenarios, and checks that the two agree on each, and that each of `kinds` occurred in some.
pub fn agree(
    name: &str,
    cases: u32,
    scenarios: impl Strategy<Value = Scenario>,
    agreed: impl Fn(&Scenario) -> Result<Vec<Event>, String>,
    kinds: &[&str],
) {
    let seen = RefCell::new(BTreeMap::<&str, u64>::new());
    let result = runner(cases).run(&scenarios, |scenario| {
        let events = agreed(&scenario).map_err(TestCaseError::fail)?;
        for event in events {
            *seen.borrow_mut().entry(event.kind.name()).or_default() += 1;
        }
        Ok(())
    });
    println!("{name}: {:?}", seen.borrow());
    if let Err(failure) = result {
        panic!("{failure}");
    }
    for kind in kinds {
        assert!(seen.borrow().contains_key(kind), "{name}: no {kind}");
    }
}
