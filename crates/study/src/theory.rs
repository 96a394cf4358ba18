//! Formulas of medium access: what `ethbus theory` prints, and what a simulation is compared with.
//!
//! Each file holds one paper's model. It says where the formula comes from and where it holds, and refuses everything
//! else: a [`Refusal`] names what was wrong and the nearest value that exists. Nothing here may know the engine, a
//! simulation or a random generator: a formula is the other opinion.
//!
//! | file | model |
//! |---|---|
//! | [`aloha`] | Abramson 1970, Roberts 1972: pure and slotted ALOHA |
//! | [`kleinrock_lam`] | Kleinrock and Lam 1972: slotted ALOHA with retransmission from K slots |
//! | [`lam`] | Lam 1974: the Markov chain of N users, equilibria, stability, first exit |
//! | [`lam::control`] | Lam and Kleinrock 1975: optimal control of that chain, by policy iteration |
//! | [`tdma`] | Bertsekas and Gallager 1992: the mean delay of TDMA, M/D/1 with vacations |
//! | [`csma`] | Kleinrock and Tobagi 1975: CSMA without collision detection |
//! | [`contention`] | Metcalfe and Boggs 1976; the capture effect of the textbook |
//! | [`two_stations`] | two saturated stations under IEEE 802.3, exactly |
//! | [`resolution`] | how long n stations that collided need |
//! | [`bianchi`] | Bianchi 2000: IEEE 802.11 DCF in saturation |
//! | [`plca`] | IEEE 802.3, clause 148: cycles and the longest wait of PLCA |
//! | [`backoff`] | bounds, mean and variance of a backoff delay |
//! | [`ceiling`] | where the doubling stops: collisions and delay by ceiling and N |

pub mod aloha;
pub mod answer;
pub mod backoff;
pub mod bianchi;
pub mod ceiling;
pub mod contention;
pub mod csma;
pub mod kleinrock_lam;
pub mod lam;
pub mod plca;
pub mod resolution;
mod roots;
pub mod tdma;
pub mod two_stations;

pub use answer::{Answer, Value};

/// Why a formula gives no number here, and which is the nearest input that has one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given}: {because}; {nearest}")]
pub struct Refusal {
    /// The option and its value, like `--load 1.2`.
    pub given: String,
    /// Why the formula has no value there.
    pub because: String,
    /// The nearest input that has one.
    pub nearest: String,
}

impl Refusal {
    /// Refuses `given`.
    pub fn new(given: impl Into<String>, because: impl Into<String>, nearest: impl Into<String>) -> Refusal {
        Refusal { given: given.into(), because: because.into(), nearest: nearest.into() }
    }
}

/// An offered traffic G: a finite number that is not negative.
fn offered_traffic(load: f64) -> Result<(), Refusal> {
    if load.is_finite() && load >= 0.0 {
        return Ok(());
    }
    Err(Refusal::new(format!("--load {load}"), "G is a mean number of attempts", "the smallest is 0"))
}
