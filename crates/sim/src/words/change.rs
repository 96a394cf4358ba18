//! Changes to stations, to the cable and to queues, as results and metrics name them.

use crate::words::fault::FaultName;
use crate::words::units::many;
use medium::{Input, StationId};

/// The station of a change, if it is not the cable's, and the change's name; none for a frame.
pub fn change(input: &Input) -> Option<(Option<StationId>, String)> {
    Some(match *input {
        Input::Offer { .. } => return None,
        Input::Attach { station } => (Some(station), "attach".to_owned()),
        Input::Detach { station } => (Some(station), "detach".to_owned()),
        Input::Join { station, .. } => (Some(station), "join".to_owned()),
        Input::Leave { station } => (Some(station), "leave".to_owned()),
        Input::SetFault { station, fault: None } => (Some(station), "fault none".to_owned()),
        Input::SetFault { station, fault: Some(fault) } => {
            (Some(station), format!("fault {}", FaultName(fault).name()))
        }
        Input::SetPlca { station, .. } => (Some(station), "plca".to_owned()),
        Input::SetCut { cut: Some(_) } => (None, "cut".to_owned()),
        Input::SetCut { cut: None } => (None, "mend".to_owned()),
        Input::SetQueue { .. } => (None, "queue".to_owned()),
    })
}

/// That transmit queues hold another number of frames.
pub fn queues_hold(limit: usize) -> String {
    format!("queues hold {}", many(limit as u64, "frame"))
}
