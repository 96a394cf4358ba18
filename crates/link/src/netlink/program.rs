//! Programs that look at frames on their way out of an interface.

use std::os::fd::BorrowedFd;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{
    TcAttribute, TcBpfFlags, TcFilterBpf, TcFilterBpfOption, TcHandle, TcHeader, TcMessage, TcOption,
};

use super::{Interface, LinkError, Netlink};

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
                TcOption::Bpf(TcFilterBpfOption::ProgFd(crate::sys::bpf::number(program) as u32)),
                TcOption::Bpf(TcFilterBpfOption::Flags(TcBpfFlags::DirectAction)),
            ]),
        ];
        let request = RouteNetlinkMessage::NewTrafficFilter(filter);
        self.change(request, NLM_F_CREATE | NLM_F_EXCL, "attaching a program to", interface)
    }
}

fn message(index: u32, parent: TcHandle) -> TcMessage {
    TcMessage::from_parts(TcHeader { index: index as i32, parent, ..TcHeader::default() }, Vec::new())
}
