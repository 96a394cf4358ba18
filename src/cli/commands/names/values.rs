//! Values that options and scenario keys take. The parsers themselves name them: in a list of words, or in their error
//! for a text that makes no sense, where every form is between backquotes.

use medium::Phy;
use sim::explain::choice::Pick;
use sim::scenario::file::Scenario;
use sim::scenario::plan::join::SET;
use sim::scenario::plan::{Overrides, Plan};
use sim::settings::keys::{AT, Key, SCENARIO, Takes};
use sim::settings::options;
use sim::settings::overrides::dotted_key;
use sim::windows::capture::filter::Filter;
use sim::words::plca::SETTINGS;
use study::sweep::grid;

/// What no parser takes.
const NONSENSE: &str = "?";

/// The placeholder for a file's name in an example; the shell completes it.
const FILE: &str = "FILE";

/// Options whose values complete, by the names that the help gives these.
const OPTIONS: [&str; 6] = ["TOPOLOGY", "METHOD", "TRAFFIC", "BACKOFF", "PERSISTENCE", "PHY"];

/// The values of an option of a command.
pub fn of_option(command: &str, value_name: &str) -> Option<Vec<String>> {
    let mut values = of_key(&key_of(value_name)?);
    // Segments have sections of their own in a scenario.
    values.retain(|value| value != "segments");
    if command == "up" && value_name == "METHOD" {
        values.retain(|method| runs_in_real_time(method));
    }
    Some(values)
}

/// The key that says the same as the option whose value the help gives this name.
fn key_of(value_name: &str) -> Option<String> {
    let named = OPTIONS.iter().find(|name| **name == value_name)?;
    let overruling = options::OPTIONS.iter().find(|overruling| overruling.option.value == *named)?;
    Some(dotted_key(overruling.option.long))
}

/// Whether a lab can have this access method.
fn runs_in_real_time(method: &str) -> bool {
    let Ok(overrides) = Overrides::default().and("access", method) else { return false };
    Plan::new(&Scenario::default(), None, &overrides, 1).is_ok_and(|plan| plan.require_real_time().is_ok())
}

/// What `--set` may be that has been begun so: a key with `=`, or with a key's next value.
pub fn of_set(begun: &str) -> Vec<String> {
    let Some((key, _)) = begun.split_once('=') else {
        let keys = paths().into_iter().map(|(path, _)| path).filter(|path| grid::refused(path).is_none());
        return keys.map(|path| format!("{path}=")).collect();
    };
    let before = &begun[..=begun.rfind(',').unwrap_or(key.len())];
    of_key(key).into_iter().map(|value| format!("{before}{value}")).collect()
}

