//! The table of CSMA/CA: each step of a station, the phases in which it can happen, and the phase after it.
//!
//! The engine takes the phase after a step from this table, and a build with debug assertions checks the phase before
//! it. The flow chart of `ethbus plot --figure csma-ca` is drawn from the same table. Knows no medium and no station.

use super::{Mac, Question, State};

/// A state without its particulars; the answer that a sender waits for tells two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DcfPhase {
    /// No frame, and the slots after the last one are over.
    Idle,
    /// Waits for the gap (DIFS or EIFS) and its slots.
    Waiting,
    /// Has sent its RTS, and waits for the CTS.
    AwaitsCts,
    /// Has the CTS, and waits a SIFS.
    Granted,
    /// Has sent its frame, and waits for the ACK.
    AwaitsAck,
    /// Sends a frame for a group, which gets no answer.
    SendsToGroup,
}

/// Defines the steps once: the enumeration, and for each step its text and its phases.
macro_rules! steps {
    ($($(#[$doc:meta])* $step:ident: $text:literal, $($from:ident)|+ => $to:ident,)*) => {
        /// What a station does that changes its phase.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum DcfStep {
            $($(#[$doc])* $step,)*
        }

        impl DcfStep {
            /// All steps.
            pub const ALL: &[DcfStep] = &[$(DcfStep::$step,)*];

            /// The phases in which it can happen.
            pub const fn from(self) -> &'static [DcfPhase] {
                match self {
                    $(DcfStep::$step => &[$(DcfPhase::$from,)+],)*
                }
            }

            /// The phase after it.
            #[inline(always)]
            pub const fn to(self) -> DcfPhase {
                match self {
                    $(DcfStep::$step => DcfPhase::$to,)*
                }
            }

            /// What happens, in words.
            pub const fn text(self) -> &'static str {
                match self {
                    $(DcfStep::$step => $text,)*
                }
            }
        }
    };
}

steps! {
    /// The host has a frame (IEEE 802.11, 10.3.4.2).
    FrameArrives: "a frame arrives", Idle => Waiting,
    /// The slots after a frame are over, and the queue is empty (10.3.4.3).
    NothingToSend: "gap and slots over, no frame", Waiting => Idle,
    /// The gap and the slots are over (10.3.2.7).
    SendsRts: "gap and slots over: sends RTS", Waiting => AwaitsCts,
    /// The CTS arrived, undisturbed.
    CtsArrives: "CTS arrives", AwaitsCts => Granted,
    /// With a grant after a SIFS, or without RTS.
    SendsFrame: "gap over: sends the frame", Waiting | Granted => AwaitsAck,
    /// The ACK arrived, undisturbed: the next slots are drawn from the first window.
    AckArrives: "ACK arrives: frame sent", AwaitsAck => Waiting,
    /// No answer in time, and attempts are left: slots are drawn from twice as many (10.3.3).
    Fails: "no answer: window doubles", AwaitsCts | AwaitsAck => Waiting,
    /// No answer, and no attempt is left (10.3.4.4).
    GivesUp: "no attempt left: frame discarded", AwaitsCts | AwaitsAck => Waiting,
    /// A frame for a group goes out without RTS.
    SendsToGroup: "gap and slots over: sends to a group", Waiting => SendsToGroup,
    /// The frame for a group is out.
    GroupFrameEnds: "the frame ends", SendsToGroup => Waiting,
    /// The cable is pulled: an attempt under way goes to its end first.
    Unplugged: "unplugged", Waiting | AwaitsCts | Granted | AwaitsAck | SendsToGroup => Idle,
}

impl State {
    fn phase(self) -> DcfPhase {
        match self {
            State::Idle => DcfPhase::Idle,
            State::Waiting => DcfPhase::Waiting,
            State::Asking(Question { answer: super::Content::Cts, .. }) => DcfPhase::AwaitsCts,
            State::Asking(_) => DcfPhase::AwaitsAck,
            State::Granted => DcfPhase::Granted,
            State::Telling => DcfPhase::SendsToGroup,
        }
    }
}

impl Mac {
    /// Takes a step, after which the station waits for no answer. With [`Mac::ask`] the only place where its state changes.
    #[inline(always)]
    pub(super) fn take(&mut self, step: DcfStep) {
        self.check(step);
        self.state = match step.to() {
            DcfPhase::Idle => State::Idle,
            DcfPhase::Waiting => State::Waiting,
            DcfPhase::Granted => State::Granted,
            DcfPhase::SendsToGroup => State::Telling,
            DcfPhase::AwaitsCts | DcfPhase::AwaitsAck => panic!("{step:?} comes with a question"),
        };
    }

    /// Takes a step, after which the station waits for an answer.
    #[inline(always)]
    pub(super) fn ask(&mut self, step: DcfStep, question: Question) {
        self.check(step);
        self.state = State::Asking(question);
        debug_assert_eq!(self.state.phase(), step.to(), "{step:?}");
    }

    #[inline(always)]
    fn check(&self, step: DcfStep) {
        debug_assert!(step.from().contains(&self.state.phase()), "{step:?} in {:?}", self.state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every phase is reached, and left again.
    #[test]
    fn no_phase_is_a_dead_end() {
        let phases = [
            DcfPhase::Idle,
            DcfPhase::Waiting,
            DcfPhase::AwaitsCts,
            DcfPhase::Granted,
            DcfPhase::AwaitsAck,
            DcfPhase::SendsToGroup,
        ];
        for phase in phases {
            assert!(DcfStep::ALL.iter().any(|step| step.to() == phase), "{phase:?} is never reached");
            assert!(DcfStep::ALL.iter().any(|step| step.from().contains(&phase)), "{phase:?} is never left");
        }
    }
}
