//! What is done to a lab that is up, by its scenario's timetable and by clients, in the same way.

use super::CommandError;
use super::serve::{End, GO_ON, Serving};
use link::namespace::Namespace;
use live::control::answer::{Answer, RpcError};
use live::lab::inventory::Inventory;
use live::plane::protocol::Request;
use live::supervisor::{DataPlane, SupervisorError};
use medium::{BitInstant, BitRate, BitTimes, Config, Deed, StationId};
use say::say;
use serde_json::{Map, Value};
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Course, LabDeed, Plan, StationPlan};
use sim::traffic::LaterTraffic;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What the scenario does, and when; and when the lab ends.
///
/// Its time is the medium's, which the data plane has: at the instant at which something should be due, it is asked how far
/// the medium has got. After a slip that is less than expected, and the schedule waits on.
pub struct Schedule {
    clock: Clock,
    /// Bits in a second of real time.
    rate: BitRate,
    deeds: VecDeque<(BitInstant, LabDeed)>,
    /// The names of the plan's stations, by the seats that its deeds have.
    names: Vec<String>,
    until: Option<BitInstant>,
}

/// What is known of the medium's clock.
#[derive(Clone, Copy, PartialEq)]
enum Clock {
    /// It is stopped.
    Stopped,
    /// It runs, and its place is not known: the lab has just begun, or a pause in which it can be stepped has ended.
    Unknown,
    /// The data plane has been asked, and has not answered.
    Asked,
    /// It had got to `reached` at `when`.
    Heard { when: Instant, reached: BitInstant },
}

impl Schedule {
    /// The timetable of `plan`.
    pub fn new(plan: &Plan) -> Schedule {
        let (rate, deeds) = (plan.pace.rate(plan.medium.rate), plan.changes.iter().cloned().collect());
        Schedule { clock: Clock::Unknown, rate, deeds, names: plan.all_names(), until: None }
    }

    /// The same of a lab that ends when the clock of its medium has run for so long, if that is said.
    pub fn with_end(self, until: Option<Duration>, medium: &Config) -> Schedule {
        Schedule { until: until.map(|until| BitInstant::ZERO + BitTimes::within(until, medium.rate)), ..self }
    }

    /// Nothing is due: in virtual time the lab itself has the changes.
    pub fn of_pauses(plan: &Plan) -> Schedule {
        Schedule { deeds: VecDeque::new(), ..Schedule::new(plan) }
    }

    /// The medium's clock is stopped: nothing is due until it runs again.
    pub fn pause(&mut self) {
        self.clock = Clock::Stopped;
    }

    /// It runs again.
    pub fn resume(&mut self) {
        self.clock = Clock::Unknown;
    }

    /// Whether it is stopped.
    pub fn is_paused(&self) -> bool {
        self.clock == Clock::Stopped
    }

    /// When to ask how far the medium has got: something should be due then.
    pub fn next(&self) -> Option<Instant> {
        let next = self.deeds.front().map(|(at, _)| *at).into_iter().chain(self.until).min()?;
        match self.clock {
            Clock::Stopped | Clock::Asked => None,
            Clock::Unknown => Some(Instant::now()),
            Clock::Heard { when, reached } => when.checked_add(next.since(reached).at(self.rate)),
        }
    }

    /// The data plane is asked how far the medium has got.
    pub fn asks(&mut self) -> Request {
        self.clock = Clock::Asked;
        Request::Clock
    }

    /// It has got to `reached`. It may have been stopped since.
    fn hear(&mut self, reached: BitInstant) {
        if !self.is_paused() {
            self.clock = Clock::Heard { when: Instant::now(), reached };
        }
    }

    /// The stations that are still to join, in order of time.
    pub fn joiners(&self) -> Vec<&str> {
        let name = |deed: &'_ LabDeed| matches!(deed, LabDeed::Join(_));
        let joins = self.deeds.iter().filter(|(_, deed)| name(deed));
        joins.filter_map(|(_, deed)| Some(self.names[deed.station()?.index()].as_str())).collect()
    }

    /// Asks the data plane for what the scenario does to medium and stations at the first instant.
    ///
    /// # Errors
    /// The data plane is gone.
    pub fn act_at_once(&mut self, plane: &mut DataPlane) -> Result<(), SupervisorError> {
        while let Some((BitInstant::ZERO, deed)) = self.deeds.front() {
            // What else is done then waits until the lab is served, and so does what comes after it.
            let LabDeed::Bus(deed) = deed else { return Ok(()) };
            if let Deed::Remove { .. } = deed {
                return Ok(());
            }
            plane.ask(Request::Deed(*deed))?;
            self.deeds.pop_front();
        }
        Ok(())
    }

    /// The next deed that is due at `now`. A station of the plan may not be there, since a client has removed it or it could
    /// not join.
    fn take(&mut self, now: BitInstant, course: &Course) -> Option<Result<LabDeed, String>> {
        let (_, deed) = self.deeds.pop_front_if(|(at, _)| *at <= now)?;
        let Some(station) = deed.station() else { return Some(Ok(deed)) };
        let name = self.names[station.index()].as_str();
        Some(match &deed {
            LabDeed::Join(_) if course.position(name).is_some() => Err(format!("{name} is there already")),
            LabDeed::Join(_) if course.seat(Some(name)) != station.index() => {
                Err(format!("the place of {name} is taken"))
            }
            LabDeed::Join(_) => Ok(deed),
            _ if course.position(name) != Some(station.index()) => Err(format!("{name} is not there")),
            _ => Ok(deed),
        })
    }
}

