//! A station's fault under its name: in scenarios and records, on the command line, between processes.

use medium::Fault;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// A fault that is written as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultName(#[serde(with = "FaultMirror")] pub Fault);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Fault", rename_all = "snake_case")]
enum FaultMirror {
    Deaf,
    BadFcs,
    Babble,
}

impl FaultName {
    const ALL: [Fault; 3] = [Fault::Deaf, Fault::BadFcs, Fault::Babble];

    const fn name(self) -> &'static str {
        match self.0 {
            Fault::Deaf => "deaf",
            Fault::BadFcs => "bad_fcs",
            Fault::Babble => "babble",
        }
    }
}

impl Display for FaultName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A fault by its name; nothing for `none`.
///
/// # Errors
/// Another text, and what would be right.
pub fn fault(text: &str) -> Result<Option<Fault>, String> {
    if text == "none" {
        return Ok(None);
    }
    let found = FaultName::ALL.into_iter().find(|&fault| FaultName(fault).name() == text);
    found.map(Some).ok_or_else(|| {
        format!(
            "`{text}` is no fault: write `deaf` (no carrier sense), `bad_fcs`, `babble` (no limit to its frames) or `none`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_one_name_everywhere() {
        for known in FaultName::ALL {
            let name = FaultName(known).to_string();
            assert_eq!(serde_json::to_string(&FaultName(known)).expect("a name"), format!("\"{name}\""));
            assert_eq!(fault(&name), Ok(Some(known)));
        }
        assert_eq!(fault("none"), Ok(None));
        assert!(fault("mute").expect_err("no fault").contains("`deaf`"));
    }
}
