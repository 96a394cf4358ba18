//! The program on real namespaces: labs, the demonstration, ports, faults, and what a busy or hostile machine does to them.
//!
//! One program for all of them: each links the whole of ethbus.

#[path = "../common/mod.rs"]
mod common;

mod api;
mod at;
mod bench;
mod bridge;
mod capture;
mod clock;
mod cni;
mod containers;
mod cuts;
mod demo;
mod discards;
mod docker;
mod endings;
mod fan_out;
mod faults;
mod filter;
mod hostile;
mod joins;
mod keep;
mod lab;
mod metrics;
mod monkey;
mod noise;
mod offloads;
mod outside;
mod overload;
mod owners;
mod plan;
mod plca;
mod ports;
mod pressure;
mod python;
mod replay;
mod rootless;
mod security;
mod settings;
mod soak;
mod stalls;
mod tdma;
mod terminal;
mod traffic;
mod xdp;
