//! IEEE 802.11 DCF in saturation: tau, collision probability and throughput of n stations.
//!
//! A station sends in a slot with the chance tau; it collides with the chance p, if any of the n − 1 others sends too.
//! The two determine each other:
//!
//! ```text
//! tau = 2 / (1 + W + p W (1 + 2p + … + (2p)^(m − 1)))          p = 1 − (1 − tau)^(n − 1)
//! S   = P_s P_tr E[P] / ((1 − P_tr) slot + P_tr P_s T_s + P_tr (1 − P_s) T_c)
//! ```

mod phy;

pub use phy::{Phy, Times};

use super::roots::root;
use super::{Answer, Refusal, Value};

const SOURCE: &str = "Bianchi, Performance Analysis of the IEEE 802.11 Distributed Coordination Function, IEEE JSAC 18 (3), \
    2000: equations 7 (tau), 9 (p), 13 (S), 14 and 17 (T_s, T_c); times of the physical layers from IEEE 802.11";
const HOLDS: &str = "n stations that all hear each other and always have a frame; no other errors than collisions; a frame \
    is tried until it succeeds, and every try collides with the same chance p";

/// The largest window: that of a counter of 16 bit.
const MOST_WINDOW: u32 = 1 << 16;
/// The most octets of a payload: an MSDU (IEEE 802.11, 9.2.4.7).
const MOST_PAYLOAD: u32 = 2304;

/// Stations that contend by DCF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dcf {
    /// n.
    pub stations: u32,
    /// W, the values of the first backoff: 0 to W − 1.
    pub window: u32,
    /// m: the window doubles so often.
    pub stages: u32,
}

/// How often a station sends and collides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempts {
    /// The chance that a station sends in a slot.
    pub tau: f64,
    /// The chance that what it sends collides.
    pub collision_probability: f64,
}

impl Dcf {
    fn check(&self) -> Result<(), Refusal> {
        let refuse = |option: &str, value: u32, because: &str, nearest: String| {
            Err(Refusal::new(format!("{option} {value}"), because, nearest))
        };
        if self.stations == 0 {
            return refuse("--stations", 0, "there is nobody to send", "the smallest number is 1".to_owned());
        }
        if self.window == 0 || self.window > MOST_WINDOW {
            let nearest = format!("W is between 1 and {MOST_WINDOW}");
            return refuse("--window", self.window, "W is the number of values of the first backoff", nearest);
        }
        let most = (MOST_WINDOW / self.window).ilog2();
        if self.stages > most {
            let because = "the window doubles m times";
            return refuse("--stages", self.stages, because, format!("the largest m with this W is {most}"));
        }
        Ok(())
    }

    /// tau for a given p: equation 7, as a sum that has no hole at p = 1/2.
    fn tau_of(&self, p: f64) -> f64 {
        let window = f64::from(self.window);
        let doubled: f64 = (0..self.stages).map(|stage| (2.0 * p).powi(stage as i32)).sum();
        2.0 / (1.0 + window + p * window * doubled)
    }

    /// The tau and p that both equations agree on: the first falls with p, the second rises with tau, so there is one pair.
    ///
    /// # Errors
    /// No stations, or a window that cannot be.
    pub fn attempts(&self) -> Result<Attempts, Refusal> {
        self.check()?;
        let others = f64::from(self.stations - 1);
        let p_of = |tau: f64| 1.0 - (1.0 - tau).powf(others);
        let tau = if self.tau_of(p_of(1.0)) >= 1.0 { 1.0 } else { root(0.0, 1.0, |tau| tau - self.tau_of(p_of(tau))) };
        Ok(Attempts { tau, collision_probability: p_of(tau) })
    }

    /// S, the part of the time in which payload is sent that arrives, for frames that take `times`.
    ///
    /// # Errors
    /// As [`attempts`](Self::attempts); every station sends in every slot, so that nothing arrives.
    pub fn throughput(&self, times: &Times) -> Result<f64, Refusal> {
        let Attempts { tau, .. } = self.attempts()?;
        let n = f64::from(self.stations);
        let some = 1.0 - (1.0 - tau).powf(n);
        let one = n * tau * (1.0 - tau).powf(n - 1.0);
        let slot = (1.0 - some) * times.slot_us + one * times.success_us + (some - one) * times.collision_us;
        Ok(one * times.payload_us / slot)
    }
}

/// What `ethbus theory bianchi` prints.
///
/// # Errors
/// As [`Dcf::throughput`]; a payload that no frame has.
pub fn answer(dcf: Dcf, phy: Phy, payload: u32, rts: bool) -> Result<Answer, Refusal> {
    if payload == 0 || payload > MOST_PAYLOAD {
        let nearest = format!("the payload has 1 to {MOST_PAYLOAD} octets");
        return Err(Refusal::new(format!("--payload {payload}"), "no frame has such a payload", nearest));
    }
    let times = phy.times(payload, rts);
    let attempts = dcf.attempts()?;
    let throughput = dcf.throughput(&times)?;
    Ok(Answer::new("bianchi", SOURCE, HOLDS)
        .with("stations", "n", Value::Count(dcf.stations.into()))
        .with("window", "W, values of the first backoff", Value::Count(dcf.window.into()))
        .with("stages", "m, how often the window doubles", Value::Count(dcf.stages.into()))
        .with("phy", "physical layer and rate in Mb/s", Value::Text(phy.to_string()))
        .with("rts", "RTS and CTS before each frame", Value::Flag(rts))
        .with("payload_octets", "E[P]", Value::Count(payload.into()))
        .with("tau", "a station sends in a slot", Value::Number(attempts.tau))
        .with("collision_probability", "p, what it sends collides", Value::Number(attempts.collision_probability))
        .with("throughput", "S, the part of the time with payload that arrives", Value::Number(throughput))
        .with("goodput_mbps", "payload that arrives, in Mb/s", Value::Number(throughput * phy.rate_mbps()))
        .with("success_us", "T_s, how long a success keeps the medium busy", Value::Number(times.success_us))
        .with("collision_us", "T_c, how long a collision does", Value::Number(times.collision_us))
        .with("slot_us", "an empty slot", Value::Number(times.slot_us)))
}

#[cfg(test)]
mod tests;
