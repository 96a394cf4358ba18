//! Containers that have ended and are started again: their stations follow them into the new namespace.
//!
//! No engine reports a start, so a thread for each such container asks for its process now and then.

use crossbeam_channel::{Receiver, Sender, unbounded};
use live::lab::existing::process_of;
use sim::scenario::plan::StationPlan;
use sim::scenario::plan::host::{Engine, Host, Netns};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long a container is waited for between two questions: first, and at last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(8));

/// The containers that are waited for.
#[derive(Debug)]
pub struct Returns {
    sender: Sender<String>,
    /// Stations whose containers run again.
    pub back: Receiver<String>,
    /// As long as one is here, its thread asks.
    waiting: Vec<(String, Arc<()>)>,
}

impl Returns {
    /// Waits for none.
    pub fn new() -> Returns {
        let (sender, back) = unbounded();
        Returns { sender, back, waiting: Vec::new() }
    }

    /// Waits for the container of a station, if it is in one.
    pub fn wait_for(&mut self, station: &StationPlan) {
        let Host::Existing(existing) = &station.host else { return };
        let Netns::Container { engine, name } = &existing.netns else { return };
        let wanted = Arc::new(());
        let (still, engine, container) = (Arc::downgrade(&wanted), *engine, name.clone());
        let (sender, own) = (self.sender.clone(), station.name.clone());
        let ask = move || {
            if runs_again(engine, &container, &still) {
                // A lab that has ended wants no station.
                let _ = sender.send(own);
            }
        };
        self.forget(&station.name);
        // Without a thread the station stays off the medium, as those of other namespaces do.
        if std::thread::Builder::new().name("returns".to_owned()).spawn(ask).is_ok() {
            self.waiting.push((station.name.clone(), wanted));
        }
    }

    /// Waits no more for the container of this station; whether it was waited for.
    pub fn forget(&mut self, station: &str) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|(name, _)| name != station);
        self.waiting.len() < before
    }
}

/// Asks until the container has a process, or until it is not wanted any more.
fn runs_again(engine: Engine, container: &str, wanted: &Weak<()>) -> bool {
    let (mut pause, longest) = PAUSES;
    while wanted.strong_count() > 0 {
        std::thread::sleep(pause);
        // An engine that does not answer is one that is restarted.
        if process_of(engine, container).is_ok() {
            return wanted.strong_count() > 0;
        }
        pause = (pause * 2).min(longest);
    }
    false
}
