//! Whether results that another process tells can be true at all.
//!
//! The data plane is the process that meets strangers' frames. If one of them took it over, what it tells must still do the
//! supervisor no harm, nor the terminal on which it is shown.

use super::Results;
use crate::figures::metrics::places;
use medium::{Config, Counters};

/// The largest count that every JSON reader has exact: 2^53. At 1 Gb/s it takes centuries.
const LARGEST: u128 = 1 << 53;

impl Results {
    /// Checks what a reader of results may rely on.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.stations.len() > Config::MAX_STATIONS {
            return Err(format!("{} stations: at most {}", self.stations.len(), Config::MAX_STATIONS));
        }
        let names = self.stations.iter().map(|station| &station.name);
        let texts = self
            .emulator
            .iter()
            .flat_map(|emulator| [&emulator.priority, &emulator.copying.fan_out, &emulator.latency]);
        let links = self
            .emulator
            .iter()
            .flat_map(|emulator| emulator.links.iter().flat_map(|link| link.offloads.iter().chain([&link.station])));
        let files = self.emulator.iter().flat_map(|emulator| {
            let observers = &emulator.observers;
            let incomplete = observers.incomplete_files.iter().flat_map(|file| [&file.file, &file.holds]);
            incomplete.chain(&observers.kept_files)
        });
        let changes = self.emulator.iter().flat_map(|emulator| &emulator.changes);
        let changes = changes.flat_map(|change| [&change.station, &change.change]);
        let messages = self.plan.iter().flat_map(|plan| &plan.messages);
        let messages = messages.flat_map(|message| [&message.node, &message.message]);
        let texts = texts.chain(messages).chain(links).chain(files).chain(changes).chain([&self.config.topology]);
        if let Some(text) = names.chain(texts).find(|text| !is_plain(text)) {
            return Err(format!("{text:?} has control characters in it"));
        }
        for (name, _) in Counters::default().named() {
            let values = self.stations.iter().map(|station| station.counters.get(name).copied());
            check_sum(name, values)?;
        }
        check_sum("queued", self.stations.iter().map(|station| Some(station.queued)))?;
        check_sum("queued_at_start", self.stations.iter().map(|station| Some(station.queued_at_start)))?;
        let after_collisions = &self.medium.collision_frames;
        check_sum("collision_frames", after_collisions.iter().map(|&count| Some(count)))?;
        let sent: u64 = self.stations.iter().map(|station| station.counter("frames_transmitted_ok")).sum();
        let limit = self.config.medium.config().attempt_limit();
        // Beyond 1,023 places, or where there is no limit, there are as many as were needed.
        let most = limit.map_or(usize::MAX, |limit| limit.get() as usize);
        let fits = (places(limit)..most).contains(&after_collisions.len());
        if !fits || after_collisions.iter().sum::<u64>() > sent {
            let places = places(limit);
            return Err(format!("`collision_frames` has {places} numbers, together at most `frames_transmitted_ok`"));
        }
        let contention = [
            ("collision_multiplicity", &self.medium.collision_multiplicity),
            ("episodes_before_success", &self.medium.episodes_before_success),
            ("capture_runs", &self.medium.capture_runs),
        ];
        contention.into_iter().try_for_each(|(name, counts)| check_sum(name, counts.iter().map(|&count| Some(count))))
    }
}

/// Whether a text is a line of its own and nothing else for a terminal.
pub fn is_plain(text: &str) -> bool {
    !text.contains(char::is_control)
}

fn check_sum(name: &str, values: impl Iterator<Item = Option<u64>>) -> Result<(), String> {
    let values: Option<Vec<u64>> = values.collect();
    let values = values.ok_or_else(|| format!("a station has no `{name}`"))?;
    match values.iter().map(|&value| u128::from(value)).sum::<u128>() {
        sum if sum <= LARGEST => Ok(()),
        sum => Err(format!("`{name}` is {sum} in all: at most {LARGEST}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::messages::{MessageResults, PlanResults};
    use crate::figures::results::{ChangeResults, EmulatorResults};

    /// What a run of three stations told, as a data plane would tell it.
    const TOLD: &[u8] = include_bytes!("../../../../../fuzz/corpus/messages/results");

    fn results(change: impl FnOnce(&mut serde_json::Value)) -> Results {
        let mut told: serde_json::Value = serde_json::from_slice(TOLD).expect("JSON");
        change(&mut told["results"]);
        serde_json::from_value(told["results"].take()).expect("results")
    }

    #[track_caller]
    fn refused(word: &str, change: impl FnOnce(&mut serde_json::Value)) {
        let error = results(change).check().expect_err(word);
        assert!(error.contains(word), "no `{word}` in {error}");
    }

    #[test]
    fn results_of_a_run_are_believed() {
        let results = results(|_| ());
        assert_eq!(results.check(), Ok(()));
    }

    /// The first of these was found by fuzz/targets/messages.rs.
    #[test]
    fn results_that_cannot_be_are_refused() {
        refused("frames_transmitted_ok", |it| {
            let station = it["stations"][0].as_object_mut().expect("a station");
            station.remove("frames_transmitted_ok");
        });
        refused("control characters", |it| it["stations"][0]["name"] = "\u{1b}[2J".into());
        refused("control characters", |it| {
            let changes = vec![ChangeResults { change: "\u{7}".to_owned(), ..ChangeResults::default() }];
            let emulator = EmulatorResults { changes, ..EmulatorResults::default() };
            it["emulator"] = serde_json::to_value(emulator).expect("numbers and names");
        });
        refused("control characters", |it| {
            let message = MessageResults { message: "\u{1b}c".to_owned(), ..MessageResults::default() };
            let plan = PlanResults { messages: vec![message], ..PlanResults::default() };
            it["plan"] = serde_json::to_value(plan).expect("numbers and names");
        });
        refused("`offered`", |it| it["stations"][1]["offered"] = u64::MAX.into());
        refused("`queued`", |it| it["stations"][2]["queued"] = u64::MAX.into());
        refused("15 numbers", |it| it["medium"]["collision_frames"] = vec![1; 14].into());
        refused("15 numbers", |it| it["medium"]["collision_frames"][0] = (1_u64 << 50).into());
        refused("4 numbers", |it| it["config"]["medium"]["parameters"]["attempt_limit"] = 5.into());
        refused("collision_multiplicity", |it| it["medium"]["collision_multiplicity"] = vec![u64::MAX; 2].into());
        refused("1025 stations", |it| {
            let station = it["stations"][0].clone();
            it["stations"] = vec![station; 1025].into();
        });
    }
}
