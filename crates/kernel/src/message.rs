//! The messages that kernels send: of the calendar (`um_timetravel.h`) and of vhost-user. Octets to values, nothing else.

/// Octets of a message of the calendar.
pub const CALENDAR: usize = 16;
/// Octets before the payload of a vhost-user message.
pub const HEAD: usize = 12;
/// The longest payload that a kernel sends: 8 regions of memory, or 256 octets of configuration.
const LONGEST: usize = 512;
/// The most regions of memory.
const MOST_REGIONS: u32 = 8;
/// The vhost-user version, in the flags of each message.
const VERSION: u32 = 1;
const REPLY: u32 = 1 << 2;
const NEED_REPLY: u32 = 1 << 3;

/// A message of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// What the message asks for.
    pub operation: Operation,
    /// The sequence number, which the answer repeats.
    pub sequence: u32,
    /// Nanoseconds, or an id.
    pub time: u64,
}

/// What a kernel says to the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Acknowledge,
    Start,
    Wait,
    Get,
    Run,
    TimeOfDay,
    /// Another one, which needs an answer and nothing more once time is on the page.
    Other(u32),
}

impl Calendar {
    pub fn read(octets: [u8; CALENDAR]) -> Calendar {
        let operation = match u32_at(&octets, 0) {
            0 => Operation::Acknowledge,
            1 => Operation::Start,
            3 => Operation::Wait,
            4 => Operation::Get,
            6 => Operation::Run,
            8 => Operation::TimeOfDay,
            other => Operation::Other(other),
        };
        Calendar { operation, sequence: u32_at(&octets, 4), time: u64_at(&octets, 8) }
    }

    pub fn written(self) -> [u8; CALENDAR] {
        let number = match self.operation {
            Operation::Acknowledge => 0,
            Operation::Start => 1,
            Operation::Wait => 3,
            Operation::Get => 4,
            Operation::Run => 6,
            Operation::TimeOfDay => 8,
            Operation::Other(other) => other,
        };
        let mut octets = [0; CALENDAR];
        octets[..4].copy_from_slice(&number.to_le_bytes());
        octets[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        octets[8..].copy_from_slice(&self.time.to_le_bytes());
        octets
    }
}

/// The head of a vhost-user message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub request: u32,
    pub needs_reply: bool,
    /// Octets of the payload.
    pub length: usize,
}

impl Head {
    /// # Errors
    /// A version or a length that no kernel of ours sends.
    pub fn read(octets: [u8; HEAD]) -> Result<Head, Wrong> {
        let (request, flags, length) = (u32_at(&octets, 0), u32_at(&octets, 4), u32_at(&octets, 8) as usize);
        if flags & 3 != VERSION {
            return Err(Wrong("a version of vhost-user other than 1"));
        }
        if length > LONGEST {
            return Err(Wrong("a message of vhost-user that is too long"));
        }
        Ok(Head { request, needs_reply: flags & NEED_REPLY != 0, length })
    }
}

/// A region of a kernel's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub guest: u64,
    pub size: u64,
    pub offset: u64,
}

