//! A lab that is up: answers requests, passes on the data plane's reports, makes the scenario's changes in time, until a
//! client or an interrupt ends the lab.

use super::{CommandError, Ended, Requests, end, with_links};
use crate::cli::args::Format;
use crate::live::control::{self, Control};
use crate::live::discards::Streams;
use crate::live::driver::scenario::Offers;
use crate::live::lab::inventory::Inventory;
use crate::live::lab::links::Links;
use crate::live::plane::protocol::{Change, Request, Told};
use crate::live::supervisor::{DataPlane, SupervisorError, say_overload, say_port, say_trouble};
use crate::live::watchers::Watchers;
use crate::show::say;
use crossbeam_channel::{Receiver, at, never, select, tick};
use link::signals::Signal;
use medium::{BitInstant, BitRate, Input};
use sim::figures::results::Results;
use sim::scenario::plan::Plan;
use sim::windows::capture::filter::Filter;
use sim::windows::capture::{Framing, Wish};
use sim::words::fault::FaultName;
use sim::words::units::many;
use std::collections::VecDeque;
use std::io::Write;
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How often a lab looks whether it can still be reached: a user's folder may go when he logs out.
const LOOK: Duration = Duration::from_secs(2);
/// How often saturated stations are given what the medium has taken from them.
const FILL: Duration = Duration::from_millis(2);

/// What the scenario does to stations and cable, and when.
pub struct Schedule {
    /// Its first instant.
    pub begin: Instant,
    /// Bits in a second of real time.
    rate: BitRate,
    changes: VecDeque<(BitInstant, Input)>,
}

impl Schedule {
    /// The changes of `plan`; its first instant is now, until the caller sets another.
    pub fn new(plan: &Plan) -> Schedule {
        let rate = plan.pace.rate(plan.medium.rate);
        Schedule { begin: Instant::now(), rate, changes: plan.changes.iter().copied().collect() }
    }

    /// When something is due next.
    fn next(&self) -> Option<Instant> {
        let (at, _) = self.changes.front()?;
        self.begin.checked_add(at.since(BitInstant::ZERO).at(self.rate))
    }

    /// Asks the data plane for what the scenario has for the first instant.
    ///
    /// # Errors
    /// The data plane is gone.
    pub fn act_at_once(&mut self, plane: &mut DataPlane) -> Result<(), SupervisorError> {
        while let Some((_, input)) = self.changes.pop_front_if(|(at, _)| *at == BitInstant::ZERO) {
            if let Some((request, _)) = request(input, &|_| String::new()) {
                plane.ask(request)?;
            }
        }
        Ok(())
    }

    /// Asks the data plane for all that is due. The record has the bit time at which each was done.
    ///
    /// # Errors
    /// The data plane is gone.
    pub fn act(&mut self, plane: &mut DataPlane, names: &dyn Fn(u16) -> String) -> Result<(), SupervisorError> {
        while self.next().is_some_and(|due| due <= Instant::now()) {
            let Some((_, input)) = self.changes.pop_front() else { break };
            let Some((request, what)) = request(input, names) else { continue };
            plane.ask(request)?;
            // Of a cable that is pulled or put back the data plane tells.
            what.iter().for_each(|what| say(&format!("ethbus: as the scenario has it, {what}\n")));
        }
        Ok(())
    }
}

/// What to ask the data plane for, and what to say of it.
fn request(input: Input, names: &dyn Fn(u16) -> String) -> Option<(Request, Option<String>)> {
    let change = |station: medium::StationId, change| Request::Change { station: station.index() as u16, change };
    match input {
        Input::Attach { station } => Some((change(station, Change::Attach), None)),
        Input::Detach { station } => Some((change(station, Change::Detach), None)),
        Input::SetFault { station, fault } => {
            let name = names(station.index() as u16);
            let what = fault.map_or_else(
                || format!("nothing is wrong with {name} any more"),
                |fault| format!("{name} has the fault {} from now on", FaultName(fault)),
            );
            Some((change(station, Change::Fault(fault.map(FaultName))), Some(what)))
        }
        Input::SetPlca { station, settings } => {
            let what = format!("PLCA of {} is told other settings", names(station.index() as u16));
            Some((change(station, Change::Plca(settings.into())), Some(what)))
        }
        Input::SetCut { cut } => {
            let what = if cut.is_some() { "the cable is cut" } else { "the cable is mended" };
            Some((Request::Cable(cut.map(Into::into)), Some(what.to_owned())))
        }
        Input::Offer { .. } => None,
    }
}

