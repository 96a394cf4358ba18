//! One request and its answers over a netlink socket.

use std::io;

use netlink_packet_core::{
    ErrorMessage, NLM_F_ACK, NLM_F_ACK_TLVS, NLM_F_CAPPED, NLM_F_DUMP_INTR, NLM_F_MULTIPART, NLM_F_REQUEST,
    NetlinkMessage, NetlinkPayload, NlasIterator,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

/// Octets of `nlmsghdr`, which the kernel repeats in an error.
const NLMSGHDR_OCTETS: usize = 16;

/// The attribute in which the kernel explains an error (NLMSGERR_ATTR_MSG).
const MESSAGE_ATTRIBUTE: u16 = 1;

/// How often a list is requested again if it keeps changing.
const ATTEMPTS: usize = 10;

/// Why a request came to nothing.
#[derive(Debug)]
pub enum Refusal {
    /// The kernel said no.
    Kernel {
        /// Its answer.
        source: io::Error,
        /// Its own words, if it gave any.
        message: Option<String>,
    },
    /// The request could not be sent, or its answer could not be read.
    Transport(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Transport(error)
    }
}

/// The answers to one request.
#[derive(Debug, Default)]
struct Answers {
    messages: Vec<RouteNetlinkMessage>,
    /// The listed objects changed meanwhile, so the list may be wrong.
    interrupted: bool,
}

/// A socket and the number of the last request.
#[derive(Debug)]
pub struct Transport {
    socket: Socket,
    sequence: u32,
}

impl Transport {
    /// Opens a socket in the calling thread's namespace.
    pub fn open() -> io::Result<Transport> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // Errors come with the kernel's words, and without the request.
        socket.set_ext_ack(true)?;
        socket.set_cap_ack(true)?;
        Ok(Transport { socket, sequence: 0 })
    }

    /// Sends one request and collects the kernel's answers.
    ///
    /// A list that changed while the kernel wrote it is requested again.
    pub fn request(&mut self, request: RouteNetlinkMessage, flags: u16) -> Result<Vec<RouteNetlinkMessage>, Refusal> {
        for _ in 0..ATTEMPTS {
            match self.attempt(request.clone(), flags)? {
                Answers { interrupted: true, .. } => {}
                Answers { messages, .. } => return Ok(messages),
            }
        }
        Err(io::Error::from(io::ErrorKind::Interrupted).into())
    }

    /// Sends one request and collects the kernel's answers to it, once.
    fn attempt(&mut self, request: RouteNetlinkMessage, flags: u16) -> Result<Answers, Refusal> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let mut octets = vec![0; message.buffer_len()];
        message.serialize(&mut octets);
        self.socket.send(&octets, 0)?;

        let mut answers = Answers::default();
        loop {
            let (mut datagram, _) = self.socket.recv_from_full()?;
            make_names_text(&mut datagram);
            if self.read(&datagram, &mut answers)? {
                return Ok(answers);
            }
        }
    }

    /// Reads one datagram of messages; true when the last answer has come.
    fn read(&self, datagram: &[u8], answers: &mut Answers) -> Result<bool, Refusal> {
        let mut rest = datagram;
        while rest.len() >= NLMSGHDR_OCTETS {
            let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
            let length = message.header.length as usize;
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or(&[]);
            // A leftover of an earlier request that failed half way.
            if message.header.sequence_number != self.sequence {
                continue;
            }
            let flags = message.header.flags;
            answers.interrupted |= flags & NLM_F_MULTIPART != 0 && flags & NLM_F_DUMP_INTR != 0;
            match message.payload {
                NetlinkPayload::InnerMessage(answer) => answers.messages.push(answer),
                NetlinkPayload::Error(error) if error.code.is_some() => {
                    let message = explanation(&error, flags);
                    return Err(Refusal::Kernel { source: error.to_io(), message });
                }
                NetlinkPayload::Done(done) if done.code < 0 => {
                    let source = io::Error::from_raw_os_error(-done.code);
                    return Err(Refusal::Kernel { source, message: None });
                }
                NetlinkPayload::Error(_) | NetlinkPayload::Done(_) => return Ok(true),
                _ => {}
            }
        }
        Ok(false)
    }
}

/// Where the attributes of an interface begin: behind an `nlmsghdr` and an `ifinfomsg`.
const LINK_ATTRIBUTES: usize = NLMSGHDR_OCTETS + 16;
/// The names of an interface that users choose. The last is nested in a list.
const NAMES: [u16; 3] = [libc::IFLA_IFNAME, libc::IFLA_IFALIAS, libc::IFLA_ALT_IFNAME];
/// The bit that marks an attribute as nested.
const NESTED: u16 = 1 << 15;

