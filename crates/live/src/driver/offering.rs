//! Sources at work on a running bus: filled as the medium takes their frames, or each at its own pace.

use super::sender::{Sender, run};
use crate::plane::protocol::{Request, Told};
use crate::supervisor::{DataPlane, SupervisorError, say_port, say_trouble};
use crossbeam_channel::{Receiver, never, select, tick};
use link::process::thread_cpu_time;
use link::signals::Signal;
use sim::figures::results::Results;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often saturated stations are given what the medium has taken from them.
pub const FILL: Duration = Duration::from_millis(2);

/// Sources that offer frames.
#[derive(Debug)]
pub enum Offering {
    /// Filled by hand up to a level, whenever the data plane tells what it is done with.
    Asked {
        /// One for each station that offers.
        senders: Vec<Sender>,
        /// Frames that each station's queue is filled up to.
        level: u64,
    },
    /// Each at its own pace, in a thread for all of them.
    Paced {
        /// Whether the thread must continue.
        go_on: Arc<AtomicBool>,
        /// The thread; gives the processor time that it took, too.
        driver: JoinHandle<(Vec<Sender>, Duration)>,
    },
}

/// What is seen of a bus while senders offer frames to it.
pub struct Look<'a> {
    /// How often; never if left out.
    pub every: Option<Duration>,
    /// Is shown the results so far.
    pub show: &'a mut dyn FnMut(&Results),
}

/// Sources whose next frames depend on what the running bus reports.
pub trait Fed {
    /// What they ask the data plane for every two milliseconds, if they are to be filled.
    fn asks(&self) -> Option<Request>;

    /// Hears what the data plane tells.
    fn hear(&mut self, told: &Told);
}

impl Fed for Offering {
    fn asks(&self) -> Option<Request> {
        matches!(self, Offering::Asked { .. }).then_some(Request::Progress)
    }

    fn hear(&mut self, told: &Told) {
        if let (Offering::Asked { senders, level }, Told::Progress(finished)) = (self, told) {
            senders.iter_mut().zip(finished).for_each(|(sender, &finished)| sender.fill(*level, finished));
        }
    }
}

impl Offering {
    /// One sender for each station, kept saturated.
    pub fn asked(senders: Vec<Sender>, level: u64) -> Offering {
        Offering::Asked { senders, level }
    }

    /// Starts senders that have paces of their own.
    pub fn paced(mut senders: Vec<Sender>) -> Offering {
        let go_on = Arc::new(AtomicBool::new(true));
        let driver = std::thread::spawn({
            let go_on = go_on.clone();
            move || {
                run(&mut senders, || go_on.load(Ordering::Relaxed));
                // Every Linux tells a thread its own time.
                (senders, thread_cpu_time().unwrap_or_default())
            }
        });
        Offering::Paced { go_on, driver }
    }

    /// Ends it, and gives the senders back, with the processor time of the thread that drove them.
    pub fn stop(self) -> (Vec<Sender>, Duration) {
        match self {
            Offering::Asked { senders, .. } => (senders, Duration::ZERO),
            Offering::Paced { go_on, driver } => {
                go_on.store(false, Ordering::Relaxed);
                driver.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
        }
    }
}

/// Feeds `sources` for `duration`, or until an interrupt; returns whether there was one.
///
/// # Errors
/// The data plane is gone.
pub fn feed(
    sources: &mut impl Fed,
    plane: &mut DataPlane,
    duration: Duration,
    interrupts: &Receiver<Signal>,
    look: Look<'_>,
) -> Result<bool, SupervisorError> {
    let (begin, told) = (Instant::now(), plane.told().clone());
    let looks = look.every.map_or_else(never, tick);
    let fills = sources.asks().map_or_else(never, |_| tick(FILL));
    while begin.elapsed() < duration {
        let left = duration.saturating_sub(begin.elapsed());
        select! {
            recv(looks) -> _ => plane.ask(Request::Report)?,
            recv(fills) -> _ => sources.asks().map_or(Ok(()), |asks| plane.ask(asks))?,
            recv(interrupts) -> _ => return Ok(true),
            recv(told) -> told => match told {
                Ok(Told::Results(results)) => (look.show)(&results),
                Ok(Told::Port { station, state }) => say_port(&station, state),
                Ok(Told::Trouble(what)) => say_trouble(&what),
                // The results will report overload; here a message would only break a live line.
                Ok(told) => sources.hear(&told),
                Err(_) => return Err(plane.died()),
            },
            default(left) => {}
        }
    }
    Ok(false)
}
