//! The access methods that use a key, and the error for a scenario of another method.

use super::values::AccessMethod::{self, Aloha, Csma, CsmaCa, CsmaCd, Plca, SlottedAloha, Tdma};

/// The access methods that use a key.
#[derive(Clone, Copy, Debug)]
pub struct Of {
    methods: &'static [AccessMethod],
    otherwise: Otherwise,
}

/// What helps where another method is chosen.
#[derive(Clone, Copy, Debug)]
enum Otherwise {
    /// This method has it.
    Choose(AccessMethod),
    /// It is of collision detection.
    Detect,
    /// This method has something else for it.
    Write(AccessMethod, &'static str),
}

impl Of {
    /// All of them.
    pub const ANY: Of = Of { methods: AccessMethod::ALL, otherwise: Otherwise::Detect };
    /// Those that detect collisions.
    pub const DETECTORS: Of = Of { methods: &[CsmaCd, Plca], otherwise: Otherwise::Detect };
    /// Those without collision detection that contend in slots or frame times.
    pub const CONTENDERS: Of = Of { methods: &[Csma, Aloha, SlottedAloha], otherwise: Otherwise::Choose(SlottedAloha) };
    /// Those of radio: a receiver may decode one of several frames.
    pub const RADIO: Of =
        Of { methods: &[Csma, Aloha, SlottedAloha, CsmaCa], otherwise: Otherwise::Choose(SlottedAloha) };
    /// Slots without carrier sense.
    pub const SLOTTED_ALOHA: Of = Of { methods: &[SlottedAloha], otherwise: Otherwise::Choose(SlottedAloha) };
    /// Those whose senders wait for an acknowledgement that takes nothing of the medium.
    pub const ACKNOWLEDGED: Of =
        Of { methods: &[Csma, Aloha, SlottedAloha, Tdma], otherwise: Otherwise::Choose(SlottedAloha) };
    /// Slots of a fixed frame.
    pub const TDMA: Of = Of { methods: &[Tdma], otherwise: Otherwise::Choose(Tdma) };
    /// CSMA without collision detection.
    pub const CSMA: Of = Of { methods: &[Csma], otherwise: Otherwise::Choose(Csma) };
    /// IEEE 802.11.
    pub const CSMA_CA: Of = Of { methods: &[CsmaCa], otherwise: Otherwise::Choose(CsmaCa) };
    /// Those whose backoff can be chosen.
    pub const FREE_BACKOFF: Of = Of {
        methods: &[CsmaCd, Plca, Csma, Aloha, SlottedAloha],
        otherwise: Otherwise::Write(
            CsmaCa,
            "CSMA/CA waits by the window of 802.11: write `--window 32:1024`, or `window` in [access]",
        ),
    };
    /// Those that have one limit of attempts.
    pub const ONE_LIMIT: Of = Of {
        methods: &[CsmaCd, Plca, Csma, Aloha, SlottedAloha, Tdma],
        otherwise: Otherwise::Write(CsmaCa, "CSMA/CA has two limits: write `retry_limits = \"7:4\"` in [access]"),
    };

    /// Why `method` cannot have the key, and what would help; nothing if it uses the key.
    pub fn refusal(self, method: AccessMethod, is_option: bool) -> Option<String> {
        if self.methods.contains(&method) {
            return None;
        }
        let title = method.title();
        Some(match self.otherwise {
            Otherwise::Detect => format!("{title} detects no collision, and has no such thing: leave it out"),
            Otherwise::Write(of, what) if of == method => what.to_owned(),
            Otherwise::Write(..) => format!("{title} has no such thing: leave it out"),
            Otherwise::Choose(other) => {
                let right = match is_option {
                    true => format!("`--access {}`", other.word()),
                    false => format!("`method = \"{}\"`", other.word()),
                };
                format!("{title} has no such thing: leave it out, or choose another method with {right}")
            }
        })
    }
}
