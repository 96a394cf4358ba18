//! Whether a container still has what ADD gave it: CHECK compares its interface with ADD's result.

use super::answer::{Added, Address, Failure, Route, code};
use super::request::Request;
use serde_json::Value;
use std::net::IpAddr;
use std::process::Command;

/// Compares the container's interface with the result of ADD: its state, MAC address, addresses and routes.
///
/// # Errors
/// The first difference.
pub fn container(request: &Request) -> Result<(), Failure> {
    let (netns, ifname) = (request.netns.as_deref().expect("CHECK has a namespace"), &*request.attachment.ifname);
    let needed = "CHECK needs prevResult, the result of ADD";
    let given = request.network.prev_result.as_ref().ok_or_else(|| Failure::new(code::CONFIG, needed))?;
    let number = given.interfaces.iter().position(|it| it.name == ifname && !it.sandbox.is_empty());
    let number = number.ok_or_else(|| Failure::new(code::CONFIG, format!("prevResult has no interface {ifname}")))?;
    let missing = |what: String| Err(Failure::new(code::CHECK, format!("{ifname} of this container {what}")));
    let Ok(links) = ip(netns, &["address", "show", "dev", ifname]) else { return missing("is not there".to_owned()) };
    let link = &links[0];
    let has = |list: &str, is_it: &dyn Fn(&Value) -> bool| link[list].as_array().into_iter().flatten().any(is_it);
    if !has("flags", &|flag| flag == "UP") {
        return missing("is down".to_owned());
    }
    let (mac, wanted) = (link["address"].as_str().unwrap_or_default(), &given.interfaces[number].mac);
    if !wanted.eq_ignore_ascii_case(mac) {
        return missing(format!("has the MAC address {mac}, not {wanted}"));
    }
    let is_own = |ip: &&Address| ip.interface.is_none_or(|of| of as usize == number);
    for Address { address, .. } in given.ips.iter().filter(is_own) {
        if !has("addr_info", &|info| is_same(address, info)) {
            return missing(format!("has no address {address}"));
        }
    }
    match given.routes.iter().find(|route| !has_route(netns, ifname, route, given)) {
        Some(route) => missing(format!("has no route to {}", route.dst)),
        None => Ok(()),
    }
}

/// Whether `ip` tells of this address; an IPv6 address has several spellings.
fn is_same(address: &str, info: &Value) -> bool {
    let Some((address, prefix_len)) = address.split_once('/') else { return false };
    let local: Option<IpAddr> = info["local"].as_str().and_then(|local| local.parse().ok());
    local.is_some() && address.parse().ok() == local && info["prefixlen"].as_u64() == prefix_len.parse().ok()
}

/// Whether the container has this route over the interface.
fn has_route(netns: &str, ifname: &str, route: &Route, given: &Added) -> bool {
    let family = if route.dst.contains(':') { "-6" } else { "-4" };
    let via = route.gateway(&given.ips).into_iter().flat_map(|gateway| ["via", gateway]);
    let words = [family, "route", "show", "exact", &route.dst, "dev", ifname].into_iter().chain(via);
    let found = ip(netns, &words.collect::<Vec<_>>());
    found.is_ok_and(|routes| routes.as_array().is_some_and(|routes| !routes.is_empty()))
}

/// What `ip` says in the container's namespace; nothing for what it changes.
///
/// # Errors
/// What `ip` says of an error.
pub fn ip(netns: &str, words: &[&str]) -> Result<Value, Failure> {
    let mut ip = Command::new("nsenter");
    ip.arg(format!("--net={netns}")).args(["ip", "-j"]).args(words);
    let ended = ip.output().map_err(|error| Failure::new(code::IO, format!("nsenter and ip: {error}")))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(Failure::new(code::LAB, format!("ip {}: {}", words.join(" "), said.trim())));
    }
    if ended.stdout.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&ended.stdout)
        .map_err(|error| Failure::new(code::DECODE, format!("the answer of ip: {error}")))
}
