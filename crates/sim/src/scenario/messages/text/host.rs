//! What a table says of a node's host, and of a MAC-PHY behind SPI.

use super::Section;
use crate::scenario::messages::{MacPhy, MessageTable, Node, wrong};
use crate::scenario::wrong::Wrong;
use crate::words::plca;
use medium::HostDelay;

/// The keys that only a MAC-PHY has.
const OF_MACPHY: [&str; 5] = ["spi-chunk", "spi-transfer", "tx-credits", "tx-threshold", "cut-through"];

impl Section {
    pub(super) fn host_delay(&self) -> HostDelay {
        let given = self.entry("host-delay").and_then(|entry| plca::host_delay(&entry.value).ok());
        given.unwrap_or(HostDelay::NONE)
    }

    /// The MAC-PHY of a node that has a clock of one.
    pub(super) fn macphy(&self, wrongs: &mut Vec<Wrong>) -> Option<MacPhy> {
        let Some(clock) = self.number("spi-clock") else {
            let keys = OF_MACPHY.iter().filter(|key| self.entry(key).is_some());
            let what = "only a MAC-PHY behind SPI has it: write its `spi-clock` too, or leave it out";
            wrongs.extend(keys.map(|key| wrong(self.place(key), key, what.to_owned())));
            return None;
        };
        let usual = MacPhy::new(clock);
        Some(MacPhy {
            clock,
            chunk: self.number("spi-chunk").unwrap_or(usual.chunk),
            transfer: self.number("spi-transfer").unwrap_or(usual.transfer),
            credits: self.number("tx-credits").unwrap_or(usual.credits),
            threshold: self.number("tx-threshold").unwrap_or(usual.threshold),
            cut_through: self.number("cut-through"),
        })
    }
}

/// What a MAC-PHY cannot do.
pub(super) fn fits(table: &MessageTable, sections: &[Section], wrongs: &mut Vec<Wrong>) {
    for (number, node) in table.nodes.iter().enumerate() {
        let section = sections.iter().find(|it| it.kind == "node" && it.text("name").as_ref() == Some(&node.name));
        let (Some(macphy), Some(section)) = (&node.macphy, section) else { continue };
        let problem = problem(table, number, node, macphy);
        wrongs.extend(problem.map(|(key, what)| wrong(section.place(key), key, what)));
    }
}

/// The key, and what is wrong with it.
fn problem(table: &MessageTable, number: usize, node: &Node, macphy: &MacPhy) -> Option<(&'static str, String)> {
    let own = table.messages.iter().filter(|message| message.node == number);
    let octets = own.map(|message| message.octets).max().unwrap_or(64);
    let (needed, chunk) = (macphy.chunks(octets), macphy.time(1).get());
    if table.has_classes(number) {
        let what = format!(
            "the transmit buffer of a MAC-PHY is one queue: give the messages of {} one `priority` and no `idle-slope`, or write a `host-delay` instead",
            node.name
        );
        Some(("spi-clock", what))
    } else if needed > macphy.credits {
        let what =
            format!("{}: a frame of {octets} octets has {needed} chunks: write {needed} or more", macphy.credits);
        Some(("tx-credits", what))
    } else if macphy.threshold > macphy.credits {
        let what = format!("{}: there are {} credits at most: write fewer", macphy.threshold, macphy.credits);
        Some(("tx-threshold", what))
    } else if macphy.cut_through.is_some() && macphy.is_slower_than_the_line() {
        let what = format!(
            "a chunk takes {chunk} BT on SPI and {} BT on the line, so a frame runs dry (TXBUE): write a faster `spi-clock`, or leave it out",
            8 * macphy.chunk
        );
        Some(("cut-through", what))
    } else {
        None
    }
}
