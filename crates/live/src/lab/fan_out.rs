//! Whether the kernel makes the copies of frames for several stations, and if not, why.

use super::{BUS, MakeError};
use crate::plane::delivery::FEW_STATIONS;
use crate::plane::protocol::Port;
use link::fanout::{FanOutError, Hub, make_hubs};
use link::namespace::Namespace;
use sim::scenario::plan::Plan;
use sim::words::choices::FanOutChoice;

/// How frames get to several stations.
#[derive(Debug)]
pub enum FanOutMade {
    /// The kernel makes the copies, behind one hub or several.
    Kernel(Vec<Hub>),
    /// They are sent one by one, as the scenario says or since there are few.
    Batch,
    /// They are sent one by one, because the kernel refuses the program that makes them.
    Refused(FanOutError),
}

impl FanOutMade {
    /// Makes hubs, if the plan has a use for them.
    ///
    /// # Errors
    /// A kernel that refuses what the plan insists on.
    pub(super) fn make(plan: &Plan, bus: &Namespace, ports: &[Port]) -> Result<FanOutMade, MakeError> {
        let make = || {
            let indices: Vec<u32> = ports.iter().map(|port| port.index).collect();
            // No station can have this name, which is the namespace's too, nor one that a number is added to.
            make_hubs(bus, BUS, &indices)
        };
        match plan.fan_out {
            FanOutChoice::Batch => Ok(FanOutMade::Batch),
            FanOutChoice::Auto if ports.len() <= FEW_STATIONS => Ok(FanOutMade::Batch),
            FanOutChoice::Auto => Ok(make().map_or_else(FanOutMade::Refused, FanOutMade::Kernel)),
            FanOutChoice::Kernel => Ok(FanOutMade::Kernel(make()?)),
        }
    }

    /// The hubs' indices in the bus's namespace.
    pub fn indices(&self) -> Vec<u32> {
        self.hubs().iter().map(|hub| hub.index).collect()
    }

    /// The hubs; none if the kernel makes no copies.
    pub fn hubs(&self) -> &[Hub] {
        match self {
            FanOutMade::Kernel(hubs) => hubs,
            FanOutMade::Batch | FanOutMade::Refused(_) => &[],
        }
    }
}

impl std::fmt::Display for FanOutMade {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FanOutMade::Kernel(_) => formatter.write_str("fan-out in the kernel"),
            FanOutMade::Batch => formatter.write_str("fan-out as a batch"),
            FanOutMade::Refused(error) => {
                write!(formatter, "fan-out as a batch ({error}")?;
                let source = std::error::Error::source(error);
                source.map_or(Ok(()), |source| write!(formatter, ": {source}"))?;
                formatter.write_str(")")
            }
        }
    }
}
