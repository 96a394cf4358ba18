//! The whole transition table of a station, as a reviewed snapshot: every state with every input.

mod common;

use common::check_golden;
use medium::{Deference, DeferenceInput, Transmit, TransmitInput};
use std::fmt::{Debug, Write};

fn table<S: Copy + Debug, I: Copy + Debug, A: Debug>(
    states: &[S],
    inputs: &[I],
    act: impl Fn(S, I) -> Option<A>,
) -> String {
    let mut text = String::new();
    for &state in states {
        for &input in inputs {
            let act = act(state, input).map_or("cannot be".to_owned(), |act| format!("{act:?}"));
            writeln!(text, "{:<13} {:<10} -> {act}", format!("{state:?}"), format!("{input:?}")).expect("a string");
        }
    }
    text
}

/// 802.3, 4.2.3.2 and figure 4-4b.
#[test]
fn transmit() {
    use {Transmit as S, TransmitInput as I};
    let states = [S::Idle, S::WaitingToSend, S::Transmitting, S::Jamming, S::BackingOff];
    let inputs = [I::FrameReady, I::MediumFree, I::Collision, I::Timeout, I::Detach];
    check_golden("transmit_table.txt", &table(&states, &inputs, S::act));
}

/// 802.3, 4.2.3.2.1 and the process Deference of 4.2.8.
#[test]
fn deference() {
    use {Deference as S, DeferenceInput as I};
    let states = [S::Free, S::Busy, S::GapPart1, S::GapPart2];
    let inputs = [I::CarrierOn, I::CarrierOff, I::Timeout];
    check_golden("deference_table.txt", &table(&states, &inputs, S::act));
}
