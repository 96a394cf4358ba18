//! The tables of the three machines of clause 148: control (figure 148-3), data (148-4) and status (148-5), and that of
//! D-PLCA (figure 148-8 of P802.3da D3.0).
//!
//! A machine keeps its state unless a guard of its state is true; if several are true, the first counts. Nothing here
//! knows a medium: only states, and a node's own variables.

/// Defines a machine once: its states, the transition that a node takes from its inputs, and the table as text.
macro_rules! machine {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$state_doc:meta])* $state:ident { $($guard:expr => $to:ident,)* })*
    } with $see:ident: $seen:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$state_doc])* $state,)*
        }

        impl $name {
            /// Every transition: from, guard, to.
            pub const TABLE: &[(&'static str, &'static str, &'static str)] =
                &[$($((stringify!($state), stringify!($guard), stringify!($to)),)*)*];

            /// The machine's next state; `None` if it stays.
            #[inline(always)]
            pub(super) fn next(self, $see: &$seen) -> Option<$name> {
                match self {
                    $($name::$state => {
                        $(if $guard { return Some($name::$to); })*
                        None
                    })*
                }
            }
        }
    };
}

/// The inputs of one node's machines at one instant: its variables, and what is heard at its place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// CRS: something is heard, the node's own signal included.
    pub crs: bool,
    /// RX_DV, or rx_cmd is COMMIT.
    pub receiving: bool,
    /// rx_cmd is BEACON.
    pub beacon: bool,
    /// rx_cmd is BEACON, and it is the node's own.
    pub echo: bool,
    /// TX_EN: the data machine makes the node send a frame.
    pub tx_en: bool,
    /// plca_en, no plca_reset, and an id that is not 255.
    pub on: bool,
    /// local_nodeID is 0.
    pub coordinator: bool,
    /// curID is one of the node's ids.
    pub own_turn: bool,
    /// plca_active.
    pub active: bool,
    /// packetPending.
    pub pending: bool,
    /// committed.
    pub committed: bool,
    /// bc is max_bc or above.
    pub burst_over: bool,
    /// The cycle is over: for the coordinator at plca_node_count, for all nodes at 255.
    pub last_turn: bool,
    /// tx_cmd is NONE.
    pub no_command: bool,
    /// plca_status is OK.
    pub status: bool,
    /// plca_txen: the MAC sends.
    pub mac_sends: bool,
    /// Bits are left in the delay line.
    pub delayed: bool,
    /// to_timer_done.
    pub to_done: bool,
    /// beacon_timer_done.
    pub beacon_done: bool,
    /// beacon_det_timer_done.
    pub detection_done: bool,
    /// invalid_beacon_timer_done.
    pub invalid_done: bool,
    /// burst_timer_done.
    pub burst_done: bool,
    /// The delay line is full.
    pub line_full: bool,
    /// The delay line has run empty.
    pub flushed: bool,
    /// pending_timer_done.
    pub pending_done: bool,
    /// commit_timer_done.
    pub commit_done: bool,
    /// plca_status_timer_done.
    pub status_done: bool,
}