/// What to say of what the scenario has done; nothing of what says so itself.
fn done(deed: &LabDeed, course: &Course) -> Option<String> {
    let name = |station: StationId| course.station(station.index()).name.as_str();
    match deed {
        // The data plane reports a cable that is pulled or put back; joins and leaves have messages of their own.
        LabDeed::Bus(deed) if deed.plugs().is_some() => None,
        LabDeed::Join(_) => None,
        LabDeed::Bus(deed @ (Deed::Cut(_) | Deed::Fault { fault: None, .. })) => Some(deed.sentence(name)),
        LabDeed::Bus(deed) => Some(format!("{} from now on", deed.sentence(name))),
        LabDeed::Traffic(LaterTraffic { station, spec, .. }) => {
            Some(format!("the traffic of {} is `{}` from now on", course.station(*station).name, spec.arrivals))
        }
        LabDeed::Filter(filter) => Some(format!("the filter is `{}` from now on", filter.word())),
        LabDeed::Link(link) => Some(format!("links are `{}` from now on", link.word())),
        LabDeed::Until(_) => None,
    }
}

impl Serving<'_> {
    /// Does what the scenario has for now: the medium has got there.
    pub(super) fn act(&mut self, now: BitInstant) -> Result<End, CommandError> {
        self.schedule.hear(now);
        while let Some(deed) = self.schedule.take(now, &self.stations.course) {
            let told = deed.as_ref().ok().and_then(|deed| done(deed, &self.stations.course));
            let outcome = match deed {
                Ok(deed) => self.do_one(deed)?,
                Err(why) => Err(why),
            };
            match outcome {
                Ok(()) => {
                    told.iter().for_each(|what| say(&format!("ethbus: as the scenario has it, {what}\n")));
                }
                Err(why) => say(&format!("ethbus: not everything can be done as the scenario has it: {why}\n")),
            }
        }
        // The lab ends when no request for results is open: these are answered first, and the clock is read again.
        if self.schedule.until.is_some_and(|until| until <= now) && self.asked.is_empty() {
            say("ethbus: the lab ends, as `until` has it\n");
            return Ok(ControlFlow::Break(None));
        }
        GO_ON
    }

    /// Sets what a client asks for, and tells the results after that.
    pub(super) fn set(&mut self, section: &Map<String, Value>, answer: Answer) -> Result<(), SupervisorError> {
        let deeds = self.plan.setting(section, &self.stations.course);
        let refusal = match deeds {
            Ok(deeds) => self.do_all(deeds)?.map_err(|why| RpcError::refused(&why)),
            Err(error) => Err(RpcError::invalid_params(&format!("set: {error}"))),
        };
        match refusal {
            Ok(()) => self.ask_for(answer),
            Err(error) => {
                answer.refuse(&error);
                Ok(())
            }
        }
    }

    /// Does all of it, or up to what cannot be done.
    pub(super) fn do_all(&mut self, deeds: Vec<LabDeed>) -> Result<Result<(), String>, SupervisorError> {
        for deed in deeds {
            if let Err(why) = self.do_one(deed)? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    /// Does it, or says why that cannot be. The trace has the bit time at which the medium got its part.
    pub(super) fn do_one(&mut self, mut deed: LabDeed) -> Result<Result<(), String>, SupervisorError> {
        let outcome = match &mut deed {
            LabDeed::Bus(Deed::Remove { station }) => {
                let outcome = self.leave(*station)?;
                // It is off the medium in any case.
                self.stations.course.take(&deed);
                return Ok(outcome);
            }
            LabDeed::Bus(deed) => {
                if let Deed::Queue { limit } = deed {
                    self.offers.limit(*limit as u64);
                }
                self.ask_deed(*deed)?;
                Ok(())
            }
            LabDeed::Join(joining) => self.join(joining)?,
            LabDeed::Traffic(traffic) => {
                let station = self.stations.course.station(traffic.station).clone();
                let offered = self.offer(traffic, &station);
                if offered.is_ok() {
                    self.plane.ask(Request::Traffic(traffic.station as u16, traffic.spec.arrivals.to_string()))?;
                }
                offered
            }
            LabDeed::Filter(filter) if self.plan.watches() => {
                self.plane.ask(Request::Filter(*filter))?;
                Ok(())
            }
            LabDeed::Filter(_) => Err(
                "the stations' interfaces are not watched, so it cannot be known what to filter: bring the lab up with `filter = \"address\"` in `[emulator]`, or with an `[[at]]` section that sets it"
                    .to_owned(),
            ),
            LabDeed::Link(_) if self.is_virtual => Err("its stations have no interfaces in this kernel".to_owned()),
            LabDeed::Link(link) => {
                self.links.choose(*link, self.record);
                self.plane.ask(Request::Link(*link))?;
                Ok(())
            }
            LabDeed::Until(until) => {
                self.schedule.until = Some(*until);
                Ok(())
            }
        };
        if outcome.is_ok() {
            self.stations.course.take(&deed);
        }
        Ok(outcome)
    }

    /// Has the data plane do something to the bus. A station that comes back has its carrier before.
    pub(super) fn ask_deed(&mut self, deed: Deed) -> Result<(), SupervisorError> {
        if let Deed::Plug { station } = deed {
            self.links.plug(&self.stations.course.station(station.index()).name, true, self.record);
        }
        self.plane.ask(Request::Deed(deed))
    }

    /// Has a station's host offer something else from now on; or says why it cannot.
    pub(super) fn offer(&mut self, traffic: &LaterTraffic, station: &StationPlan) -> Result<(), String> {
        let namespace = |record: &Inventory| -> Option<Namespace> {
            (station.host == Host::Veth).then(|| record.namespace(record.claim_of(&station.name)?)).flatten()
        };
        let at = self.offers.now();
        let source = traffic.source(at, &self.plan.medium, self.plan.medium.seed).map_err(|error| error.to_string())?;
        self.offers.set(&station.name, source, &traffic.spec, namespace(self.record))
    }
}
