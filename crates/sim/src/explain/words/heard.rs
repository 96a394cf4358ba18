//! What stations that a frame is for heard of it, and why no more.

use super::super::story::{Sent, Setting, Step, Unheard};
use super::csma_cd::{NAMED, Words};
use crate::words::lines::list;
use crate::words::units::group;
use medium::{Fault, Kind, StationId};

impl Words<'_> {
    /// Stations that heard the same, as one step.
    pub(super) fn receivers(&self, steps: &[Step]) -> String {
        let Some((Some(first), setting)) = steps.first().map(|step| (step.event(), &step.setting)) else {
            return String::new();
        };
        let places: Vec<StationId> = steps.iter().filter_map(Step::event).map(|event| event.station).collect();
        // The step is at the instant of the first; a signal comes to others later.
        let name = |step: &Step| {
            let name = &self.names[step.event()?.station.index()];
            let later = step.at > steps[0].at;
            Some(if later { format!("{name} (at {})", group(step.at.get())) } else { name.clone() })
        };
        let named: Vec<String> = steps.iter().filter_map(name).take(NAMED).collect();
        let who = match places.len() - named.len() {
            0 => list(&named),
            more => {
                format!("{} and {} more, the last at t = {}", named.join(", "), group(more as u64), self.last(steps))
            }
        };
        let (s, to) = if steps.len() == 1 { ("s", "addressee") } else { ("", "addressees") };
        match first.kind {
            Kind::Fragment { bits } => format!(
                "{who}, the {to}, hear{s} {} bits after the SFD. That is less than {}: a collision \
                 fragment, dropped without an error (4.2.4.2.2).",
                bits.get(),
                self.least_received(setting)
            ),
            Kind::Damaged { bits } => format!(
                "{who}, the {to}, hear{s} {} bits with a bad FCS and drop{s} them (4.2.4.1.2): {}.",
                bits.get(),
                self.what_spoilt(setting, &places)
            ),
            Kind::TooLong { size } => {
                format!("{who}, the {to}, hear{s} {} octets: too long, dropped (4.2.4.2.1).", size.get())
            }
            Kind::Delivered { .. } => format!("{who} receive{s} the frame whole (4.2.4)."),
            _ => String::new(),
        }
    }

    /// Below what a packet is a fragment.
    fn least_received(&self, setting: &Setting) -> String {
        let parameters = &self.config.parameters;
        let (Setting::Receives { packet: Some(packet), .. }, true) = (setting, parameters.extend_size.get() > 0) else {
            return "minFrameSize".to_owned();
        };
        let least = self.span(parameters.least_received(packet.preamble == packet.begin));
        if packet.preamble > packet.begin {
            format!("minFrameSize, {least}, as a later frame of a burst must have")
        } else {
            format!("slotTime, {least}, which a frame that begins a burst or is alone must fill")
        }
    }

    /// Why what stations at `places` received had a bad FCS.
    fn what_spoilt(&self, setting: &Setting, places: &[StationId]) -> String {
        let (packet, spoilt_by, noise) = match setting {
            Setting::Receives { packet: Some(packet), spoilt_by, noise } => (packet, spoilt_by, noise),
            _ => return "its signal began before the trace, so this does not tell why".to_owned(),
        };
        let called = |one: &Sent| {
            let whose = if places.contains(&one.source) { ", the receiver's own" } else { "" };
            self.name(one.frame) + whose
        };
        let sender = &self.names[packet.source.index()];
        if let (None, None, true, Some(noise)) = (packet.collision, packet.fault, spoilt_by.is_empty(), *noise) {
            return format!("no signal met it there, and noise made a bit wrong (`{}`)", noise);
        }
        match (packet.collision, packet.fault, spoilt_by.is_empty()) {
            (Some(_), _, _) => {
                format!("{sender} noticed a collision and cut it short with a jam, too late for a fragment")
            }
            (None, Some(Fault::BadFcs), _) => format!("{sender} had the fault `bad_fcs` as it began"),
            (None, _, false) => {
                let names: Vec<String> = spoilt_by.iter().map(called).collect();
                format!("the signal of {} lay over it there", list(&names))
            }
            (None, _, true) => {
                "no signal in this trace met it there, so its sender was faulty, or that signal began before the trace"
                    .to_owned()
            }
        }
    }

    fn last(&self, steps: &[Step]) -> String {
        steps.last().map_or(String::new(), |step| group(step.at.get()))
    }

    pub(super) fn unheard(&self, who: &[StationId], why: Unheard) -> String {
        let who: Vec<String> = who.iter().map(|station| self.names[station.index()].clone()).collect();
        let (s, is, to) = if who.len() == 1 { ("s", "is", "addressee") } else { ("", "are", "addressees") };
        let who = self.some(&who);
        match why {
            Unheard::Cut => {
                format!("{who}, the {to}, hear{s} nothing of it: the cable was cut in between as it began.")
            }
            Unheard::Detached => {
                format!(
                    "{who}, the {to}, {is} off the medium when its last bit comes, and do{} not receive it.",
                    if s.is_empty() { "" } else { "es" }
                )
            }
        }
    }

    /// Names, but no more than are read.
    fn some(&self, names: &[String]) -> String {
        match names.len().saturating_sub(NAMED) {
            0 => list(names),
            more => format!("{} and {} more", names[..NAMED].join(", "), group(more as u64)),
        }
    }
}