machine! {
    /// States of the control machine: whose turn it is.
    Control {
        /// PLCA is off.
        Disable {
            s.on && !s.coordinator => Resync,
            s.on && s.coordinator => Recover,
        }
        /// A follower waits for a BEACON; the coordinator waits for silence, to send one.
        Resync {
            !s.on => Disable,
            s.coordinator && !s.crs && !s.tx_en => SendBeacon,
            !s.coordinator && s.crs => EarlyReceive,
        }
        /// The coordinator continues its count.
        Recover {
            !s.on => Disable,
            true => WaitTo,
        }
        /// The BEACON is on the line.
        SendBeacon {
            !s.on => Disable,
            s.beacon_done => Syncing,
        }
        /// A BEACON was sent or seen: the cycle begins at its end.
        Syncing {
            !s.on => Disable,
            s.invalid_done => Resync,
            !s.crs => WaitTo,
        }
        /// A transmit opportunity of the node curID.
        WaitTo {
            !s.on => Disable,
            s.invalid_done => Resync,
            s.crs => EarlyReceive,
            s.own_turn && s.pending && s.active => Commit,
            s.own_turn => Yield,
            s.to_done => NextTxOpportunity,
        }
        /// Something is heard: a BEACON, or a node that takes its turn.
        EarlyReceive {
            !s.on => Disable,
            s.invalid_done => Resync,
            !s.crs && !s.coordinator && !s.beacon && s.detection_done => Resync,
            !s.crs && s.coordinator => Recover,
            !s.coordinator && !s.receiving && s.beacon => Syncing,
            !s.coordinator && !s.receiving && !s.crs => Syncing,
            s.receiving && s.crs => Receive,
        }
        /// The node takes its turn, and signals it until the MAC sends.
        Commit {
            !s.on => Disable,
            s.tx_en => Transmit,
            !s.tx_en && !s.pending => Abort,
        }
        /// The node has nothing to send in its turn.
        Yield {
            !s.on => Disable,
            s.invalid_done => Resync,
            s.to_done => NextTxOpportunity,
            s.crs => EarlyReceive,
        }
        /// Another node uses its turn.
        Receive {
            !s.on => Disable,
            s.invalid_done => Resync,
            !s.crs => NextTxOpportunity,
        }
        /// The node's frame is on the line.
        Transmit {
            !s.on => Disable,
            !s.tx_en && !s.burst_over => Burst,
            !s.tx_en && !s.crs && s.burst_over => NextTxOpportunity,
        }
        /// The node keeps its turn for one more frame.
        Burst {
            !s.on => Disable,
            s.tx_en => Transmit,
            s.burst_done => Abort,
        }
        /// The node gives up its turn.
        Abort {
            !s.on => Disable,
            !s.crs => NextTxOpportunity,
        }
        /// curID is incremented.
        NextTxOpportunity {
            !s.on => Disable,
            s.last_turn => Resync,
            true => WaitTo,
        }
    } with s: Seen
}

machine! {
    /// States of the data machine: what the MAC sees, and when its frame goes out.
    Data {
        /// Plain CSMA/CD: the MAC hears the line.
        Normal {
            s.on && s.status && !s.crs && !s.mac_sends => Idle,
        }
        /// The frame is out; the line falls silent. If a MAC sends before that, and has not kept its turn, a collision
        /// is reported to it as in RECEIVE: its frame would get lost (docs/plca.md).
        WaitIdle {
            !(s.on && s.status) => Normal,
            s.crs && s.mac_sends && s.committed => Transmit,
            s.crs && s.mac_sends => Collide,
            !s.crs && !s.committed => Idle,
        }
        /// Nothing to send, and nothing heard.
        Idle {
            !(s.on && s.status) => Normal,
            s.mac_sends => Hold,
            s.receiving && s.no_command => Receive,
        }
        /// Another node's frame or COMMIT is heard.
        Receive {
            !(s.on && s.status) => Normal,
            s.mac_sends => Collide,
            !s.receiving => Idle,
        }
        /// The MAC sends into the delay line, and waits for the node's turn.
        Hold {
            !(s.on && s.status) => Normal,
            s.receiving || s.line_full => Collide,
            s.committed => Transmit,
        }
        /// The MAC sees a collision that is none on the line: it jams, and backs off.
        Collide {
            !(s.on && s.status) => Normal,
            !s.mac_sends => DelayPending,
        }
        /// The MAC backs off.
        DelayPending {
            !(s.on && s.status) => Normal,
            s.pending_done => Pending,
        }
        /// Carrier holds the MAC back until the node's turn.
        Pending {
            !(s.on && s.status) => Normal,
            s.committed => WaitMac,
        }
        /// The node's turn: carrier is off, and the MAC's gap passes.
        WaitMac {
            !(s.on && s.status) => Normal,
            s.mac_sends => Transmit,
            s.commit_done => WaitIdle,
        }
        /// The MAC's bits go out, through the remaining delay line.
        Transmit {
            !(s.on && s.status) => Normal,
            !s.mac_sends && s.delayed => Flush,
            !s.mac_sends => WaitIdle,
        }
        /// The MAC has finished; the rest of the delay line goes out.
        Flush {
            !(s.on && s.status) => Normal,
            s.flushed => WaitIdle,
        }
    } with s: Seen
}

