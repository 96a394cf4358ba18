//! The program of a fan-out, instruction by instruction.
//!
//! It is written by hand, since it is ten instructions, repeated for each port; no compiler for BPF is needed. In C it
//! would be
//!
//! ```c
//! memory->runs++;
//! for (word = 0; word < words; word++) {
//!     wanted = memory->wanted[word];
//!     memory->wanted[word] = 0;
//!     for (bit = 0; bit < 32; bit++)
//!         if (wanted & 1 << bit && (result = bpf_clone_redirect(skb, port[32 * word + bit], 0))) {
//!             memory->results[32 * word + bit] = result;
//!             memory->failures++;
//!         }
//! }
//! return TC_ACT_STOLEN;
//! ```
//! with both loops written out and the ports' indices as constants.

use super::Layout;
use crate::sys::bpf::Instruction;

/// `bpf_clone_redirect`: sends a copy of a frame through an interface, and returns the result of sending.
const CLONE_REDIRECT: i32 = 13;
/// The frame is consumed, and that is no failure.
const TC_ACT_STOLEN: i32 = 4;
/// The second half of the instruction that loads the address of a map's value into a register: `BPF_PSEUDO_MAP_VALUE`.
const MAP_VALUE: u8 = 2;

// Operations, as in linux/bpf.h: class, width or source, and operation.
const LOAD_ADDRESS: u8 = 0x18;
const LOAD_WORD: u8 = 0x61;
const STORE_WORD: u8 = 0x63;
const STORE_NUMBER: u8 = 0x62;
const ADD_NUMBER: u8 = 0x07;
const MOVE: u8 = 0xbf;
const MOVE_NUMBER: u8 = 0xb7;
const JUMP: u8 = 0x05;
const JUMP_IF_EQUAL: u8 = 0x15;
const JUMP_IF_BITS: u8 = 0x45;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// Result, and arguments of calls; the kernel's calls do not preserve them.
const R0: u8 = 0;
const R1: u8 = 1;
const R2: u8 = 2;
const R3: u8 = 3;
/// The frame, the memory, and a word of the wanted set: calls preserve these.
const FRAME: u8 = 6;
const MEMORY: u8 = 7;
const WANTED: u8 = 8;

/// The program for these ports, with the memory whose descriptor has the number `memory`.
pub fn program(ports: &[u32], memory: i32) -> Vec<Instruction> {
    let layout = Layout { ports: ports.len() };
    let mut code = vec![op(MOVE, FRAME, R1, 0, 0), op(LOAD_ADDRESS, MEMORY, MAP_VALUE, 0, memory), op(0, 0, 0, 0, 0)];
    code.extend(increment(Layout::RUNS));
    for (word, ports) in ports.chunks(32).enumerate() {
        let place = octets(layout.wanted(word));
        code.push(op(LOAD_WORD, WANTED, MEMORY, place, 0));
        code.push(op(STORE_NUMBER, MEMORY, 0, place, 0));
        for (bit, &port) in ports.iter().enumerate() {
            code.extend(copy(port, bit, octets(layout.result(32 * word + bit))));
        }
    }
    code.extend([op(MOVE_NUMBER, R0, 0, 0, TC_ACT_STOLEN), op(EXIT, 0, 0, 0, 0)]);
    code
}

/// A copy to one port, if its bit is set.
fn copy(port: u32, bit: usize, result: i16) -> Vec<Instruction> {
    let mut failed = vec![op(STORE_WORD, MEMORY, R0, result, 0)];
    failed.extend(increment(Layout::FAILURES));
    let mut send = vec![
        op(MOVE, R1, FRAME, 0, 0),
        op(MOVE_NUMBER, R2, 0, 0, port as i32),
        op(MOVE_NUMBER, R3, 0, 0, 0),
        op(CALL, 0, 0, 0, CLONE_REDIRECT),
        op(JUMP_IF_EQUAL, R0, 0, failed.len() as i16, 0),
    ];
    send.extend(failed);
    // The kernel sign-extends the number, which has no effect: a word of the set has no higher bits.
    let mut code = vec![op(JUMP_IF_BITS, WANTED, 0, 1, (1_u32 << bit) as i32), op(JUMP, 0, 0, send.len() as i16, 0)];
    code.extend(send);
    code
}

/// Adds one to a number in the memory.
fn increment(word: usize) -> [Instruction; 3] {
    let place = octets(word);
    [op(LOAD_WORD, R1, MEMORY, place, 0), op(ADD_NUMBER, R1, 0, 0, 1), op(STORE_WORD, MEMORY, R1, place, 0)]
}

/// The offset of a number, in octets.
fn octets(word: usize) -> i16 {
    i16::try_from(4 * word).expect("the memory of 1,024 ports has some 4 KiB")
}

fn op(code: u8, destination: u8, source: u8, offset: i16, immediate: i32) -> Instruction {
    // Two fields of four bits, which C compilers order like the machine's octets.
    let registers = if cfg!(target_endian = "little") { destination | source << 4 } else { destination << 4 | source };
    Instruction { code, registers, offset, immediate }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every jump ends where the module's C says: after one port's copy, or after one failure.
    #[test]
    fn jumps_end_where_the_next_port_begins() {
        let code = program(&[7; 3], 9);
        let begins = |code: &[Instruction]| {
            let bits = code.iter().enumerate().filter(|(_, it)| it.code == JUMP_IF_BITS);
            bits.map(|(place, _)| place).collect::<Vec<_>>()
        };
        let ports = begins(&code);
        let end = code.len() - 2;
        let next = [ports[1], ports[2], end];
        for (port, next) in ports.iter().zip(next) {
            assert_eq!(port + 2 + code[port + 1].offset as usize, next, "without its bit");
            let tested = port + 6;
            assert_eq!((code[tested].code, tested + 1 + code[tested].offset as usize), (JUMP_IF_EQUAL, next));
        }
        assert_eq!(code[end].immediate, TC_ACT_STOLEN);
    }

    #[test]
    fn the_largest_program_is_within_the_kernels_limit_and_its_offsets_within_theirs() {
        let code = program(&[1; super::super::PORTS_MAX], 0);
        assert!(code.len() < 1_000_000, "{}", code.len());
    }
}
