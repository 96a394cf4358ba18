//! Sources at work on a running bus: filled as the medium takes their frames, or each at its own pace.

use super::sender::{Sender, run};
use crate::live::plane::protocol::{Request, Told};
use crate::live::supervisor::{DataPlane, SupervisorError, say_port, say_trouble};
use crossbeam_channel::{Receiver, never, select, tick};
use link::process::thread_cpu_time;
use link::signals::Signal;
use sim::figures::results::Results;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often saturated stations are given what the medium has taken from them.
const FILL: Duration = Duration::from_millis(2);

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

    /// Continues for `duration`, or until an interrupt; returns whether there was one.
    ///
    /// # Errors
    /// The data plane is gone.
    pub fn watch(
        &mut self,
        plane: &mut DataPlane,
        duration: Duration,
        interrupts: &Receiver<Signal>,
        look: Look<'_>,
    ) -> Result<bool, SupervisorError> {
        let (begin, told) = (Instant::now(), plane.told().clone());
        let looks = look.every.map_or_else(never, tick);
        let fills = if matches!(self, Offering::Asked { .. }) { tick(FILL) } else { never() };
        while begin.elapsed() < duration {
            let left = duration.saturating_sub(begin.elapsed());
            select! {
                recv(looks) -> _ => plane.ask(Request::Report)?,
                recv(fills) -> _ => plane.ask(Request::Progress)?,
                recv(interrupts) -> _ => return Ok(true),
                recv(told) -> told => match told {
                    Ok(Told::Progress(finished)) => self.fill(&finished),
                    Ok(Told::Results(results)) => (look.show)(&results),
                    Ok(Told::Port { station, state }) => say_port(&station, state),
                    // The results will report overload; here a message would only break a live line.
                    Ok(Told::Ready | Told::Restarted | Told::Calm | Told::Queues(_) | Told::Clock(_) | Told::Left | Told::Off(_) | Told::Seen(_) | Told::Discards(_) | Told::Kept(_) | Told::Overload { .. } | Told::Gone(_)) => {}
                    Ok(Told::Trouble(what)) => say_trouble(&what),
                    Err(_) => return Err(plane.died()),
                },
                default(left) => {}
            }
        }
        Ok(false)
    }

    fn fill(&mut self, finished: &[u64]) {
        if let Offering::Asked { senders, level } = self {
            senders.iter_mut().zip(finished).for_each(|(sender, &finished)| sender.fill(*level, finished));
        }
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
