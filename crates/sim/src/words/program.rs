//! A program of a station in a virtual lab, as a scenario writes it: `at 3s ping -c 3 st1`, `iperf3 -s &`.

use super::units;
use std::str::FromStr;
use std::time::Duration;

/// A program that a station runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// When, from the lab's first instant on.
    pub at: Duration,
    /// What its shell runs.
    pub command: String,
    /// The run does not wait for its end.
    pub is_service: bool,
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Program, String> {
        let all = text.trim();
        let (at, rest) = match all.strip_prefix("at ") {
            None => (Duration::ZERO, all),
            Some(rest) => {
                let (at, command) = rest.trim_start().split_once(' ').unwrap_or((rest, ""));
                (units::duration_or_zero(at)?, command.trim())
            }
        };
        let is_service = rest.ends_with('&') && !rest.ends_with("&&");
        let command = if is_service { rest[..rest.len() - 1].trim_end() } else { rest };
        if command.is_empty() {
            return Err(format!("`{text}` has no program: write it like `at 3s ping -c 3 st1`"));
        }
        if command.chars().any(char::is_control) {
            return Err("a program is one line: write `;` between commands".to_owned());
        }
        Ok(Program { at, command: command.to_owned(), is_service })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_an_instant_and_may_be_a_service() {
        let program = |ms, command: &str, is_service| {
            Ok(Program { at: Duration::from_millis(ms), command: command.to_owned(), is_service })
        };
        assert_eq!("ping -c 3 st1".parse::<Program>(), program(0, "ping -c 3 st1", false));
        assert_eq!("at 2.5s iperf3 -c st1".parse::<Program>(), program(2500, "iperf3 -c st1", false));
        assert_eq!(" at 0s  iperf3 -s & ".parse::<Program>(), program(0, "iperf3 -s", true));
        for text in ["", "&", "at 3s", "at 3s ", "at noon ping st1", "ping\nst1", "at -1s ping st1"] {
            assert!(text.parse::<Program>().is_err(), "{text}");
        }
    }
}