machine! {
    /// States of the status machine: whether the node is part of a cycle.
    Status {
        /// plca_status is FAIL.
        Inactive {
            s.on && s.active => Active,
        }
        /// plca_status is OK: BEACONs are sent or seen.
        Active {
            !s.on => Inactive,
            !s.active => Hysteresis,
        }
        /// plca_status is still OK, for plca_status_timer.
        Hysteresis {
            !s.on => Inactive,
            s.active => Active,
            s.status_done => Inactive,
        }
    } with s: Seen
}

/// The inputs of a node's machine of D-PLCA.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Claims {
    /// plca_en and dplca_en, no plca_reset.
    pub on: bool,
    /// plca_status is OK.
    pub status: bool,
    /// The node has sent BEACONs and stopped, and no BEACON has come since.
    pub gave_up: bool,
    /// rx_cmd is BEACON, and it is another node's.
    pub beacon: bool,
    /// tx_cmd is BEACON.
    pub sends_beacon: bool,
    /// rx_cmd is BEACON, and it is the node's own.
    pub echo: bool,
    /// wait_beacon_timer_done.
    pub wait_done: bool,
    /// beacon_timeout_timer_done.
    pub timeout: bool,
    /// coordinator_role_allowed.
    pub coordinator_allowed: bool,
    /// dplca_txop_table_upd: a turn is over, and the table of claims has it.
    pub turn_over: bool,
    /// dplca_new_age: claims before the last age have just expired.
    pub new_age: bool,
    /// CLAIMING(0).
    pub first_claimed: bool,
    /// CLAIMING(plca_node_count - 1).
    pub last_claimed: bool,
    /// CLAIMING(local_nodeID), of a follower.
    pub own_claimed: bool,
    /// dplca_txop_id is 0, and dplca_txop_node_count is local_nodeID or below.
    pub beyond: bool,
    /// local_nodeID is above MAX_CLAIM.
    pub above: bool,
    /// plca_node_count.
    pub count: u8,
}

machine! {
    /// States of D-PLCA: how the node finds its id.
    Assignment {
        /// D-PLCA is off, or begins again.
        Disabled {
            s.on => WaitBeacon,
        }
        /// The node listens for a BEACON.
        WaitBeacon {
            !s.on => Disabled,
            s.status && !s.gave_up => Learning,
            s.wait_done && s.coordinator_allowed => Coordinator,
            s.wait_done => Disabled,
        }
        /// The node sends BEACONs.
        Coordinator {
            !s.on => Disabled,
            s.sends_beacon => LoopbackTx,
            s.beacon => Learning,
            s.turn_over && s.first_claimed => Disabled,
            s.turn_over && s.new_age && s.last_claimed && s.count < 255 => IncreaseNodeCount,
            s.turn_over && s.new_age && !s.last_claimed && s.count > 8 => ReduceNodeCount,
        }
        /// The node sends a BEACON, and waits to hear it.
        LoopbackTx {
            !s.on => Disabled,
            s.echo => LoopbackRx,
            s.timeout => Disabled,
        }
        /// The node hears its BEACON.
        LoopbackRx {
            !s.on => Disabled,
            !s.echo => Coordinator,
        }
        /// The last turn is used: there will be one more.
        IncreaseNodeCount {
            !s.on => Disabled,
            !s.new_age => Coordinator,
        }
        /// The last turn is unused: no turns follow the one after the last that is used.
        ReduceNodeCount {
            !s.on => Disabled,
            !s.new_age => Coordinator,
        }
        /// The node notes which turns are used.
        Learning {
            !s.on => Disabled,
            !s.status => Disabled,
            s.turn_over && s.new_age => Follower,
        }
        /// The node has a turn; entered again, it picks another.
        Follower {
            !s.on => Disabled,
            !s.status => Disabled,
            s.turn_over && (s.own_claimed || s.beyond || s.new_age && s.above) => Follower,
        }
    } with s: Claims
}
