//! What each command does: a container's interface is a station of the network's lab.

use super::answer::{Added, Address, Failure, Interface, code};
use super::attachments::Attachments;
use super::request::{Attachment, Command, Request};
use super::{VERSIONS, WITH_FAMILIES, inspect, ipam};
use crate::containers::labs::{self, PLACES, is_up};
use crate::control;
use crate::lab::inventory::Inventory;
use say::say;
use serde_json::{Map, Value, json};
use sim::words::interface::OCTETS_MAX;
use std::io::{self, Read};

/// The first version of the specification that has GC.
const GC_SINCE: &str = "1.1.0";

/// Does what the runtime asks, and gives what standard output gets: nothing for commands without a result.
///
/// # Errors
/// What the runtime reads instead.
pub fn answer(request: &Request, input: &[u8]) -> Result<String, Failure> {
    match request.command {
        Command::Version => {
            let version = VERSIONS.last().expect("a version");
            Ok(json!({ "cniVersion": version, "supportedVersions": VERSIONS }).to_string())
        }
        Command::Status => status(request),
        Command::Add => add(request, input),
        Command::Del => del(request, input),
        Command::Check => check(request, input),
        Command::Gc => gc(request, input),
    }
}

/// The lab's name.
fn lab(request: &Request) -> &str {
    request.network.lab.as_deref().unwrap_or(&request.network.name)
}

fn on_disk(error: io::Error) -> Failure {
    Failure::new(code::IO, format!("what the plugin keeps about the network: {error}"))
}

fn by_lab(lab: &str, error: io::Error) -> Failure {
    Failure::new(code::LAB, format!("lab {lab}: {error}"))
}

fn status(request: &Request) -> Result<String, Failure> {
    if request.network.scenario.is_none() && !is_up(lab(request)) {
        return Err(Failure { code: code::NOT_AVAILABLE, ..no_lab(lab(request)) });
    }
    Ok(String::new())
}

fn no_lab(lab: &str) -> Failure {
    let what =
        format!("no lab {lab} is up: bring it up with `ethbus up --name {lab}`, or give the network a `scenario`");
    Failure::new(code::LAB, what)
}

fn add(request: &Request, input: &[u8]) -> Result<String, Failure> {
    let attachments = Attachments::of(&request.network.name).map_err(on_disk)?;
    let attachment = &request.attachment;
    if let Some(station) = attachments.station(attachment).map_err(on_disk)? {
        let what = format!("{} of this container is station {station} of the lab already", attachment.ifname);
        return Err(Failure::new(code::LAB, what));
    }
    if let Err(failure) = bring_up(request, &attachments) {
        let _ = bring_down(request, attachments);
        return Err(failure);
    }
    let given = ipam::call(request, "ADD", input);
    let added = given.and_then(|given| {
        join(request, &attachments, given.unwrap_or_default()).inspect_err(|_| {
            // The addresses go back; the first error is the one to tell.
            let _ = ipam::call(request, "DEL", input);
        })
    });
    match added {
        Ok(added) => Ok(serde_json::to_string(&added).expect("texts")),
        Err(failure) => {
            let _ = bring_down(request, attachments);
            Err(failure)
        }
    }
}

/// Brings the lab up if the network has a scenario and the lab is not up.
fn bring_up(request: &Request, attachments: &Attachments) -> Result<(), Failure> {
    let lab = lab(request);
    if is_up(lab) {
        return Ok(());
    }
    let Some(scenario) = &request.network.scenario else { return Err(no_lab(lab)) };
    let mut scenario = scenario.clone();
    if !["stations", "station"].iter().any(|key| scenario.contains_key(*key)) {
        scenario.insert("stations".to_owned(), json!(0));
        scenario.entry("capacity").or_insert(json!(PLACES));
    }
    let text = toml::to_string(&scenario).map_err(|error| Failure::new(code::CONFIG, format!("scenario: {error}")))?;
    let file = attachments.scenario();
    std::fs::write(&file, &text).map_err(on_disk)?;
    let ended = labs::bring_up(lab, &[&file]);
    let _ = std::fs::remove_file(&file);
    // The scenario has no file for the user.
    let wrong = |said: String| Failure::new(code::CONFIG, said.replace(&*file.to_string_lossy(), "scenario"));
    let warnings = ended.map_err(on_disk)?.map_err(wrong)?;
    if !warnings.is_empty() {
        // Runtimes log what a plugin says on standard error.
        say(&format!("{warnings}\n"));
    }
    attachments.own().map_err(on_disk)
}

