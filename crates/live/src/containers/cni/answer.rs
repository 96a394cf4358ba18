//! Results and errors in the form of the specification (CNI 1.1, sections 5 and "Error").

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Codes of errors; those from 100 on are the plugin's own.
pub mod code {
    /// The plugin does not speak this version of the specification.
    pub const VERSION: u32 = 1;
    /// A variable of the environment is missing or wrong.
    pub const ENVIRONMENT: u32 = 4;
    /// The configuration cannot be read.
    pub const IO: u32 = 5;
    /// The configuration is no JSON.
    pub const DECODE: u32 = 6;
    /// The configuration is wrong.
    pub const CONFIG: u32 = 7;
    /// The plugin cannot serve ADD now.
    pub const NOT_AVAILABLE: u32 = 50;
    /// The lab refused.
    pub const LAB: u32 = 100;
    /// A container does not have what CHECK asks for.
    pub const CHECK: u32 = 101;
}

/// What the runtime reads instead of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The number that programs read.
    pub code: u32,
    /// What is wrong, and what would be right.
    pub msg: String,
    /// More of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
}

impl Failure {
    /// A failure in one sentence.
    pub fn new(code: u32, msg: impl Into<String>) -> Failure {
        Failure { code, msg: msg.into(), details: String::new() }
    }
}

/// A network address that an interface has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// Its family, `4` or `6`: in results before version 1.0.0 of the specification alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// With the length of its prefix.
    pub address: String,
    /// The way out, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    /// The number of its interface in the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<u32>,
}

/// A route of the container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Where to.
    pub dst: String,
    /// Over which router; the gateway of the address of the same family if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gw: Option<String>,
    /// What else the specification has; it is handed on.
    #[serde(flatten)]
    pub rest: serde_json::Map<String, Value>,
}

impl Route {
    /// The router of this route; none: its destinations are neighbours.
    pub fn gateway<'a>(&'a self, ips: &'a [Address]) -> Option<&'a str> {
        let same = |ip: &&Address| ip.address.contains(':') == self.dst.contains(':');
        self.gw.as_deref().or_else(|| ips.iter().find(same)?.gateway.as_deref())
    }
}

/// An interface that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Its name in the container.
    pub name: String,
    /// Its MAC address.
    #[serde(default)]
    pub mac: String,
    /// The container's namespace.
    #[serde(default)]
    pub sandbox: String,
}

/// What ADD answers, and what an IPAM plugin answers without interfaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Added {
    /// The version of the specification.
    pub cni_version: String,
    /// The interfaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<Interface>,
    /// Their addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ips: Vec<Address>,
    /// Routes of the container.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Route>,
    /// Name servers; handed on.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub dns: Value,
}

/// An error as the runtime reads it.
pub fn failure(version: &str, failure: &Failure) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Whole<'a> {
        cni_version: &'a str,
        #[serde(flatten)]
        failure: &'a Failure,
    }
    serde_json::to_string(&Whole { cni_version: version, failure }).expect("texts and a number")
}
