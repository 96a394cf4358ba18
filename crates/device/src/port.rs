//! A station's network card, as smoltcp sees it.

use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// Octets of the header of an Ethernet frame.
const HEADER: usize = 14;

/// A station's network card. Clones are the same card: one with the stack, one with the bus.
///
/// Both are on one thread, whichever runs the bus.
#[derive(Clone, Debug)]
pub struct Port {
    mtu: usize,
    queues: Arc<Mutex<Queues>>,
}

#[derive(Debug, Default)]
struct Queues {
    received: VecDeque<Arc<[u8]>>,
    sent: VecDeque<Arc<[u8]>>,
    /// Frames that may be sent before there is room again.
    room: usize,
    /// A frame found no room.
    refused: bool,
}

impl Port {
    /// A card whose IP packets have up to `mtu` octets, with room for `room` frames.
    pub fn new(mtu: usize, room: usize) -> Port {
        Port { mtu, queues: Arc::new(Mutex::new(Queues { room, ..Queues::default() })) }
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().expect("a thread that panics uses the card no more")
    }

    /// A frame arrives, without FCS.
    pub fn receive_frame(&self, octets: Arc<[u8]>) {
        self.queues().received.push_back(octets);
    }

    /// The next frame that the stack has sent, without FCS.
    pub fn take_sent(&self) -> Option<Arc<[u8]>> {
        self.queues().sent.pop_front()
    }

    /// How many frames wait that the stack has sent.
    pub(crate) fn sent(&self) -> usize {
        self.queues().sent.len()
    }

    /// From now on there is room for this number of frames.
    pub fn set_room(&self, frames: usize) {
        let mut queues = self.queues();
        (queues.room, queues.refused) = (frames, false);
    }

    /// Whether a frame has found no room since there was last some: then poll the stack when there is.
    pub fn was_refused(&self) -> bool {
        self.queues().refused
    }
}

impl Device for Port {
    type RxToken<'a> = Received;
    type TxToken<'a> = Room<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Room<'_>)> {
        // What answers a frame has room: the medium counts what does not fit.
        let mut queues = self.queues();
        let octets = queues.received.pop_front()?;
        Some((Received(octets), Room(queues)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Room<'_>> {
        let mut queues = self.queues();
        if queues.room == 0 {
            queues.refused = true;
            return None;
        }
        Some(Room(queues))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = self.mtu + HEADER;
        capabilities
    }
}

/// A frame that has arrived.
#[derive(Debug)]
pub struct Received(Arc<[u8]>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

/// Room for one frame.
#[derive(Debug)]
pub struct Room<'a>(MutexGuard<'a, Queues>);

impl TxToken for Room<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(mut self, length: usize, write: F) -> R {
        let mut octets = vec![0; length];
        let result = write(&mut octets);
        self.0.sent.push_back(octets.into());
        self.0.room = self.0.room.saturating_sub(1);
        result
    }
}