/// Takes the lab down if the plugin brought it up and no station is left.
fn bring_down(request: &Request, attachments: Attachments) -> Result<(), Failure> {
    let lab = lab(request);
    if !attachments.all().map_err(on_disk)?.is_empty() {
        return Ok(());
    }
    if attachments.is_owned() && is_up(lab) {
        control::down(lab).map_err(|error| by_lab(lab, error))?;
    }
    attachments.forget().map_err(on_disk)
}

/// Has the container's station join.
fn join(request: &Request, attachments: &Attachments, given: Added) -> Result<Added, Failure> {
    let lab = lab(request);
    let netns = request.netns.as_deref().expect("ADD has a namespace");
    let name = free_name(request, attachments)?;
    let family = |is_v6: bool| given.ips.iter().find(|ip| ip.address.contains(':') == is_v6);
    let mut station = Map::from_iter([
        ("name".to_owned(), json!(name)),
        ("netns".to_owned(), json!(netns)),
        ("interface".to_owned(), json!(request.attachment.ifname)),
    ]);
    station.extend(request.wishes.mac.iter().map(|mac| ("mac".to_owned(), json!(mac))));
    let has_ipam = request.network.ipam().is_some();
    for (key, is_v6) in [("ipv4", false), ("ipv6", true)] {
        match family(is_v6) {
            Some(ip) => drop(station.insert(key.to_owned(), json!(ip.address))),
            None if has_ipam => drop(station.insert(key.to_owned(), json!("none"))),
            None => {}
        }
    }
    if let Some(second) =
        given.ips.iter().enumerate().find(|(at, ip)| {
            given.ips[..*at].iter().any(|other| other.address.contains(':') == ip.address.contains(':'))
        })
    {
        let what = format!("{}: a station has one address of each family", second.1.address);
        return Err(Failure::new(code::CONFIG, what));
    }
    let joined = labs::add(lab, station).map_err(|error| {
        let failure = by_lab(lab, error);
        let has_own = request.network.scenario.is_some();
        let more = "a scenario with a larger `capacity`";
        if has_own { Failure { msg: labs::with_places(&failure.msg, more), ..failure } } else { failure }
    })?;
    let undone = |failure: Failure| {
        let _ = labs::remove(lab, &joined.name);
        failure
    };
    attachments.insert(&request.attachment, &joined.name).map_err(on_disk).map_err(&undone)?;
    route(request, &given, netns).map_err(|failure| {
        let _ = attachments.remove(&request.attachment);
        undone(failure)
    })?;
    let own = |address: &String| Address { version: None, address: address.clone(), gateway: None, interface: None };
    let ips = if has_ipam { given.ips } else { joined.addresses.iter().map(own).collect() };
    let ips = ips.into_iter().map(|ip| whole(ip, &request.network.cni_version)).collect();
    let interface = Interface { name: request.attachment.ifname.clone(), mac: joined.mac, sandbox: netns.to_owned() };
    let cni_version = request.network.cni_version.clone();
    let dns = request.wishes.dns.clone().unwrap_or(given.dns);
    Ok(Added { cni_version, interfaces: vec![interface], ips, routes: given.routes, dns })
}

/// An address of the only interface, as this version of the specification has it.
fn whole(ip: Address, cni_version: &str) -> Address {
    let family = if ip.address.contains(':') { "6" } else { "4" };
    let version = WITH_FAMILIES.contains(&cni_version).then(|| family.to_owned());
    Address { version, interface: Some(0), ..ip }
}

/// A name that no station of the lab has: the pod's, or one of the container's id. Stations of a lab that was killed keep
/// their names until DEL, which would remove another station of that name.
fn free_name(request: &Request, attachments: &Attachments) -> Result<String, Failure> {
    let lab = lab(request);
    let mut taken = Vec::new();
    for attachment in attachments.all().map_err(on_disk)? {
        taken.extend(attachments.station(&attachment).map_err(on_disk)?);
    }
    let content = Inventory::of_running(lab).map_err(|error| Failure::new(code::LAB, error.to_string()))?;
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).take(OCTETS_MAX - 4).collect::<String>();
    let id = format!("c{}", plain(&request.attachment.container));
    let pod = request.wishes.pod.as_ref().map(|pod| pod.chars().take(OCTETS_MAX).collect::<String>());
    let later = (1..100).map(|number| format!("{id}-{number}"));
    let mut names = pod.into_iter().chain([id.clone()]).chain(later);
    let is_free = |name: &String| !taken.contains(name) && content.stations.iter().all(|port| port.name != *name);
    names.find(is_free).ok_or_else(|| Failure::new(code::LAB, format!("lab {lab} has too many stations of {id}")))
}