/// What a kernel asks of its card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Features,
    ProtocolFeatures,
    /// The socket for interrupts comes with it.
    Channel,
    /// One descriptor for each region comes with it.
    Memory(Vec<Region>),
    Size {
        queue: usize,
        entries: u16,
    },
    Addresses {
        queue: usize,
        descriptors: u64,
        used: u64,
        available: u64,
    },
    Base {
        queue: usize,
        index: u16,
    },
    Enable {
        queue: usize,
        on: bool,
    },
    /// This part of the configuration; the answer repeats the first 12 octets.
    Configuration {
        offset: usize,
        size: usize,
        head: [u8; 12],
    },
    Kick {
        queue: usize,
    },
    /// Another one, which a plain success answers.
    Other,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong(pub &'static str);

/// Queues of a card: 0 receives, 1 sends.
pub const QUEUES: usize = 2;

impl Request {
    /// # Errors
    /// A payload that is too short, or a queue that the card does not have.
    pub fn read(request: u32, payload: &[u8]) -> Result<Request, Wrong> {
        let need = |octets: usize| {
            if payload.len() < octets { Err(Wrong("a message of vhost-user that is too short")) } else { Ok(()) }
        };
        let queue_and_number = || {
            need(8)?;
            Ok((queue(u32_at(payload, 0))?, u32_at(payload, 4)))
        };
        Ok(match request {
            1 => Request::Features,
            15 => Request::ProtocolFeatures,
            21 => Request::Channel,
            5 => {
                need(8)?;
                let count = u32_at(payload, 0);
                if count > MOST_REGIONS {
                    return Err(Wrong("too many regions of memory"));
                }
                need(8 + 32 * count as usize)?;
                let region = |number: usize| {
                    let at = |word: usize| u64_at(payload, 8 + 32 * number + 8 * word);
                    Region { guest: at(0), size: at(1), offset: at(3) }
                };
                Request::Memory((0..count as usize).map(region).collect())
            }
            8 => {
                let (queue, entries) = queue_and_number()?;
                let entries = u16::try_from(entries).map_err(|_| Wrong("a ring with too many entries"))?;
                Request::Size { queue, entries }
            }
            9 => {
                need(40)?;
                let (descriptors, used, available) = (u64_at(payload, 8), u64_at(payload, 16), u64_at(payload, 24));
                Request::Addresses { queue: queue(u32_at(payload, 0))?, descriptors, used, available }
            }
            10 => {
                let (queue, index) = queue_and_number()?;
                Request::Base { queue, index: index as u16 }
            }
            18 => {
                let (queue, on) = queue_and_number()?;
                Request::Enable { queue, on: on != 0 }
            }
            24 => {
                need(12)?;
                let (offset, size) = (u32_at(payload, 0) as usize, u32_at(payload, 4) as usize);
                if offset + size > 256 {
                    return Err(Wrong("configuration beyond its end"));
                }
                Request::Configuration { offset, size, head: payload[..12].try_into().expect("12 octets") }
            }
            35 => {
                let (queue, _) = queue_and_number()?;
                Request::Kick { queue }
            }
            _ => Request::Other,
        })
    }
}

/// An answer to a request.
pub fn reply(request: u32, payload: &[u8]) -> Vec<u8> {
    message(request, VERSION | REPLY, payload)
}

/// The interrupt of a queue, which the kernel answers.
pub fn interrupt(queue: u32) -> Vec<u8> {
    const CALL: u32 = 4;
    let mut payload = [0; 8];
    payload[..4].copy_from_slice(&queue.to_le_bytes());
    message(CALL, VERSION | NEED_REPLY, &payload)
}

fn message(request: u32, flags: u32, payload: &[u8]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(HEAD + payload.len());
    [request, flags, payload.len() as u32].iter().for_each(|word| octets.extend(word.to_le_bytes()));
    octets.extend_from_slice(payload);
    octets
}

fn queue(number: u32) -> Result<usize, Wrong> {
    Some(number as usize).filter(|queue| *queue < QUEUES).ok_or(Wrong("a queue that a network card does not have"))
}

fn u32_at(octets: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(octets[at..at + 4].try_into().expect("four octets"))
}

fn u64_at(octets: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(octets[at..at + 8].try_into().expect("eight octets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// include/uapi/linux/um_timetravel.h: op, seq, time.
    #[test]
    fn a_message_of_the_calendar_reads_as_it_was_written() {
        for number in [0, 1, 2, 3, 4, 6, 8, 9, 1000] {
            let mut octets = [7; CALENDAR];
            octets[..4].copy_from_slice(&u32::to_le_bytes(number));
            let read = Calendar::read(octets);
            assert_eq!(read.written(), octets, "operation {number}");
            assert_eq!((read.sequence, read.time), (0x0707_0707, 0x0707_0707_0707_0707));
        }
    }

    #[test]
    fn what_no_kernel_sends_is_refused() {
        let head = |flags: u32, length: u32| {
            let mut octets = [0; HEAD];
            octets[4..8].copy_from_slice(&flags.to_le_bytes());
            octets[8..].copy_from_slice(&length.to_le_bytes());
            Head::read(octets)
        };
        assert!(head(1, 512).is_ok());
        assert!(head(2, 0).is_err() && head(1, 513).is_err());
        let number = |request, queue: u32, number: u32| {
            Request::read(request, &[queue.to_le_bytes(), number.to_le_bytes()].concat())
        };
        assert_eq!(number(8, 1, 256), Ok(Request::Size { queue: 1, entries: 256 }));
        assert!(number(8, 2, 256).is_err() && number(8, 0, 65_536).is_err() && number(5, 9, 0).is_err());
        for request in [5, 8, 9, 10, 18, 24, 35] {
            assert!(Request::read(request, &[0; 4]).is_err(), "request {request}");
        }
    }
}
