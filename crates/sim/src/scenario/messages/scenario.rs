//! A table of messages as a scenario: the same segment, with a periodic source for each message.

use super::{Message, MessageTable, Node};
use crate::words::plca::host_delay_text;
use medium::MacPhy;
use std::fmt::Write as _;

impl MessageTable {
    /// The scenario's text. Queues are long enough for `queue` frames.
    pub fn scenario(&self, queue: u64) -> String {
        let mut text = String::new();
        self.write(&mut text, queue).expect("a string takes any text");
        text
    }

    /// The message of each source of the scenario, in its order.
    pub fn sources(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).flat_map(|node| {
            let own = self.messages.iter().enumerate().filter(move |(_, message)| message.node == node);
            own.map(|(at, _)| at)
        })
    }

    fn write(&self, text: &mut String, queue: u64) -> std::fmt::Result {
        let longest = self.messages.iter().map(|message| message.octets).max().unwrap_or(0);
        writeln!(text, "[access]\nmethod = \"plca\"\n[medium]\ntopology = \"{}\"", self.topology_text())?;
        // A transmit buffer has room for the longest frame.
        let is_small = |node: &Node| node.macphy.is_some_and(|macphy| macphy.longest_frame() < 1518);
        if longest > 1518 || self.nodes.iter().any(is_small) {
            writeln!(text, "max_frame_size = {}", longest.max(64))?;
        }
        writeln!(text, "queue = {}", queue.max(100))?;
        writeln!(text, "[plca]\nto-tmr = {}\nnode-cnt = {}", self.to_timer, self.node_count)?;
        writeln!(text, "phy-on = \"{} BT\"\nphy-off = \"{} BT\"", self.phy_on, self.phy_off)?;
        writeln!(text, "[traffic]\narrivals = \"silent\"\ndestination = \"broadcast\"")?;
        for (number, node) in self.nodes.iter().enumerate() {
            writeln!(text, "[[station]]\nname = \"{}\"\nplca.node-id = {}", node.name, node.id)?;
            writeln!(text, "plca.burst-cnt = {}\nplca.burst-tmr = {}", node.burst_count, node.burst_timer)?;
            if !node.host_delay.is_none() {
                writeln!(text, "plca.host-delay = \"{}\"", host_delay_text(node.host_delay))?;
            }
            if node.skipped_turns > 0 {
                writeln!(text, "plca.skip-turns = {}", node.skipped_turns)?;
            }
            if let Some(macphy) = &node.macphy {
                write_macphy(text, macphy)?;
            }
            for message in self.messages.iter().filter(|message| message.node == number) {
                source(text, message)?;
            }
        }
        Ok(())
    }

    fn topology_text(&self) -> String {
        if self.cable > 0.0 && self.nodes.len() > 1 { format!("bus:{}m", self.cable) } else { "star:0bt".to_owned() }
    }
}

/// A MAC-PHY behind SPI.
fn write_macphy(text: &mut String, macphy: &MacPhy) -> std::fmt::Result {
    let MacPhy { clock, chunk, transfer, credits, threshold, cut_through } = macphy;
    writeln!(text, "plca.spi-clock = \"{} MHz\"\nplca.spi-chunk = {chunk}", *clock as f64 / 1e6)?;
    writeln!(text, "plca.spi-transfer = {transfer}\nplca.tx-credits = {credits}\nplca.tx-threshold = {threshold}")?;
    cut_through.map_or(Ok(()), |chunks| writeln!(text, "plca.cut-through = {chunks}"))
}

/// The frames of a message.
fn source(text: &mut String, message: &Message) -> std::fmt::Result {
    let micros = |bits: u64| format!("{}.{}us", bits / 10, bits % 10);
    write!(text, "[[station.source]] # {}\narrivals = \"periodic:every={}", message.name, micros(message.period))?;
    if let Some(phase) = message.phase {
        write!(text, ",phase={}", micros(phase))?;
    }
    if message.jitter > 0 {
        write!(text, ",jitter={}", micros(message.jitter))?;
    }
    if message.burst > 1 {
        write!(text, ",frames={}", message.burst)?;
    }
    writeln!(text, "\"\nframe_size = {}", message.octets)
}