/// Gives the container the routes that the IPAM plugin wants.
fn route(request: &Request, given: &Added, netns: &str) -> Result<(), Failure> {
    for route in &given.routes {
        let via = route.gateway(&given.ips).into_iter().flat_map(|gateway| ["via", gateway]);
        let words = ["route", "replace", &route.dst].into_iter().chain(via);
        let words = words.chain(["dev", &request.attachment.ifname]);
        inspect::ip(netns, &words.collect::<Vec<_>>())?;
    }
    Ok(())
}

fn del(request: &Request, input: &[u8]) -> Result<String, Failure> {
    let attachments = Attachments::of(&request.network.name).map_err(on_disk)?;
    // DEL comes again until it succeeds, also for what was never added: an IPAM plugin frees what it has.
    collect(request, &attachments, &request.attachment, input)?;
    bring_down(request, attachments)?;
    Ok(String::new())
}

fn check(request: &Request, input: &[u8]) -> Result<String, Failure> {
    let attachments = Attachments::of(&request.network.name).map_err(on_disk)?;
    let (lab, ifname) = (lab(request), &request.attachment.ifname);
    let missing = |what: String| Err(Failure::new(code::CHECK, what));
    let Some(station) = attachments.station(&request.attachment).map_err(on_disk)? else {
        return missing(format!("{ifname} of this container is no station of lab {lab}"));
    };
    let Ok(content) = Inventory::of_running(lab) else { return missing(format!("lab {lab} is not up")) };
    if content.stations.iter().all(|port| port.name != station) {
        return missing(format!("lab {lab} has no station {station}"));
    }
    inspect::container(request)?;
    ipam::call(request, "CHECK", input)?;
    Ok(String::new())
}

/// Does DEL for what the runtime does not list: for all of it, also if one fails. The first failure is the one to tell.
fn gc(request: &Request, input: &[u8]) -> Result<String, Failure> {
    let attachments = Attachments::of(&request.network.name).map_err(on_disk)?;
    let mut done = Ok(());
    for attachment in attachments.all().map_err(on_disk)? {
        if !request.network.valid.contains(&attachment) {
            done = done.and(collect(request, &attachments, &attachment, input));
        }
    }
    // Plugins of an earlier specification do not know the command.
    if request.network.cni_version == GC_SINCE {
        done = done.and(ipam::call(request, "GC", input).map(drop));
    }
    done.and(bring_down(request, attachments))?;
    Ok(String::new())
}

/// Ends one attachment. Its note stays until its address is free, so that the next GC finds it.
fn collect(request: &Request, attachments: &Attachments, attachment: &Attachment, input: &[u8]) -> Result<(), Failure> {
    let lab = lab(request);
    if let Some(station) = attachments.station(attachment).map_err(on_disk)? {
        labs::remove(lab, &station).map_err(|error| by_lab(lab, error))?;
    }
    ipam::call_about(attachment, request, "DEL", input)?;
    attachments.remove(attachment).map_err(on_disk)
}

/// Ends the program as the specification says: a result or an error on standard output, 0 or 1.
pub fn run(input: &mut impl Read) -> (String, bool) {
    let mut text = Vec::new();
    // A network is some kilobytes; a stranger's endless input ends here.
    let read = input.by_ref().take(1 << 20).read_to_end(&mut text);
    let read = read.map_err(|error| Failure::new(code::IO, format!("standard input: {error}")));
    let done = read.and_then(|_| {
        let request = Request::read(|name| std::env::var(name).ok(), &text)?;
        answer(&request, &text)
    });
    match done {
        Ok(text) => (text, true),
        Err(failure) => {
            let version = serde_json::from_slice(&text)
                .ok()
                .and_then(|value: Value| value.get("cniVersion").and_then(Value::as_str).map(str::to_owned));
            let version = version.unwrap_or_else(|| VERSIONS.last().expect("a version").to_string());
            (super::answer::failure(&version, &failure), false)
        }
    }
}
