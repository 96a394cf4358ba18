//! Noise at a node of a segment with PLCA, as a bench engineer says it.

use super::super::plca::noise::Noise;
use super::super::plca::segment::Segment;
use crate::words::units::group;
use medium::{Fault, Mishap};

/// Its cause, what the trace shows of it, and what to do.
pub(super) fn sentences(segment: &Segment, noise: &Noise) -> [String; 3] {
    let node = segment.name(noise.node);
    let name = noise.fault;
    let (cause, does, mend) = match noise.fault {
        Fault::OneWay => (
            format!("{node} is deaf: it sends and hears nothing (fault `{name}`)."),
            "It receives no frame and no BEACON, its plca_status falls after plca_status_timer, and then it sends with \
             plain CSMA/CD over the turns of others.",
            "Look at the receive side of its PHY: BCNCNT stays, PST is 0, and TXCOL of the others counts.",
        ),
        Fault::BitErrors(errors) => (
            format!("Bits arrive wrong at {node} (fault `{name}`)."),
            if errors.on_line {
                "Other nodes have the same errors: the noise comes from the line."
            } else {
                "Only what arrives there is wrong: the noise is at its tap."
            },
            "Look at termination, shield and supply, and compare FCS errors of all nodes: one node means its tap, all \
             nodes mean the line.",
        ),
        Fault::Signals { mishap, .. } => {
            let (what, does) = match mishap {
                Mishap::LostBeacon => (
                    "BEACONs get lost at",
                    "A node that misses a BEACON counts on, has no turn in that cycle, and waits for the next BEACON.",
                ),
                Mishap::BadBeacon => (
                    "BEACONs are not recognised at",
                    "A node that hears carrier and no BEACON goes through EARLY_RECEIVE, and waits for the next one.",
                ),
                Mishap::LostCommit => (
                    "COMMITs get lost at",
                    "A node that misses a COMMIT counts the turn as unused, until it hears the frame.",
                ),
                Mishap::BadCommit => (
                    "COMMITs are not recognised at",
                    "A node that hears carrier and no COMMIT does not know who takes the turn, until it hears the frame.",
                ),
            };
            (
                format!("{what} {node} (fault `{name}`)."),
                does,
                "Compare BCNCNT of all nodes: the one that counts fewer has the noise. Look at its tap and its stub.",
            )
        }
        Fault::Deaf | Fault::BadFcs | Fault::Babble | Fault::FullDuplex => {
            (format!("{node} has the fault `{name}`."), "", "")
        }
    };
    let fell = noise.fell.map(|at| format!("plca_status fell there at t = {}", group(at.get())));
    let count = |count: u64, what: &str| (count > 0).then(|| format!("{what}: {}", group(count)));
    let seen = [
        count(noise.damaged, "frames for it with a bad FCS"),
        count(noise.met, "attempts that met on the line because of it"),
        fell,
    ];
    let seen: Vec<String> = seen.into_iter().flatten().collect();
    let seen = if seen.is_empty() { "no frame was lost to it".to_owned() } else { seen.join("; ") };
    [cause, format!("{does} Here: {seen}.").trim_start().to_owned(), mend.to_owned()]
}
