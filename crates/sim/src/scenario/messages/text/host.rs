//! What a table says of a node's host, and of a MAC-PHY behind SPI.

use super::Section;
use crate::scenario::messages::{MessageTable, Node, wrong};
use crate::scenario::wrong::Wrong;
use crate::words::macphy::{self, Written};
use crate::words::plca;
use medium::{HostDelay, MacPhy};

impl Section {
    pub(super) fn host_delay(&self) -> HostDelay {
        let given = self.entry("host-delay").and_then(|entry| plca::host_delay(&entry.value).ok());
        given.unwrap_or(HostDelay::NONE)
    }

    /// The MAC-PHY of a node that has a clock of one.
    pub(super) fn macphy(&self, wrongs: &mut Vec<Wrong>) -> Option<MacPhy> {
        let written = Written {
            clock: self.number("spi-clock"),
            chunk: self.number("spi-chunk"),
            transfer: self.number("spi-transfer"),
            credits: self.number("tx-credits"),
            threshold: self.number("tx-threshold"),
            cut_through: self.number("cut-through"),
        };
        let macphy = written.macphy();
        if macphy.is_none() {
            let keys = macphy::FURTHER.iter().filter(|key| self.entry(key).is_some());
            wrongs.extend(keys.map(|key| wrong(self.place(key), key, macphy::NO_CLOCK.to_owned())));
        }
        macphy
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
    if table.has_classes(number) {
        let what = format!(
            "the transmit buffer of a MAC-PHY is one queue: give the messages of {} one `priority` and no `idle-slope`, or write a `host-delay` instead",
            node.name
        );
        return Some(("spi-clock", what));
    }
    let own = table.messages.iter().filter(|message| message.node == number);
    macphy::problem(macphy, own.map(|message| message.octets).max().unwrap_or(64))
}
