//! What is said over the scenario of one bus of several, beside options.

use toml::Spanned;

/// What a bus is among several; of a bus that is alone, nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfBus {
    /// Its name.
    pub name: String,
    /// The bridges that are stations of it, after its own.
    pub ports: Vec<PortSection>,
    /// The stations of all buses, without ports: a frame may be for those of other buses.
    pub everyone: Vec<String>,
    /// Stations of the buses before it: addresses are counted through.
    pub before: usize,
}

/// A port of a bridge, as its station will be planned.
#[derive(Clone, Debug)]
pub(crate) struct PortSection {
    pub name: Spanned<String>,
    pub queue: usize,
}

impl OfBus {
    /// The name of a station that has none of its own.
    pub fn default_name(&self, index: usize) -> String {
        if self.name.is_empty() { format!("st{}", index + 1) } else { format!("{}-{}", self.name, index + 1) }
    }
}
