//! A kernel's devices, its network card and its console: vhost-user with notifications in band, so that no descriptor has
//! to be polled.
//!
//! The crates `vhost` and `vhost-user-backend` of rust-vmm notify through descriptors only, so the few messages are
//! here; the rings are theirs (`virtio-queue`).

use crate::message::{HEAD, Head, Request, Wrong, interrupt, reply};
use crate::rings::{BEFORE_FRAMES, RECEIVES, Rings, SENDS, Sent};
use crate::sys;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};

const VERSION_1: u64 = 1 << 32;
const PROTOCOL_FEATURES: u64 = 1 << 30;
const HAS_MAC: u64 = 1 << 5;
/// REPLY_ACK, a channel for interrupts, configuration, and notifications in band.
const PROTOCOL: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;

/// What the kernel wants of its card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Take the frames in the sending ring, then answer the kernel.
    Send(Answer),
    /// Nothing.
    Nothing,
    /// The kernel is gone.
    Gone,
}

/// Whether a kick waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    request: u32,
    needed: bool,
}

/// Why a card failed.
#[derive(Debug)]
pub enum CardError {
    Io(io::Error),
    Wrong(Wrong),
}

impl From<io::Error> for CardError {
    fn from(error: io::Error) -> CardError {
        CardError::Io(error)
    }
}

impl From<Wrong> for CardError {
    fn from(wrong: Wrong) -> CardError {
        CardError::Wrong(wrong)
    }
}

/// A network card, or a console.
#[derive(Debug)]
pub struct Card {
    listener: UnixListener,
    pub socket: Option<UnixStream>,
    /// Where interrupts go.
    channel: Option<UnixStream>,
    rings: Rings,
    /// A network card's address.
    mac: Option<[u8; 6]>,
}

impl Card {
    /// A network card with this address, or without one a console.
    pub fn new(listener: UnixListener, mac: Option<[u8; 6]>) -> Card {
        let rings = Rings::new(if mac.is_some() { BEFORE_FRAMES } else { 0 });
        Card { listener, socket: None, channel: None, rings, mac }
    }

    /// What is readable when the kernel says something.
    pub fn source(&self) -> std::os::fd::BorrowedFd<'_> {
        use std::os::fd::AsFd;
        self.socket.as_ref().map_or_else(|| self.listener.as_fd(), AsFd::as_fd)
    }

    /// Takes one message, or the connection.
    pub fn serve(&mut self) -> Result<Wants, CardError> {
        let Some(socket) = &self.socket else {
            self.socket = Some(self.listener.accept()?.0);
            return Ok(Wants::Nothing);
        };
        let (mut files, mut head) = (Vec::new(), [0; HEAD]);
        if !sys::receive(socket, &mut head, &mut files)? {
            self.socket = None;
            return Ok(Wants::Gone);
        }
        let head = Head::read(head)?;
        let mut payload = vec![0; head.length];
        if head.length > 0 && !sys::receive(socket, &mut payload, &mut files)? {
            return Ok(Wants::Gone);
        }
        let answer = Answer { request: head.request, needed: head.needs_reply };
        let payload = match Request::read(head.request, &payload)? {
            Request::Kick { queue: SENDS } => return Ok(Wants::Send(answer)),
            request => self.answer(request, files)?,
        };
        match payload {
            Some(payload) => self.reply(head.request, &payload)?,
            None => self.acknowledge(answer)?,
        }
        Ok(Wants::Nothing)
    }

    /// Answers a message whose work is done, if it waits for that.
    pub fn acknowledge(&self, answer: Answer) -> io::Result<()> {
        if answer.needed { self.reply(answer.request, &0_u64.to_le_bytes()) } else { Ok(()) }
    }

    fn reply(&self, request: u32, payload: &[u8]) -> io::Result<()> {
        // A kernel that is gone is noticed where the calendar reads next.
        self.socket.as_ref().map_or(Ok(()), |socket| sys::send(socket, &reply(request, payload), &[]).map(drop))
    }

    /// Does what a request asks, and gives the payload of its answer if it has one of its own.
    fn answer(&mut self, request: Request, mut files: Vec<OwnedFd>) -> Result<Option<Vec<u8>>, Wrong> {
        match request {
            Request::Features => {
                let own = if self.mac.is_some() { HAS_MAC } else { 0 };
                return Ok(Some((VERSION_1 | PROTOCOL_FEATURES | own).to_le_bytes().to_vec()));
            }
            Request::ProtocolFeatures => return Ok(Some(PROTOCOL.to_le_bytes().to_vec())),
            Request::Channel => {
                let channel = files.pop().ok_or(Wrong("a channel for interrupts without its socket"))?;
                self.channel = Some(UnixStream::from(channel));
            }
            Request::Memory(regions) => self.rings.remember(&regions, files)?,
            Request::Size { queue, entries } => self.rings.size(queue, entries)?,
            Request::Addresses { queue, descriptors, used, available } => {
                self.rings.place(queue, descriptors, used, available);
            }
            Request::Base { queue, index } => self.rings.begin_at(queue, index),
            Request::Enable { queue, on } => self.rings.enable(queue, on)?,
            Request::Configuration { offset, size, head } => {
                let mut all = [0; 256];
                all[..6].copy_from_slice(&self.mac.unwrap_or_default());
                return Ok(Some([&head[..], &all[offset..offset + size]].concat()));
            }
            Request::Kick { .. } | Request::Other => {}
        }
        Ok(None)
    }

    /// The next frame in the sending ring.
    pub fn next(&mut self) -> Option<Sent> {
        self.rings.next()
    }

    /// Lets go of all that is in the sending ring. Nothing interrupts the kernel, which waits for it.
    pub fn drain(&mut self) {
        while let Some(sent) = self.rings.next() {
            self.rings.done(sent.head);
        }
    }

    /// The wire is done with a frame; all kernels wait. `Ok(false)`: the kernel is gone.
    pub fn done(&mut self, head: u16) -> io::Result<bool> {
        if self.rings.done(head) { self.interrupt(SENDS as u32) } else { Ok(true) }
    }

    /// A frame arrives; all kernels wait. `Ok(None)`: no buffer was free. `Ok(Some(false))`: the kernel is gone.
    pub fn receive(&mut self, frame: &[u8]) -> io::Result<Option<bool>> {
        match self.rings.receive(frame) {
            Some(true) => self.interrupt(RECEIVES as u32).map(Some),
            Some(false) => Ok(Some(true)),
            None => Ok(None),
        }
    }

    /// Interrupts the kernel, which answers when its request is on the page.
    fn interrupt(&self, queue: u32) -> io::Result<bool> {
        let Some(channel) = &self.channel else { return Ok(true) };
        let mut answer = [0; HEAD + 8];
        Ok(sys::send(channel, &interrupt(queue), &[])? && sys::receive(channel, &mut answer, &mut Vec::new())?)
    }
}