/// What a word of `ethbus plca set` may be that comes after `before`: a setting, or its value.
pub fn of_plca(before: &str) -> Vec<String> {
    let words: &[&str] = match before {
        "enable" | "dplca" | "coordinator-role" => &["on", "off"],
        // A number has no words.
        setting if SETTINGS.contains(&setting) => &[],
        _ => &SETTINGS,
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// What a setting of `ethbus set` may be that has been begun so: a key with `=`, or with a value.
pub fn of_setting(begun: &str) -> Vec<String> {
    let keys = || AT.iter().filter(|key| SET.contains(&key.name));
    let Some((begun, _)) = begun.split_once('=') else {
        return keys().map(|key| format!("{}=", key.name)).collect();
    };
    let key = keys().find(|key| key.name == begun);
    key.into_iter().flat_map(of).map(|value| format!("{begun}={value}")).collect()
}

/// What `--pick` may be that has been begun so, of a trace with these stations.
pub fn of_pick(begun: &str, stations: &[String]) -> Vec<String> {
    terms(begun, &Pick::parse(NONSENSE).err().unwrap_or_default(), stations)
}

/// What `--filter` may be that has been begun so, of a medium of these stations.
pub fn of_filter(begun: &str, stations: &[String]) -> Vec<String> {
    terms(begun, &Filter::read(NONSENSE, stations).err().unwrap_or_default(), stations)
}

/// Terms with commas between, of which the last is begun; `answer` names their forms.
fn terms(begun: &str, answer: &str, stations: &[String]) -> Vec<String> {
    let before = begun.rfind(',').map_or("", |comma| &begun[..=comma]);
    let forms = forms(answer);
    let forms = forms.into_iter().filter(|form| stations.is_empty() || !form.starts_with(STATION));
    let stations = stations.iter().map(|station| format!("{STATION}{station}"));
    forms.chain(stations).map(|form| format!("{before}{form}")).collect()
}

/// How a station's frames are picked.
const STATION: &str = "station=";

/// Every key of a scenario that has one place, with its section before it.
fn paths() -> Vec<(String, &'static Key)> {
    let of = |key: &'static Key| match key.takes {
        Takes::Section(keys) => keys.iter().map(|inner| (format!("{}.{}", key.name, inner.name), inner)).collect(),
        Takes::Sections(_) | Takes::Buses => Vec::new(),
        Takes::Text(_)
        | Takes::TextOrWhole(_)
        | Takes::Texts(_)
        | Takes::Choice(_)
        | Takes::Whole(..)
        | Takes::Number(..)
        | Takes::Switch => vec![(key.name.to_owned(), key)],
    };
    SCENARIO.iter().flat_map(of).collect()
}

/// What the key at `path` takes: all of it, or examples.
fn of_key(path: &str) -> Vec<String> {
    if path == "access.phy" {
        return Phy::ALL.iter().map(|phy| phy.name().to_owned()).collect();
    }
    paths().into_iter().find(|(known, _)| known == path).map_or_else(Vec::new, |(_, key)| of(key))
}

/// What a key takes: all of it, or examples.
fn of(key: &Key) -> Vec<String> {
    match key.takes {
        Takes::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        Takes::Switch => ["true", "false"].map(str::to_owned).to_vec(),
        Takes::Text(read) | Takes::TextOrWhole(read) | Takes::Texts(read) => {
            forms(&read(NONSENSE).err().unwrap_or_default())
        }
        Takes::Whole(..) | Takes::Number(..) | Takes::Section(_) | Takes::Sections(_) | Takes::Buses => Vec::new(),
    }
}

/// The forms that a parser's answer has between backquotes, without the text that it answers.
fn forms(answer: &str) -> Vec<String> {
    let quoted = answer.split('`').skip(1).step_by(2).filter(|form| *form != NONSENSE);
    quoted.map(|form| form.strip_suffix(FILE).unwrap_or(form).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, value: &str) -> Result<(), String> {
        let (_, key) = paths().into_iter().find(|(known, _)| known == path).expect("a key");
        match key.takes {
            Takes::Choice(words) => words.contains(&value).then_some(()).ok_or_else(|| value.to_owned()),
            Takes::Text(read) => read(value),
            _ => panic!("{path} is no text"),
        }
    }

    /// The parser accepts every value that is offered.
    #[test]
    fn every_value_that_is_offered_is_read() {
        for option in OPTIONS {
            let path = key_of(option).expect("a key");
            let values = of_option("sim", option).expect("known");
            assert!(values.len() >= 2, "{option}: {values:?}");
            for value in values.iter().filter(|value| !value.ends_with(':')) {
                assert_eq!(read(&path, value), Ok(()), "{option} {value}");
            }
        }
        assert!(of_option("sim", "TRAFFIC").expect("known").contains(&"replay:".to_owned()));
        for pick in of_pick("", &[]) {
            assert!(Pick::parse(&pick).is_ok(), "{pick}");
        }
    }

    /// `up` offers the methods that a lab can have, `sim` all.
    #[test]
    fn a_lab_is_offered_what_runs_in_real_time() {
        assert_eq!(of_option("up", "METHOD").expect("known"), ["csma-cd", "plca", "csma", "tdma"]);
        assert_eq!(of_option("sim", "METHOD").expect("known").len(), 7);
    }

    #[test]
    fn keys_and_their_values_are_offered_one_after_the_other() {
        let keys = of_set("");
        assert!(keys.contains(&"stations=".to_owned()) && keys.contains(&"medium.topology=".to_owned()), "{keys:?}");
        assert!(!keys.contains(&"seed=".to_owned()), "seeds are those of --seeds");
        assert!(of_set("access.method=").contains(&"access.method=csma-ca".to_owned()));
        assert!(of_set("access.method=csma-cd,").contains(&"access.method=csma-cd,plca".to_owned()));
        assert!(of_pick("collisions=3,", &["web".to_owned()]).contains(&"collisions=3,station=web".to_owned()));
        let filters = of_filter("frames,", &["web".to_owned()]);
        assert_eq!(
            filters,
            ["frames", "collisions", "rows", "address=", "station=web"].map(|it| format!("frames,{it}"))
        );
        assert!(of_set("no.such.key=").is_empty());
    }
}