/// The clients that have asked for results, and when.
type Asked = VecDeque<(Instant, UnixStream)>;

/// A lab that is up.
pub struct Serving<'a> {
    pub plan: &'a Plan,
    pub plane: DataPlane,
    pub record: &'a Inventory,
    pub links: &'a Links,
    /// What a trusted run may be off by, as a part.
    pub tolerance: f64,
    /// How the last results are written.
    pub format: Format,
    pub offers: Offers,
    pub schedule: Schedule,
    pub asked: Asked,
    pub watchers: Watchers,
    pub discards: Streams,
}

/// The lab ends; the client that asked for it waits at the stream's other end.
type End = ControlFlow<Option<UnixStream>>;

const GO_ON: Result<End, CommandError> = Ok(ControlFlow::Continue(()));

impl Serving<'_> {
    /// Serves the lab until its end, and tells how it ended.
    ///
    /// # Errors
    /// The data plane is gone or does not answer.
    pub fn until_its_end(mut self, requests: &Requests, interrupts: &Receiver<Signal>) -> Result<Ended, CommandError> {
        let told = self.plane.told().clone();
        let looks = tick(LOOK);
        let fills = if self.offers.ask_for_queues() { tick(FILL) } else { never() };
        let stream = loop {
            let overdue = self.asked.front().map_or_else(never, |(since, _)| at(*since + DataPlane::PATIENCE));
            let due = self.schedule.next().map_or_else(never, at);
            let next = select! {
                recv(overdue) -> _ => return Err(self.silent().into()),
                recv(interrupts) -> _ => break None,
                recv(looks) -> _ => self.look(),
                recv(due) -> _ => self.act()?,
                recv(fills) -> _ => self.plane.ask(Request::Queues).map(ControlFlow::Continue)?,
                recv(told) -> told => match told {
                    Ok(told) => self.pass_on(told)?,
                    Err(_) => return Err(self.plane.died().into()),
                },
                recv(self.discards.connected) -> connected => match connected {
                    Ok((station, stream)) => self.hear_of_discards(station, stream)?,
                    Err(_) => ControlFlow::Continue(()),
                },
                recv(requests) -> request => match request {
                    Ok((request, stream)) => self.answer(request, stream)?,
                    Err(_) => break None,
                },
            };
            if let ControlFlow::Break(stream) = next {
                break stream;
            }
        };
        // Its sockets keep the stations' namespaces alive.
        let offered = self.offers.stop();
        if offered.refused > 0 {
            say(&format!(
                "ethbus: stations' kernels refused {} of the scenario's traffic\n",
                many(offered.refused, "frame")
            ));
        }
        end(self.plane, stream, self.record, self.links, self.tolerance, self.format)
    }

    /// The data plane did not answer: says so to those who wait for it.
    fn silent(&mut self) -> SupervisorError {
        let error = SupervisorError::Silent;
        let asked = std::mem::take(&mut self.asked);
        asked.into_iter().for_each(|(_, stream)| control::refuse(stream, &format!("{error}, so the lab ends")));
        error
    }

    fn look(&self) -> End {
        if self.record.is_there() {
            return ControlFlow::Continue(());
        }
        say("ethbus: this lab's record is gone, so nobody could ask it for anything, nor take it down: it ends\n");
        ControlFlow::Break(None)
    }

    /// Does what the scenario has for now.
    fn act(&mut self) -> Result<End, CommandError> {
        let stations = &self.plan.stations;
        self.schedule.act(&mut self.plane, &|number| stations[usize::from(number)].name.clone())?;
        GO_ON
    }

    fn pass_on(&mut self, told: Told) -> Result<End, CommandError> {
        match told {
            Told::Port { station, state } => {
                // First, so that what is written beside this thread comes after the log's new beginning.
                self.record.shorten_log();
                say_port(&station, state);
            }
            // The results include losses of a second that no message reports.
            Told::Overload { slip_ns, drops: 0 } if slip_ns as f64 <= 1e9 * self.tolerance => {}
            Told::Overload { slip_ns, drops } => {
                self.record.shorten_log();
                say_overload(slip_ns, drops);
            }
            Told::Trouble(what) => say_trouble(&what),
            Told::Kept(kept) => {
                self.record.shorten_log();
                self.plane.keeper().iter().for_each(|keeper| keeper.told(kept.clone()));
            }
            Told::Results(mut results) => {
                self.plane.keeper().iter().for_each(|keeper| keeper.add_to(&mut results));
                let results = with_links(*results, self.links, self.record, self.tolerance);
                write(&results, self.asked.pop_front().map(|(_, stream)| stream));
            }
            Told::Queues(queued) => self.offers.fill(&queued),
            Told::Seen(seen) => {
                self.watchers.tell(&seen);
                if self.watchers.is_empty() {
                    self.plane.ask(Request::Watch(false))?;
                }
            }
            Told::Discards(discards) => {
                self.discards.tell(&discards).map_or(Ok(()), |request| self.plane.ask(request))?;
            }
            Told::Ready | Told::Restarted | Told::Calm | Told::Progress(_) => {}
        }
        GO_ON
    }

    /// A program in a station reads its discards from now on.
    fn hear_of_discards(&mut self, station: usize, stream: UnixStream) -> Result<End, CommandError> {
        self.discards.add(station, stream).map_or(Ok(()), |request| self.plane.ask(request))?;
        GO_ON
    }

    fn answer(&mut self, request: Control, stream: UnixStream) -> Result<End, CommandError> {
        match request {
            Control::Stats => self.ask(stream)?,
            Control::Events => {
                if self.watchers.is_empty() {
                    self.plane.ask(Request::Watch(true))?;
                }
                self.watchers.add(stream);
            }
            Control::Discards { station } => match self.discards.path(self.record, &station) {
                Ok(path) => send(&path.to_string_lossy(), stream),
                Err(error) => control::refuse(stream, &error.to_string()),
            },
            Control::Keep => match self.plane.keeper() {
                Some(keeper) => {
                    keeper.ask(stream);
                    self.plane.ask(Request::Keep)?;
                }
                None => control::refuse(stream, "it keeps no last seconds: bring it up with `--keep FILE`"),
            },
            Control::Change { station, change } => {
                // A station that does not exist gets no answer: the client has checked its name before.
                if let Some(station) = self.plan.stations.iter().position(|known| known.name == station) {
                    self.plane.ask(Request::Change { station: station as u16, change })?;
                    self.ask(stream)?;
                }
            }
            Control::Capture { framing, filter } => self.capture(framing, &filter, &stream)?,
            Control::Enter { station } => hand_over(self.record, &station, stream),
            Control::Cable(cut) => {
                // Nor does a cut that is none.
                if cut.is_none_or(|cut| self.plan.medium.topology.beyond(cut.into()).is_ok()) {
                    self.plane.ask(Request::Cable(cut))?;
                    self.ask(stream)?;
                }
            }
            Control::Panic if cfg!(debug_assertions) => panic!("asked to panic"),
            Control::Trespass if cfg!(debug_assertions) => self.plane.ask(Request::Trespass)?,
            Control::BusPanic if cfg!(debug_assertions) => self.plane.ask(Request::Panic)?,
            Control::Panic | Control::Trespass | Control::BusPanic => {}
            Control::Down => return Ok(ControlFlow::Break(Some(stream))),
        }
        GO_ON
    }

    /// Has the data plane write a capture to the client. A filter that is none gets no answer: the client has checked it.
    fn capture(&mut self, framing: Framing, filter: &str, stream: &UnixStream) -> Result<(), SupervisorError> {
        let filter = if filter.is_empty() { Ok(Filter::ALL) } else { Filter::read(filter, &self.plan.station_names()) };
        // The data plane has a thread that waits for the reader of this stream alone.
        match filter {
            Ok(filter) if stream.set_write_timeout(None).is_ok() => {
                self.plane.capture(Wish { framing, filter }, stream)
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Asks for results on behalf of the client at the other end of `stream`.
    fn ask(&mut self, stream: UnixStream) -> Result<(), SupervisorError> {
        self.plane.ask(Request::Report)?;
        self.asked.push_back((Instant::now(), stream));
        Ok(())
    }
}

/// Gives the client what it needs to enter a station without a name. Where stations have names, no client asks.
fn hand_over(record: &Inventory, station: &str, stream: UnixStream) {
    let Some(namespace) = record.held(station) else { return };
    // A client that went away does not matter to the lab.
    let _ = control::hand_over(stream, namespace);
}

/// Answers the client that has waited longest for results.
fn write(results: &Results, stream: Option<UnixStream>) {
    let json = serde_json::to_string(results).expect("numbers and names");
    stream.into_iter().for_each(|stream| send(&json, stream));
}

fn send(answer: &str, mut stream: UnixStream) {
    // A client that went away does not matter to the lab.
    let _ = stream.write_all(answer.as_bytes());
}
