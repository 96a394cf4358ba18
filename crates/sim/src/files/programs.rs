//! What the trace of a virtual lab knows of its programs: enough to run them again, and to say what is another one now.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a station of a virtual lab gets from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A command begins.
    Begin {
        /// A line of a shell.
        command: String,
        /// Its standard input comes from outside; it has none otherwise.
        has_input: bool,
    },
    /// Standard input of a command.
    Input {
        /// The number of the command among those of its station, from 1.
        command: usize,
        /// What comes; nothing at the end of the input.
        octets: Vec<u8>,
    },
}

/// Member `programs` of a trace's header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    /// The scenario file.
    pub scenario: String,
    /// The folder of that file, from which its paths count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The run's `--duration`, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ns: Option<u64>,
    /// The lab stayed up until it was taken down: its trace has what was done to it, and its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stays_up: bool,
    /// What the programs run on.
    pub machine: Machine,
}

/// What a run of programs depends on beside its scenario and seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The kernel's file.
    pub kernel: String,
    /// Its CRC-32, in hexadecimal digits.
    pub kernel_crc32: String,
    /// The features of the processor, as the system names them.
    pub processor: Vec<String>,
    /// Files of each root file system that tell one from another, with their CRC-32.
    pub roots: BTreeMap<String, BTreeMap<String, String>>,
}

impl Machine {
    /// What is another one on the machine `now`: a clause each.
    pub fn differences(&self, now: &Machine) -> Vec<String> {
        let mut differences = Vec::new();
        if self.kernel_crc32 != now.kernel_crc32 {
            differences.push(format!("the kernel {} is not the recorded one, {}", now.kernel, self.kernel));
        }
        let only = |one: &[String], other: &[String]| {
            let own: Vec<&str> = one.iter().filter(|it| !other.contains(it)).map(String::as_str).collect();
            own.join(", ")
        };
        for (clause, features) in [
            ("lacks", only(&self.processor, &now.processor)),
            ("has in addition", only(&now.processor, &self.processor)),
        ] {
            if !features.is_empty() {
                differences.push(format!("the processor {clause} {features}"));
            }
        }
        for (root, files) in &self.roots {
            let there = now.roots.get(root);
            let changed = files.iter().filter(|(file, crc)| there.and_then(|it| it.get(*file)) != Some(crc));
            let changed: Vec<&str> = changed.map(|(file, _)| file.as_str()).collect();
            if !changed.is_empty() {
                differences.push(format!("in the root {root} another content has {}", changed.join(", ")));
            }
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(kernel: &str, processor: &[&str], iperf3: &str) -> Machine {
        let files = [("usr/bin/iperf3", iperf3), ("etc/os-release", "1")];
        let files = files.map(|(file, crc)| (file.to_owned(), crc.to_owned()));
        Machine {
            kernel: format!("/k/{kernel}"),
            kernel_crc32: kernel.to_owned(),
            processor: processor.iter().copied().map(str::to_owned).collect(),
            roots: BTreeMap::from([("/".to_owned(), BTreeMap::from(files))]),
        }
    }

    #[test]
    fn each_difference_is_named() {
        let recorded = machine("a", &["avx", "avx2"], "2");
        assert!(recorded.differences(&machine("a", &["avx", "avx2"], "2")).is_empty());
        let told = recorded.differences(&machine("b", &["avx", "sse4a"], "3"));
        let wanted = [
            "the kernel /k/b is not the recorded one, /k/a",
            "the processor lacks avx2",
            "the processor has in addition sse4a",
            "in the root / another content has usr/bin/iperf3",
        ];
        assert_eq!(told, wanted);
    }
}
