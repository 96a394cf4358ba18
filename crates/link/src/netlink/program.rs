//! Programs that look at frames on their way out of an interface, or into it.

use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkXdp};
use netlink_packet_route::tc::{
    TcAttribute, TcBpfFlags, TcFilterBpf, TcFilterBpfOption, TcHandle, TcHeader, TcMessage, TcOption,
};

use super::{Interface, LinkError, Netlink};
use crate::sys::bpf::{self, Instruction};

/// The queueing discipline that only holds programs.
const CLSACT: &str = "clsact";
/// A filter's priority; there are no other filters.
const PRIORITY: u32 = 1 << 16;

impl Netlink {
    /// Makes `program` decide about every frame that leaves an interface. The interface must have no such program yet.
    ///
    /// The interface keeps the program, until it is deleted.
    pub fn attach_to_egress(&mut self, index: u32, program: BorrowedFd<'_>) -> Result<(), LinkError> {
        let interface = Interface::Index(index);
        let mut discipline = message(index, TcHandle::CLSACT);
        discipline.header.handle = TcHandle { major: u16::MAX, minor: 0 };
        discipline.attributes = vec![TcAttribute::Kind(CLSACT.to_owned())];
        let request = RouteNetlinkMessage::NewQueueDiscipline(discipline);
        self.change(request, NLM_F_CREATE | NLM_F_EXCL, "making room for a program at", interface)?;
        let egress = TcHandle { minor: TcHandle::MIN_EGRESS, ..TcHandle::CLSACT };
        let mut filter = message(index, egress);
        filter.header.info = PRIORITY | u32::from((libc::ETH_P_ALL as u16).to_be());
        filter.attributes = vec![
            TcAttribute::Kind(TcFilterBpf::KIND.to_owned()),
            TcAttribute::Options(vec![
                TcOption::Bpf(TcFilterBpfOption::ProgFd(bpf::number(program) as u32)),
                TcOption::Bpf(TcFilterBpfOption::Flags(TcBpfFlags::DirectAction)),
            ]),
        ];
        let request = RouteNetlinkMessage::NewTrafficFilter(filter);
        self.change(request, NLM_F_CREATE | NLM_F_EXCL, "attaching a program to", interface)
    }

    /// Makes an end of a veth pair receive by a program that passes every frame on, so that it also gets what a program at
    /// the other end answers (XDP_TX); or receive as ever, with `None`. It begins to merge frames: switch that off.
    ///
    /// Without `fragments` the kernel keeps the MTU of the other end within a page.
    pub fn receive_by_program(&mut self, index: u32, fragments: Option<bool>) -> Result<(), LinkError> {
        /// The driver runs it, and not the kernel's stack after it.
        const IN_DRIVER: u32 = 1 << 2;
        const XDP_PASS: i32 = 2;
        /// `r0 = XDP_PASS; exit`
        const PASS: [Instruction; 2] = [
            Instruction { code: 0xb7, registers: 0, offset: 0, immediate: XDP_PASS },
            Instruction { code: 0x95, registers: 0, offset: 0, immediate: 0 },
        ];
        let (interface, call) = (Interface::Index(index), "loading a program for");
        let load = |fragments| bpf::load_xdp(&PASS, fragments);
        let refused = |source| LinkError::Refused { call, interface: interface.to_string(), message: None, source };
        let program = fragments.map(load).transpose().map_err(refused)?;
        let number = program.as_ref().map_or(-1, |program| bpf::number(program.as_fd()));
        self.set(interface, "giving a program to", |link| {
            link.attributes.push(LinkAttribute::Xdp(vec![LinkXdp::Fd(number), LinkXdp::Flags(IN_DRIVER)]));
        })
    }
}

fn message(index: u32, parent: TcHandle) -> TcMessage {
    TcMessage::from_parts(TcHeader { index: index as i32, parent, ..TcHeader::default() }, Vec::new())
}