/// Turns the names of interfaces, which are octets to the kernel, into valid text. Otherwise one name that is no text
/// would make a whole list unreadable, and a user who may name an interface could hide it and others.
fn make_names_text(datagram: &mut [u8]) {
    let mut rest = datagram;
    while let Some(&[a, b, c, d, e, f]) = rest.first_chunk() {
        let length = u32::from_ne_bytes([a, b, c, d]) as usize;
        let next = length.next_multiple_of(4).min(rest.len());
        if next < NLMSGHDR_OCTETS {
            return;
        }
        let (message, after) = std::mem::take(&mut rest).split_at_mut(next);
        if let Some(attributes) = message.get_mut(LINK_ATTRIBUTES..)
            && u16::from_ne_bytes([e, f]) == libc::RTM_NEWLINK
        {
            make_attributes_text(attributes);
        }
        rest = after;
    }
}

fn make_attributes_text(attributes: &mut [u8]) {
    let mut rest = attributes;
    while let Some(&[a, b, c, d]) = rest.first_chunk() {
        let (length, kind) = (usize::from(u16::from_ne_bytes([a, b])), u16::from_ne_bytes([c, d]) & !NESTED);
        let next = length.next_multiple_of(4).min(rest.len());
        let (attribute, after) = std::mem::take(&mut rest).split_at_mut(next);
        rest = after;
        match attribute.get_mut(4..length) {
            Some(list) if kind == libc::IFLA_PROP_LIST => make_attributes_text(list),
            Some(name) if NAMES.contains(&kind) && std::str::from_utf8(name).is_err() => {
                name.iter_mut().filter(|octet| !octet.is_ascii()).for_each(|octet| *octet = b'?');
            }
            Some(_) => {}
            None => return,
        }
    }
}

/// The kernel's own words about an error.
fn explanation(error: &ErrorMessage, flags: u16) -> Option<String> {
    // Without NLM_F_CAPPED the whole request comes before the attributes; we asked for capped.
    if flags & NLM_F_ACK_TLVS == 0 || flags & NLM_F_CAPPED == 0 {
        return None;
    }
    let attributes = error.header.get(NLMSGHDR_OCTETS..)?;
    NlasIterator::new(attributes).flatten().find_map(|attribute| {
        if attribute.kind() != MESSAGE_ATTRIBUTE {
            return None;
        }
        let text = attribute.value();
        let text = text.strip_suffix(&[0]).unwrap_or(text);
        Some(String::from_utf8_lossy(text).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_text_and_what_is_cut_short_does_no_harm() {
        let attribute = |kind: u16, value: &[u8]| {
            let mut octets = (4 + value.len() as u16).to_ne_bytes().to_vec();
            octets.extend(kind.to_ne_bytes());
            octets.extend(value);
            octets.resize(octets.len().next_multiple_of(4), 0);
            octets
        };
        let list = attribute(libc::IFLA_ALT_IFNAME, b"b\xfe");
        let attributes = [
            attribute(libc::IFLA_IFALIAS, b"a\xff\0"),
            attribute(libc::IFLA_PROP_LIST | NESTED, &list),
            attribute(libc::IFLA_ADDRESS, &[0xff; 6]),
            attribute(libc::IFLA_IFNAME, "\u{e9}".as_bytes()),
        ]
        .concat();
        let mut message = (LINK_ATTRIBUTES as u32 + attributes.len() as u32).to_ne_bytes().to_vec();
        message.extend(libc::RTM_NEWLINK.to_ne_bytes());
        message.resize(LINK_ATTRIBUTES, 0);
        message.extend(attributes);
        let twice = [message.clone(), message].concat();
        let mut plain = twice.clone();
        make_names_text(&mut plain);
        let changed: Vec<u8> =
            twice.iter().zip(&plain).filter(|(before, after)| before != after).map(|(_, &after)| after).collect();
        assert_eq!(changed, b"????", "one octet of each name that is no text, in each message");
        for length in 0..twice.len() {
            make_names_text(&mut twice[..length].to_vec());
            let mut broken = twice.clone();
            broken[length] ^= 0xff;
            make_names_text(&mut broken);
        }
    }

    #[test]
    fn the_kernels_words_are_found_behind_the_repeated_header() {
        let mut header = vec![0; NLMSGHDR_OCTETS];
        header.extend([9, 0, 1, 0]);
        header.extend(b"busy\0\0\0\0");
        let mut error = ErrorMessage::default();
        error.header = header;
        let flags = NLM_F_ACK_TLVS | NLM_F_CAPPED;
        assert_eq!(explanation(&error, flags).as_deref(), Some("busy"));
        assert_eq!(explanation(&error, NLM_F_CAPPED), None);
        error.header.truncate(3);
        assert_eq!(explanation(&error, flags), None);
    }
}
