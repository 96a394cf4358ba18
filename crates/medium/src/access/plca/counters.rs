//! The counters of a PLCA node: those of 30.16, and those that chips offer.

/// Defines the counters of a node once.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of a PLCA node: those of 30.16, and those that chips offer.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct PlcaCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl PlcaCounters {
            /// Every counter with its name.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }

            /// The counts since `earlier`.
            pub fn since(&self, earlier: &PlcaCounters) -> PlcaCounters {
                PlcaCounters { $($name: self.$name - earlier.$name,)* }
            }

            /// The sum of this and `times` times `more`.
            pub fn and(&self, more: &PlcaCounters, times: u64) -> PlcaCounters {
                PlcaCounters { $($name: self.$name + more.$name * times,)* }
            }
        }
    };
}

counters! {
    /// BCNCNT: BEACONs sent or seen.
    beacons,
    /// TOCNT: own transmit opportunities, used or not.
    opportunities,
    /// Own transmit opportunities in which a frame was sent.
    used,
    /// Own transmit opportunities that passed unused.
    yielded,
    /// EMPCYC: cycles, from BEACON to BEACON, in which no node sent.
    empty_cycles,
    /// RXINTO: another node sent in an own transmit opportunity.
    received_in_own_turn,
    /// UNEXPB: a BEACON at a node that sends BEACONs itself.
    unexpected_beacons,
    /// BCNBFTO: a BEACON came before the node's own transmit opportunity.
    beacons_before_turn,
    /// TXCOL: collisions on the line in an own transmit opportunity.
    collisions_in_turn,
    /// CORTXCNT: frames sent with PLCA that collided on the line.
    corrupted,
    /// Collisions that PLCA reported to the MAC, so that it waits for its turn; the MAC's counters contain them too.
    logical_collisions,
    /// Times that plca_status fell to FAIL.
    status_losses,
}
