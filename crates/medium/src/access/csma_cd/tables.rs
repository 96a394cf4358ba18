//! The tables of a station's two machines (802.3, 4.2.3.2 and 4.2.8). `None` marks an impossible input: a bug in
//! ethbus.
//!
//! Nothing here knows a medium: only states, inputs and names of actions.

/// States of the transmit machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// No frame.
    Idle,
    /// A frame is ready, and the station defers.
    WaitingToSend,
    /// Preamble or frame is on the medium.
    Transmitting,
    /// A collision was detected: the preamble is finished, then the jam is sent.
    Jamming,
    /// Waiting for the slots that were drawn; carrier does not stop the timer.
    BackingOff,
}

/// Inputs of the transmit machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmitInput {
    /// A frame came to the head of the queue, or joined those behind it.
    FrameReady,
    /// Deference lets the station send.
    MediumFree,
    /// Another signal is at the station's place while it sends.
    Collision,
    /// The timer of the present state ended.
    Timeout,
    /// The station is taken off the medium.
    Detach,
}

/// Actions of the transmit machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmitAct {
    /// Nothing changes.
    Stay,
    /// Ask Deference: send at once, or wait.
    Wait,
    /// Begin to send.
    Attempt,
    /// Finish the preamble and send the jam.
    Jam,
    /// The last bit is out: the frame is transmitted.
    Finish,
    /// The jam is out: draw slots, or discard the frame.
    BackOff,
    /// Discard all frames.
    Abandon,
}

impl Transmit {
    /// The machine's action in this state for `input`; `None` if that input is impossible here.
    pub const fn act(self, input: TransmitInput) -> Option<TransmitAct> {
        use {Transmit as S, TransmitAct as A, TransmitInput as I};
        match (self, input) {
            (S::Idle, I::FrameReady) => Some(A::Wait),
            (S::Idle, I::Detach) => Some(A::Stay),
            (S::Idle, I::MediumFree | I::Collision | I::Timeout) => None,
            (S::WaitingToSend, I::FrameReady) => Some(A::Stay),
            (S::WaitingToSend, I::MediumFree) => Some(A::Attempt),
            (S::WaitingToSend, I::Detach) => Some(A::Abandon),
            (S::WaitingToSend, I::Collision | I::Timeout) => None,
            (S::Transmitting, I::FrameReady | I::Detach) => Some(A::Stay),
            (S::Transmitting, I::Collision) => Some(A::Jam),
            (S::Transmitting, I::Timeout) => Some(A::Finish),
            (S::Transmitting, I::MediumFree) => None,
            (S::Jamming, I::FrameReady | I::Collision | I::Detach) => Some(A::Stay),
            (S::Jamming, I::Timeout) => Some(A::BackOff),
            (S::Jamming, I::MediumFree) => None,
            (S::BackingOff, I::FrameReady) => Some(A::Stay),
            (S::BackingOff, I::Timeout) => Some(A::Wait),
            (S::BackingOff, I::Detach) => Some(A::Abandon),
            (S::BackingOff, I::MediumFree | I::Collision) => None,
        }
    }
}

/// States of the deference machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deference {
    /// The station may send.
    Free,
    /// Carrier, or its own transmission.
    Busy,
    /// Silence, not yet long enough: carrier starts it anew.
    GapPart1,
    /// The rest of the gap: runs to its end regardless of carrier.
    GapPart2,
}

/// Inputs of the deference machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferenceInput {
    /// A signal begins at the station's place.
    CarrierOn,
    /// The last signal ends at the station's place.
    CarrierOff,
    /// The timer of the present part of the gap ended.
    Timeout,
}

/// Actions of the deference machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferenceAct {
    /// Nothing changes.
    Stay,
    /// Forget the gap and wait for silence.
    Yield,
    /// Start part 1 of the gap, or, right after the station's own transmission, the whole of it as part 2.
    StartGap,
    /// Start part 2 of the gap.
    StartPart2,
    /// Let the waiting frame go.
    Release,
}

impl Deference {
    /// The machine's action in this state for `input`; `None` if that input is impossible here.
    pub const fn act(self, input: DeferenceInput) -> Option<DeferenceAct> {
        use {Deference as S, DeferenceAct as A, DeferenceInput as I};
        match (self, input) {
            (S::Free, I::CarrierOn) => Some(A::Yield),
            (S::Free, I::CarrierOff) => Some(A::Stay),
            (S::Free, I::Timeout) => None,
            (S::Busy, I::CarrierOn) => Some(A::Stay),
            (S::Busy, I::CarrierOff) => Some(A::StartGap),
            (S::Busy, I::Timeout) => None,
            (S::GapPart1, I::CarrierOn) => Some(A::Yield),
            (S::GapPart1, I::CarrierOff) => Some(A::Stay),
            (S::GapPart1, I::Timeout) => Some(A::StartPart2),
            (S::GapPart2, I::CarrierOn | I::CarrierOff) => Some(A::Stay),
            (S::GapPart2, I::Timeout) => Some(A::Release),
        }
    }
}
