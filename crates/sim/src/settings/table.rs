//! Every key of a scenario, declared once: a new key is one entry here, and the engine's use of its value.
//!
//! [`settings!`] gives the whole table to another macro, so that each reader takes what concerns it: `sections` makes the
//! types that serde reads, `keys` the rules that each value is checked by, `options` the command line. `build.rs` reads this
//! file too, and knows no type in it.
//!
//! An entry has the key's name, its type, what it takes, what to write instead of a wrong value, its default, and its
//! documentation, which is the row of docs/scenario.md and the description in the JSON Schema. An entry may have the access
//! methods that use it (`of`), and the option of the command line that overrules it (`option`).
//!
//! One file above 500 lines because every setting is in one table.

macro_rules! settings {
    ($make:ident) => {
        $make! {
            /// What a scenario file says. What it leaves out has a default.
            Scenario SCENARIO {
                /// the lab's name: 1 to 15 letters, digits, `-`, `_`, `.`
                name: Given<String>, Text(lab), "the lab's name in quotes, like `name = \"lab\"`",
                    default "`\"ethbus\"`",
                    option Opt {
                        long: "name", value: "LAB", place: 230, on: UP, in_short: ALL,
                        help: "The lab's name [default: ethbus]", ..Opt::NEW
                    };
                /// seed of every random draw
                seed: Given<u64>, Whole(0, LARGEST), "a whole number from 0 to 9223372036854775807, like `seed = 7`",
                    default "live: drawn, and printed; sim: 1",
                    option Opt {
                        long: "seed", short: Some('s'), value: "SEED", place: 260, on: SIM | UP | DEMO | RUN, in_short: ALL | RUN,
                        help: "Seed of every random draw [default: 1]",
                        live: Some(("Seed of every draw [default: drawn, and printed]", "")), ..Opt::NEW
                    };
                /// how many, 1 to 1024; 0 with a `capacity`
                stations: Given<usize>, Whole(0, 1024), "a whole number from 1 to 1024, like `stations = 4`",
                    default "4, or one for each `[[station]]`",
                    option Opt {
                        long: "stations", short: Some('n'), value: "N", place: 10, on: ALL | DEMO, in_short: ALL | DEMO,
                        help: "How many stations, 1 to 1024 [default: 4]", ..Opt::NEW
                    };
                /// how many there can be with those that join later
                capacity: Given<usize>, Whole(1, 1024), "a whole number from 1 to 1024, like `capacity = 100`",
                    default "live: 64 more than `stations`, with PLCA and TDMA none; sim: none more",
                    option Opt {
                        long: "capacity", value: "N", place: 15, on: UP,
                        help: "How many stations with those that join later [default: 64 more]", ..Opt::NEW
                    };
                /// *live*: where stations get their IPv4 addresses from, in order
                ipv4: Given<Network>, Text(text::<Network>), "a network in quotes, like `ipv4 = \"10.77.0.0/16\"`",
                    default "`\"10.77.0.0/16\"`";
                /// *live*: the same for IPv6
                ipv6: Given<Network>, Text(text::<Network>), "a network in quotes, like `ipv6 = \"fd77::/64\"`",
                    default "`\"fd77::/64\"`";
                /// several stations may have one MAC address: each hears the frames for it, and they count for the first
                duplicate_mac: Given<bool>, Switch, "`duplicate_mac = true` or `duplicate_mac = false`",
                    default "`false`";
                /// the medium
                medium: MediumSection, Section(MEDIUM), "`[medium]` on a line of its own, once";
                /// how stations get to send
                access: AccessSection, Section(ACCESS), "`[access]` on a line of its own, once";
                /// PLCA of all stations, unless their own section says otherwise
                plca: PlcaSection, Section(PLCA), "`[plca]` on a line of its own, once";
                /// what stations offer in virtual time, unless their own section says otherwise
                traffic: TrafficSection, Section(TRAFFIC), "`[traffic]` on a line of its own, once";
                /// how long a run in virtual time is
                run: RunSection, Section(RUN), "`[run]` on a line of its own, once";
                /// how a live bus follows real time
                emulator: EmulatorSection, Section(EMULATOR), "`[emulator]` on a line of its own, once";
                /// *run*: the kernels of a virtual lab
                kernel: KernelSection, Section(KERNEL), "`[kernel]` on a line of its own, once";
                /// segments of cable, for topology `"segments"`
                segment: Vec<Spanned<SegmentSection>>, Sections(SEGMENT),
                    "`[[segment]]`, with two brackets, for each segment";
                /// what joins them
                repeater: Vec<Spanned<RepeaterSection>>, Sections(REPEATER),
                    "`[[repeater]]`, with two brackets, for each repeater";
                /// when the cable is cut, and where
                cut: Vec<Spanned<CutSection>>, Sections(CUT), "`[[cut]]`, with two brackets, for each cut";
                /// what is done to stations and cable while the medium runs, and when
                at: Vec<Spanned<AtSection>>, Sections(AT),
                    "`[[at]]`, with two brackets, for each change while the medium runs";
                /// frames whose instants are written down
                frame: Vec<Spanned<FrameSection>>, Sections(FRAME), "`[[frame]]`, with two brackets, for each frame";
                /// one for each station, in order along the bus
                station: Vec<Spanned<StationSection>>, Sections(STATION),
                    "`[[station]]`, with two brackets, for each station";
                /// several buses in one file, each with the keys of a scenario; see [bridge.md](bridge.md)
                bus: BTreeMap<String, Spanned<Scenario>>, Buses, "`[bus.NAME]` for each bus";
                /// what joins them
                bridge: Vec<Spanned<BridgeSection>>, Sections(BRIDGE), "`[[bridge]]`, with two brackets, for each bridge";
            }

            /// `[[bridge]]`
            BridgeSection BRIDGE {
                /// its name, and that of its station on each bus
                name: Given<String>, Text(any), "a name in quotes, like `name = \"sw\"`",
                    default "none: write one";
                /// the buses that it joins, two or more: `["front", "rear"]`
                joins: Vec<Spanned<String>>, Texts(any), "names of buses, like `joins = [\"front\", \"rear\"]`",
                    default "none: write them";
                /// from the last bit of a frame to when its copy is in the other port's queue
                latency: Given<DurationText>, Text(text::<DurationText>),
                    "a time with its unit in quotes, like `latency = \"50us\"`",
                    default "`\"50us\"`";
                /// frames that the queue of each port holds
                queue: Given<usize>, Whole(1, LARGEST_32),
                    "a whole number of frames from 1 to 4294967295, like `queue = 100`",
                    default "100";
                /// how long a silent station stays learned (802.1Q, 8.8.3)
                ageing: Given<DurationText>, Text(text::<DurationText>),
                    "a time with its unit in quotes, like `ageing = \"300s\"`",
                    default "`\"300s\"`";
            }

            /// `[medium]`
            MediumSection MEDIUM {
                /// bits per second, with a unit: `"10M"`, `"2.94Mbit/s"`, `"10mbit"`
                rate: Given<RateText>, Text(text::<RateText>), "bits per second in quotes, like `rate = \"10M\"`",
                    default "`\"10Mbit/s\"`",
                    option Opt {
                        long: "rate", short: Some('r'), value: "RATE", place: 170, on: ALL | DEMO, in_short: ALL,
                        help: "The medium's rate [default: 10M]", ..Opt::NEW
                    };
                /// `"star:50bt"`, `"bus:500m"` or `"segments"`
                topology: Given<TopologyText>, Text(text::<TopologyText>),
                    "a topology in quotes, like `topology = \"bus:500m\"`",
                    default "`\"star:0bt\"`",
                    option Opt {
                        long: "topology", value: "TOPOLOGY", place: 180, on: ALL | DEMO, in_short: ALL,
                        help: "`star:50bt`, `bus:500m` [default: star:0bt]",
                        more: "A star has the same distance between every pair, a bus is a cable of this length.",
                        ..Opt::NEW
                    };
                /// of the signal on the cable (802.3, 8.4.1.3): `"0.66c"`, `"231000 km/s"`
                propagation_speed: Given<SpeedText>, Text(text::<SpeedText>),
                    "a speed in quotes, like `propagation_speed = \"0.77c\"`",
                    default "`\"0.77c\"`; of `csma-ca`: `\"1c\"`";
                /// frames that a station's transmit queue holds
                queue: Given<usize>, Whole(1, LARGEST_32),
                    "a whole number of frames from 1 to 4294967295, like `queue = 100`",
                    default "100";
                /// `false`: every frame is extended by itself (802.3, 4.2.3.2.7)
                bursting: Given<bool>, Switch, "`bursting = true` or `bursting = false`",
                    default "on at 1 Gbit/s", of Of::DETECTORS,
                    option Opt {
                        long: "bursting", value: "on|off", words: &["on", "off"], place: 190, on: SIM | SWEEP,
                        help: "Frame bursting, at 1000 Mb/s only [default: on there]", ..Opt::NEW
                    };
                /// slotTime (802.3, table 4-2), in bit times
                slot_time: Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `slot_time = \"512 BT\"`",
                    default "`\"512 BT\"`; at 1 Gbit/s `\"4096 BT\"`", of Of::DETECTORS, sets slot_time;
                /// interPacketGap, the same table
                inter_packet_gap: Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `inter_packet_gap = \"96 BT\"`",
                    default "`\"96 BT\"`", of Of::DETECTORS, sets inter_packet_gap;
                /// the part of the gap in which carrier starts it anew, at most two thirds (802.3, 4.2.3.2.1)
                inter_packet_gap_part_1: Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `inter_packet_gap_part_1 = \"64 BT\"`",
                    default "`\"64 BT\"`", of Of::DETECTORS, sets inter_packet_gap_part_1;
                /// attemptLimit: a frame is discarded after this many attempts
                attempt_limit: Given<NonZeroU32>, Whole(1, LARGEST_32),
                    "a whole number from 1 to 4294967295, like `attempt_limit = 16`",
                    default "16; of ALOHA and TDMA: none", of Of::ONE_LIMIT, sets attempt_limit;
                /// backoffLimit: the range of the backoff doubles this many times
                backoff_limit: Given<u32>, Whole(0, 31), "a whole number from 0 to 31, like `backoff_limit = 10`",
                    default "10", of Of::DETECTORS, sets backoff_limit;
                /// jamSize, in bit times
                jam_size: Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `jam_size = \"32 BT\"`",
                    default "`\"32 BT\"`", of Of::DETECTORS, sets jam_size;
                /// octets from destination address to FCS, up to 2000
                max_frame_size: Given<OctetsNumber>, Whole(18, 2000),
                    "a whole number of octets from 18 to 2000, like `max_frame_size = 1518`",
                    default "1518", sets max_frame_size;
                /// octets from destination address to FCS: shorter frames are padded
                min_frame_size: Given<OctetsNumber>, Whole(18, 2000),
                    "a whole number of octets from 18 to 2000, like `min_frame_size = 64`",
                    default "64", sets min_frame_size;
                /// maxDeferTime: a longer wait is counted as excessive
                max_defer_time: Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `max_defer_time = \"24288 BT\"`",
                    default "`\"24288 BT\"`; at 1 Gbit/s `\"155488 BT\"`", of Of::DETECTORS, sets max_defer_time;
            }

            /// `[access]`
            AccessSection ACCESS {
                /// or `"plca"`, `"csma"`, `"csma-ca"`, `"aloha"`, `"slotted-aloha"`, `"tdma"`; keys of PLCA: [plca.md](plca.md)
                method: Given<AccessMethod>, Choice(AccessMethod::WORDS),
                    "an access method in quotes: `method = \"csma-cd\"`, `\"plca\"`, `\"csma\"`, `\"csma-ca\"`, `\"aloha\"`, `\"slotted-aloha\"` or `\"tdma\"`",
                    default "`\"csma-cd\"`",
                    option Opt {
                        long: "access", value: "METHOD", place: 40, on: ALL | DEMO,
                        help: "`csma-cd`, `plca`, `csma`, `csma-ca`, `aloha`, `slotted-aloha`, `tdma` [default: csma-cd]",
                        more: "How stations get to send; see docs/access.md.",
                        live: Some((
                            "`csma-cd`, `plca`, `csma` or `tdma` [default: csma-cd]",
                            "How stations get to send; see docs/access.md.",
                        )),
                        ..Opt::NEW
                    };
                /// how many slots a sender waits
                backoff: Given<BackoffText>, Text(text::<BackoffText>),
                    "a backoff in quotes, like `backoff = \"uniform:20\"`",
                    default "802.3's; `\"uniform:20\"`", of Of::FREE_BACKOFF,
                    option Opt {
                        long: "backoff", value: "BACKOFF", place: 50, on: ALL,
                        help: "`beb:1024`, `uniform:20`, `geometric:20`, `rcp:1,10,100,200`, …",
                        more: "How many slots a sender waits after an unsuccessful attempt; also `rcp-multipliers:10,10,2` and `exponential:3,6`. If left out, that of 802.3 with `csma-cd`, and `uniform:20` with others.",
                        live: Some((
                            "`beb:1024`, `uniform:20`, `rcp:1,10,100,200`, …",
                            "How many slots a sender waits after an unsuccessful attempt; see docs/access.md. If left out, that of 802.3 with `csma-cd`, and `uniform:20` with `csma`.",
                        )),
                        ..Opt::NEW
                    };
                /// of `slotted-aloha`, in place of a backoff: what stations know of the backlog, `"known"`, `"estimated"` or `"estimated:0.3"`
                control: Given<ControlText>, Text(text::<ControlText>),
                    "a control in quotes: `control = \"known\"`, `\"estimated\"`, or new frames a slot like `\"estimated:0.3\"`",
                    default "none: a backoff", of Of::SLOTTED_ALOHA,
                    option Opt {
                        long: "control", value: "CONTROL", place: 55, on: SIM | SWEEP,
                        help: "Of `slotted-aloha`, not a backoff: `known`, `estimated`, `estimated:0.3`",
                        more: "Each frame that waits goes out in a slot with the chance 1/n. Stations know n, the number of these frames, or estimate it from idle slots, successes and collisions; 0.3 is the new frames a slot that the estimate assumes, otherwise 1/e. Control limits of Lam and Kleinrock may follow: with `known,10,200@11,reject@7` the chance is 2/(10 + 1), or 2/(200 + 1) if more than 11 frames wait, and new frames are dropped if more than 7 wait.",
                        ..Opt::NEW
                    };
                /// of ALOHA, CSMA and CSMA/CA on a bus: how much stronger than those that it meets a frame must be, `"10dB"`, or `"10dB,3.5"` with the path loss exponent
                capture: Given<CaptureText>, Text(text::<CaptureText>),
                    "a threshold in quotes: `capture = \"10dB\"`, or with the path loss exponent `\"10dB,3.5\"`",
                    default "none: frames that meet are lost", of Of::RADIO,
                    option Opt {
                        long: "capture", value: "DB", place: 56, on: SIM | SWEEP,
                        help: "Of ALOHA, CSMA, CSMA/CA on a bus: a frame so much stronger is received, `10dB`",
                        more: "A frame is received if its power is always this much above the sum of the others. Power falls with the distance as d^-4, or with another path loss exponent: `10dB,3.5`.",
                        ..Opt::NEW
                    };
                /// without collision detection: slots until a sender knows of a collision; of `tdma`: of a lost frame
                ack_delay: Given<u32>, Whole(0, 1 << 24), "a whole number of slots from 0 to 16777216, like `ack_delay = 12`",
                    default "0", of Of::ACKNOWLEDGED,
                    option Opt {
                        long: "ack-delay", value: "SLOTS", place: 60, on: SIM | SWEEP,
                        help: "Slots until the sender knows of a collision, without collision detection [default: 0]", ..Opt::NEW
                    };
                /// of `csma`: `"1"`, `"non"`, or a probability
                persistence: Given<PersistenceText>, Text(text::<PersistenceText>),
                    "a persistence in quotes: `persistence = \"1\"`, `\"non\"`, or a probability like `\"0.1\"`",
                    default "`\"1\"`", of Of::CSMA,
                    option Opt {
                        long: "persistence", value: "PERSISTENCE", place: 70, on: ALL,
                        help: "Of `csma`: `1`, `non`, or a probability like `0.1` [default: 1]",
                        more: "What a sender does that finds the medium busy: waits for silence, gives way, or waits and sends in each slot of the line with this probability.",
                        ..Opt::NEW
                    };
                /// without collision detection: `"stations"` or `"infinite"`
                population: Given<PopulationChoice>, Choice(PopulationChoice::WORDS),
                    "`population = \"stations\"` or `\"infinite\"`",
                    default "`\"stations\"`", of Of::CONTENDERS,
                    option Opt {
                        long: "population", value: "WHO", place: 62, on: SIM | SWEEP,
                        help: "Without collision detection: `stations`, or `infinite` many users [default: stations]",
                        more: "A station sends one frame after the other; of infinitely many users each sends one frame, as theory assumes.",
                        ..Opt::NEW
                    };
                /// of `tdma`: how long a slot is, its guard time included
                slot: Given<BitTimesText>, Text(text::<BitTimesText>), "bit times in quotes, like `slot = \"700 BT\"`",
                    default "the longest frame with preamble, and `guard`", of Of::TDMA,
                    option Opt {
                        long: "slot", value: "BT", place: 122, on: ALL,
                        help: "Of `tdma`: how long a slot is, guard time included, `700bt`",
                        more: "If left out, the longest frame with its preamble, and the guard time.", ..Opt::NEW
                    };
                /// of `tdma`: the end of each slot in which no station sends
                guard: Given<BitTimesText>, Text(text::<BitTimesText>), "bit times in quotes, like `guard = \"124 BT\"`",
                    default "the longest way between two stations", of Of::TDMA,
                    option Opt {
                        long: "guard", value: "BT", place: 124, on: ALL,
                        help: "Of `tdma`: guard time at the end of each slot, `124bt`",
                        more: "The longest way between two stations at least; that is the guard time if left out.", ..Opt::NEW
                    };
                /// of `tdma`: the station of each slot of a frame: `"st1,st2,st1,st3"`
                slots: Given<super::values::SlotsText>, Text(text::<super::values::SlotsText>),
                    "names of stations in quotes, like `slots = \"st1,st2,st1,st3\"`",
                    default "each station once", of Of::TDMA,
                    option Opt {
                        long: "slots", value: "STATIONS", place: 126, on: ALL,
                        help: "Of `tdma`: the station of each slot of a frame, `st1,st2,st1`",
                        more: "The frame repeats. If left out, it has one slot for each station, in order.", ..Opt::NEW
                    };
                /// of `csma-ca`: the physical layer, and so the medium's rate
                phy: Given<PhyText>, Text(text::<PhyText>),
                    "a physical layer in quotes, like `phy = \"dsss-11\"` or `\"ofdm-54\"`",
                    default "`\"dsss-11\"`", of Of::CSMA_CA,
                    option Opt {
                        long: "phy", value: "PHY", place: 80, on: SIM | SWEEP,
                        help: "Of `csma-ca`: `dsss-1`, `dsss-11`, `ofdm-6` … `ofdm-54`, `fhss-1` [default: dsss-11]",
                        more: "The physical layer. Its rate is the medium's; `fhss-1` has the values of Bianchi 2000.",
                        ..Opt::NEW
                    };
                /// of `csma-ca` with `dsss-11`: the rate of ACK, RTS and CTS, `"1Mbit/s"` or `"11Mbit/s"`
                control_rate: Given<RateText>, Text(text::<RateText>),
                    "a rate with its unit in quotes, like `control_rate = \"11Mbit/s\"`",
                    default "`\"1Mbit/s\"`", of Of::CSMA_CA;
                /// of `csma-ca`: RTS and CTS before each frame for one station
                rts: Given<bool>, Switch, "`rts = true` or `rts = false`",
                    default "`false`", of Of::CSMA_CA,
                    option Opt {
                        long: "rts", value: "on|off", words: &["on", "off"], place: 90, on: SIM | SWEEP,
                        help: "Of `csma-ca`: RTS and CTS before each frame [default: off]", ..Opt::NEW
                    };
                /// of `csma-ca`: the first and the largest window, `"32:1024"`
                window: Given<WindowText>, Text(text::<WindowText>),
                    "two numbers of slots in quotes, like `window = \"32:1024\"`",
                    default "the layer's", of Of::CSMA_CA,
                    option Opt {
                        long: "window", value: "FIRST:MOST", place: 100, on: SIM | SWEEP,
                        help: "Of `csma-ca`: first and largest window, `32:1024` [default: the layer's]",
                        more: "From how many numbers of slots, 0 included, the first draw of a frame chooses; each failure doubles it up to the largest.",
                        ..Opt::NEW
                    };
                /// of `csma-ca`: the short and the long retry limit
                retry_limits: Given<RetryLimitsText>, Text(text::<RetryLimitsText>),
                    "two numbers in quotes, like `retry_limits = \"7:4\"`",
                    default "`\"7:4\"`", of Of::CSMA_CA,
                    option Opt {
                        long: "retry-limits", value: "SHORT:LONG", place: 110, on: SIM | SWEEP,
                        help: "Of `csma-ca`: short and long retry limit [default: 7:4]",
                        more: "A frame is discarded after the short limit of attempts without CTS (or ACK, if no RTS was sent), or the long limit with CTS and without ACK.",
                        ..Opt::NEW
                    };
                /// of `csma-ca` on a bus: how far stations hear each other, `"100 m"`
                range: Given<LengthText>, Text(text::<LengthText>),
                    "a length with its unit in quotes, like `range = \"100 m\"`",
                    default "everywhere", of Of::CSMA_CA,
                    option Opt {
                        long: "range", value: "LENGTH", place: 120, on: SIM | SWEEP,
                        help: "Of `csma-ca`: how far stations hear each other, on a bus [default: everywhere]",
                        more: "Stations that are farther apart are hidden from each other.", ..Opt::NEW
                    };
            }

            /// `[plca]`, and of one station `plca.node-id = 3` and so on: the names are ethtool's.
            PlcaSection PLCA {
                /// aPLCAAdminState: `false` switches PLCA off
                enable: Given<bool>, Switch, "`enable = true` or `enable = false`",
                    default "`true` with `method = \"plca\"`";
                /// aPLCALocalNodeID, of one station; 255: none, PLCA stays off
                node_id = "node-id": Given<u8>, Whole(0, 255),
                    "an id from 0 to 255, like `plca.node-id = 3` (802.3, 30.16.1.1.4)",
                    default "in order of stations";
                /// of one station: further turns, up to eight
                more_ids = "more-ids": Given<Vec<String>>, Texts(id), "ids in quotes, like `plca.more-ids = [\"5\", \"6\"]`",
                    default "none";
                /// experimental, after a draft (P802.3da D3.0); aDPLCAAdminState: `true`: the node finds its id by D-PLCA, and as coordinator the node count
                dplca: Given<bool>, Switch, "`dplca = true` or `dplca = false`",
                    default "`false`",
                    option Opt {
                        long: "dplca", place: 135, on: ALL, of_method: "plca",
                        help: "Of `plca`: nodes find their ids by D-PLCA (experimental)", ..Opt::NEW
                    };
                /// aDPLCACoordinatorRoleAllowed: `false`: with D-PLCA the node never becomes the coordinator
                coordinator_role = "coordinator-role": Given<bool>, Switch, "`coordinator-role = false`",
                    default "`true`";
                /// with D-PLCA: a turn that is not used in as many cycles and one more is free again
                aging_cycles = "aging-cycles": Given<u16>, Whole(1, 65_535), "a whole number from 1 to 65535, like `aging-cycles = 32`",
                    default "32";
                /// aPLCANodeCount: turns in a cycle; only node 0 needs it
                node_cnt = "node-cnt": Given<u8>, Whole(1, 255),
                    "a whole number from 1 to 255, like `node-cnt = 8` (802.3, 30.16.1.1.3)",
                    default "the number of stations",
                    option Opt {
                        long: "node-count", value: "N", place: 130, on: ALL, of_method: "plca",
                        help: "Of `plca`: turns in a cycle, 1 to 255 [default: stations]", ..Opt::NEW
                    };
                /// aPLCATransmitOpportunityTimer: how long a turn is, in bit times
                to_tmr = "to-tmr": Given<u8>, Whole(1, 255), "bit times from 1 to 255, like `to-tmr = 32` (802.3, 30.16.1.1.5)",
                    default "32",
                    option Opt {
                        long: "to-timer", value: "BT", place: 140, on: ALL, of_method: "plca",
                        help: "Of `plca`: how long a turn is, 1 to 255 BT [default: 32]", ..Opt::NEW
                    };
                /// aPLCAMaxBurstCount: frames that may follow the first of a turn
                burst_cnt = "burst-cnt": Given<u8>, Whole(0, 255),
                    "a whole number from 0 to 255, like `burst-cnt = 2` (802.3, 30.16.1.1.6)",
                    default "0",
                    option Opt {
                        long: "burst-count", value: "FRAMES", place: 150, on: ALL, of_method: "plca",
                        help: "Of `plca`: frames that may follow the first of a turn [default: 0]", ..Opt::NEW
                    };
                /// aPLCABurstTimer: how long a turn is kept for the next frame, in bit times
                burst_tmr = "burst-tmr": Given<u8>, Whole(0, 255),
                    "bit times from 0 to 255, like `burst-tmr = 128` (802.3, 30.16.1.1.7)",
                    default "128",
                    option Opt {
                        long: "burst-timer", value: "BT", place: 160, on: ALL, of_method: "plca",
                        help: "Of `plca`: how long a turn is kept for the next frame, in BT [default: 128]", ..Opt::NEW
                    };
                /// `false`: the PHY tells the MAC of no collision on the line
                collision_detection = "collision-detection": Given<bool>, Switch, "`collision-detection = false`",
                    default "`true`";
                /// `false`: the MAC takes no notice of logical collisions
                logical_collisions = "logical-collisions": Given<bool>, Switch, "`logical-collisions = false`",
                    default "`true`";
                /// how long the host takes to hand over a frame at the head of the queue; of a range each frame draws its own
                host_delay = "host-delay": Given<HostDelayText>, Text(text::<HostDelayText>),
                    "a time up to 1 s or a range, in quotes, like `host-delay = \"40us\"`, `\"400 BT\"` or `\"2us..8us\"`",
                    default "`\"0 BT\"`";
                /// of a MAC-PHY: the clock of the SPI bus to it, up to 100 MHz; without it there is no MAC-PHY
                spi_clock = "spi-clock": Given<SpiClockText>, Text(text::<SpiClockText>),
                    "a clock from 0.1 to 100 MHz in quotes, like `spi-clock = \"25 MHz\"`",
                    default "none";
                /// of a MAC-PHY: octets of a frame in a chunk: 8, 16, 32 or 64
                spi_chunk = "spi-chunk": Given<u8>, Whole(8, 64), "8, 16, 32 or 64 octets, like `spi-chunk = 64`",
                    default "64";
                /// of a MAC-PHY: chunks of a transfer that may be under way when the host wants to send
                spi_transfer = "spi-transfer": Given<u8>, Whole(0, 255), "a whole number from 0 to 255, like `spi-transfer = 48`",
                    default "0";
                /// of a MAC-PHY: chunks in its transmit buffer
                tx_credits = "tx-credits": Given<u8>, Whole(1, 255), "a whole number from 1 to 255, like `tx-credits = 48`",
                    default "48";
                /// of a MAC-PHY: credits at which a host that had none goes on
                tx_threshold = "tx-threshold": Given<u8>, Whole(1, 255), "a whole number from 1 to 255, like `tx-threshold = 4`",
                    default "1";
                /// of a MAC-PHY: chunks of a frame from which on the MAC may send it
                cut_through = "cut-through": Given<u8>, Whole(1, 255), "a whole number from 1 to 255, like `cut-through = 2`",
                    default "the whole frame";
                /// own turns that pass unused after each turn with a frame: the PHY holds the MAC back by carrier meanwhile
                skip_turns = "skip-turns": Given<u8>, Whole(0, 255), "a whole number from 0 to 255, like `skip-turns = 2`",
                    default "0";
                /// how fast the clock of the node's PHY is: its timers of PLCA run by it
                clock: Given<PpmText>, Text(text::<PpmText>), "parts per million in quotes, like `clock = \"-100 ppm\"`",
                    default "that of the station";
                /// of all stations: `true` begins as power comes on, before the first BEACON; otherwise it begins at t = 0
                cold_start = "cold-start": Given<bool>, Switch, "`cold-start = true` or `cold-start = false`",
                    default "`false`",
                    option Opt {
                        long: "cold-start", place: 165, on: ALL, of_method: "plca",
                        help: "Of `plca`: begin as power comes on, before the first BEACON", ..Opt::NEW
                    };
                /// of all stations: delay_line_length
                delay_line = "delay-line": Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `delay-line = \"396 BT\"`",
                    default "`\"396 BT\"`";
                /// of all stations: plca_status_timer
                status_timer = "status-timer": Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `status-timer = \"130090 BT\"`",
                    default "`\"130090 BT\"`";
                /// of all stations: invalid_beacon_timer
                invalid_beacon_timer = "invalid-beacon-timer": Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `invalid-beacon-timer = \"40 BT\"`",
                    default "`\"40 BT\"`";
                /// of all stations: from TX_EN to the line and on to CRS
                phy_on = "phy-on": Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `phy-on = \"4 BT\"`",
                    default "`\"0 BT\"`";
                /// of all stations: the same as a signal ends
                phy_off = "phy-off": Given<BitTimesText>, Text(text::<BitTimesText>),
                    "bit times in quotes, like `phy-off = \"11 BT\"`",
                    default "that of `phy-on`";
            }

            /// `[traffic]`
            TrafficSection TRAFFIC {
                /// `"poisson:0.4"` and others; a load is that of all stations together that have none of their own
                arrivals: Given<ArrivalsText>, Text(text::<ArrivalsText>),
                    "traffic in quotes, like `arrivals = \"poisson:0.4\"`",
                    default "*sim*: `\"saturated\"`; *live*: none",
                    option Opt {
                        long: "traffic", value: "TRAFFIC", place: 30, on: ALL | DEMO, in_short: SIM | SWEEP,
                        help: "What stations offer: `saturated`, `poisson:0.4`, …",
                        more: "Also `periodic:0.4`, `on_off:0.4`, `window:4`, `tcp`, `ping`, `udp:0.1`, `bernoulli:0.01`, `replay:FILE`; see docs/traffic.md. Saturated if left out.",
                        live: Some((
                            "What stations offer: `poisson:0.4`, `periodic:0.4`, `saturated`, … [default: nothing]",
                            "Raw sockets in the stations offer it; see docs/traffic.md.",
                        )),
                        demo: Some("What stations offer: `poisson:0.4`, `periodic:0.4`, … [default: saturated]"),
                        ..Opt::NEW
                    };
                /// when the first of periodic arrivals comes
                phase: Given<DurationText>, Text(text::<DurationText>),
                    "a time with its unit in quotes, like `phase = \"1ms\"`",
                    default "drawn";
                /// octets: `64`, `"64:7,594:4,1518:1"`, `"uniform:64-1518"`
                frame_size: Given<SizesText>, TextOrWhole(text::<SizesText>), "octets, like `frame_size = 64`",
                    default "64",
                    option Opt {
                        long: "frame-size", short: Some('l'), value: "OCTETS", place: 20, on: ALL | DEMO, in_short: SIM | SWEEP,
                        help: "Octets: `64`, `64:7,1518:1`, `uniform:64-1518`",
                        more: "From destination address to FCS; a mix has weights. 64 if left out.",
                        demo: Some("Octets: `64`, `64:7,1518:1`, `uniform:64-1518` [default: 512]"), ..Opt::NEW
                    };
                /// `"next"`, `"random"`, `"broadcast"`, or a station's name
                destination: Given<String>, Text(any), "a destination in quotes, like `destination = \"next\"`",
                    default "`\"next\"`";
            }

            /// `[run]`
            RunSection RUN {
                /// how long is measured; in slots of the access method too, like `"1000000 slots"`
                duration: Given<RunTimeText>, Text(text::<RunTimeText>),
                    "a time with its unit in quotes, like `duration = \"10s\"`",
                    default "`\"100s\"`",
                    option Opt {
                        long: "duration", short: Some('t'), value: "TIME", place: 200, on: ALL | DEMO | RUN, in_short: SIM | SWEEP | DEMO | RUN,
                        help: "How long is measured [default: 100s]",
                        more: "In slots as in `1000000slots`, too: those of the access method, slotTime with `csma-cd`, frame times with `aloha`.",
                        demo: Some("How long the stations offer frames [default: 10s]"),
                        lab: Some("End when the medium's clock has run so long [default: never]"),
                        ..Opt::NEW
                    };
                /// how long the medium runs before that, likewise
                warmup: Given<RunTimeText>, Text(text::<RunTimeText>),
                    "a time with its unit in quotes, like `warmup = \"2s\"`",
                    default "`\"2s\"`",
                    option Opt {
                        long: "warmup", value: "TIME", place: 210, on: SIM | SWEEP,
                        help: "How long the medium runs before [default: 2s]", ..Opt::NEW
                    };
                /// independent runs, with `seed`, `seed` + 1 …
                replications: Given<u64>, Whole(1, 10_000), "a whole number from 1 to 10000, like `replications = 5`",
                    default "1",
                    option Opt {
                        long: "replications", value: "R", place: 270, on: SIM,
                        help: "Independent runs, taken together [default: 1]",
                        more: "Seeded SEED, SEED + 1 …, on all cores.", ..Opt::NEW
                    };
                /// the half-width at which a run ends before `duration` is over, like `"1%"` or `"mac_delay_p99_bt=5%"`; see [results.md](results.md#intervals); `"collapse"`: see [access.md](access.md#infinitely-many-users-run-away)
                until: Given<UntilText>, Text(text::<UntilText>), "a half-width in quotes, like `until = \"1%\"`",
                    default "–",
                    option Opt {
                        long: "until", value: "[METRIC=]PART", place: 220, on: SIM | SWEEP,
                        help: "End a run when a metric is known this well: `1%`",
                        more: "When the half-width of its 95 % interval is at most this part of it; --duration ends the run at the latest. The metric is access_delay_mean_bt, or as in `mac_delay_p99_bt=5%`; see docs/results.md. `collapse` ends it when infinitely many users of ALOHA have run away; see docs/access.md.",
                        ..Opt::NEW
                    };
            }

            /// `[emulator]`
            EmulatorSection EMULATOR {
                /// the medium's time as a part of real time, 0.000001 to 1
                time_scale: Given<f64>, Number(1e-6, 1.0), "a part of real time from 0.000001 to 1, like `time_scale = 0.1`",
                    default "1",
                    option Opt {
                        long: "time-scale", value: "PART", place: 240, on: UP | DEMO,
                        help: "Run slower than life: 0.1 is ten times slower",
                        more: "The medium's time as a part of real time. Programs in stations see real time, so `ping` prints ten times the medium's.",
                        ..Opt::NEW
                    };
                /// what happens when the machine is more than a millisecond late: `"slip"` or `"drop"`
                on_overload: Given<OnOverload>, Choice(OnOverload::WORDS), "`on_overload = \"slip\"` or `\"drop\"`",
                    default "`\"slip\"`";
                /// how much the bus spends on being punctual: `"normal"` or `"low"`
                latency: Given<LatencyChoice>, Choice(LatencyChoice::WORDS), "`latency = \"normal\"` or `\"low\"`",
                    default "`\"normal\"`",
                    option Opt {
                        long: "latency", value: "LATENCY", words: &["normal", "low"], place: 250, on: UP,
                        help: "How punctual: `normal` or `low` [default: normal]",
                        more: "`low` keeps the processors from sleeping deeply, and reads on for a while after each frame; see docs/live.md.",
                        ..Opt::NEW
                    };
                /// with `latency = "low"`: how long the bus reads on after each frame, up to `"10ms"`
                read_on: Given<DurationText>, Text(text::<DurationText>),
                    "a time with its unit in quotes, like `read_on = \"50us\"`",
                    default "`\"500us\"`";
                /// the number of the processor that the data plane runs on
                processor: Given<usize>, Whole(0, 8191), "a processor's number from 0 to 8191, like `processor = 1`",
                    default "any";
                /// how a frame gets to all other stations: `"auto"`, `"kernel"` or `"batch"`
                fan_out: Given<FanOutChoice>, Choice(FanOutChoice::WORDS), "`fan_out = \"auto\"`, `\"kernel\"` or `\"batch\"`",
                    default "`\"auto\"`";
                /// whom a frame is copied to: `"none"` filters nothing, `"address"` filters by address
                filter: Given<FilterChoice>, Choice(FilterChoice::WORDS), "`filter = \"none\"` or `\"address\"`",
                    default "`\"none\"`";
                /// whether a station that is off the medium has no carrier: `"follows"` or `"always"` (always carrier)
                link: Given<LinkChoice>, Choice(LinkChoice::WORDS), "`link = \"follows\"` or `\"always\"`",
                    default "`\"follows\"` on a star, else `\"always\"`",
                    option Opt {
                        long: "link", value: "LINK", words: &["follows", "always"], place: 255, on: UP,
                        help: "Carrier: `follows` or `always` [default: by topology]",
                        more: "With `follows`, the default on a star, an unplugged station's interface has no carrier.",
                        ..Opt::NEW
                    };
                /// whether stations' interfaces take every native XDP program, their MTU within a page; see [xdp.md](xdp.md)
                xdp: Given<bool>, Switch, "`xdp = true` or `xdp = false`",
                    default "`false`",
                    option Opt {
                        long: "xdp", place: 253, on: UP,
                        help: "Stations' interfaces take every native XDP program",
                        more: "Their MTU stays within a page; see docs/xdp.md.", ..Opt::NEW
                    };
            }

            /// `[kernel]`
            KernelSection KERNEL {
                /// stations' root file system, read-only, relative to the scenario's folder: a folder, or an image as `docker save` writes it; `"/"` is this machine's
                root: Given<String>, Text(any), "a folder or an image in quotes, like `root = \"/\"` or `root = \"image.tar\"`",
                    default "`\"/\"`";
                /// the folder, relative to the scenario's, whose files stations have in `/tmp/in`, read-only
                files: Given<String>, Text(any), "a folder in quotes, like `files = \"data\"`",
                    default "none";
                /// memory of each station, in MiB
                memory: Given<u64>, Whole(32, 4096), "a whole number of MiB from 32 to 4096, like `memory = 48`",
                    default "48";
                /// how long one read of the clock lasts: the step of time of a program that polls it
                clock_cost: Given<DurationText>, Text(text::<DurationText>),
                    "a time with its unit in quotes, like `clock_cost = \"5us\"`",
                    default "`\"5us\"`";
            }

            /// `[[segment]]`
            SegmentSection SEGMENT {
                /// the segment's name
                name: Given<String>, Text(any), "the segment's name in quotes, like `name = \"a\"`",
                    default "`\"1\"`, `\"2\"` …";
                /// how long the cable is: `"185 m"`
                length: Given<LengthText>, Text(text::<LengthText>), "a length with its unit in quotes, like `length = \"185 m\"`",
                    default "none: write one";
            }

            /// `[[repeater]]`
            RepeaterSection REPEATER {
                /// from one port of the repeater to another; at 10 Mb/s 7.5 BT is the most that 9.5.5.1 allows
                delay: Given<BitTimesText>, Text(text::<BitTimesText>), "bit times in quotes, like `delay = \"8 BT\"`",
                    default "`\"8 BT\"`";
                /// CSMA/CD: the most that it adds to its delay, drawn for each transmission (start-of-packet variability, 9.5.5.2)
                jitter: Given<BitTimesText>, Text(text::<BitTimesText>), "bit times in quotes, like `jitter = \"4 BT\"`",
                    default "`\"0 BT\"`";
                /// where it is on each segment: `["a:185m", "b:0m"]`
                ports: Vec<Spanned<PlaceText>>, Texts(text::<PlaceText>),
                    "places on segments, like `ports = [\"a:185m\", \"b:0m\"]`",
                    default "none: write them";
            }

            /// `[[cut]]`
            CutSection CUT {
                /// the cut is halfway between them: `["st2", "st3"]`
                between: Vec<Spanned<String>>, Texts(any), "two stations, like `between = [\"st1\", \"st2\"]`",
                    default "none: write two stations";
                /// *sim*: when the cable is cut, the warm-up counted: `"1s"`
                from: Given<DurationText>, Text(text::<DurationText>), "a time with its unit in quotes, like `from = \"1s\"`",
                    default "the first instant";
                /// *sim*: when it is mended
                until: Given<DurationText>, Text(text::<DurationText>), "a time with its unit in quotes, like `until = \"2s\"`",
                    default "never";
            }

            /// `[[at]]`
            AtSection AT {
                /// when, since the medium's time began, the warm-up counted: `"1s"`, `"512 BT"`
                time: Given<InstantText>, Text(text::<InstantText>),
                    "an instant with its unit in quotes, like `time = \"1s\"` or `\"512 BT\"`",
                    default "none: write one";
                /// whose `fault`, `plca` or `arrivals` it is; without one those of all stations: noise on the line, and what all offer together
                station: Given<String>, Text(any), "the station whose fault it is, like `station = \"st1\"`",
                    default "none";
                /// what is wrong with this station from then on
                fault: Given<FaultText>, Text(text::<FaultText>), "a fault in quotes, like `fault = \"deaf\"`",
                    default "none";
                /// the two stations between which the cable is cut
                cut: Given<Vec<Spanned<String>>>, Texts(any), "two stations, like `cut = [\"st1\", \"st2\"]`",
                    default "none";
                /// the cable is mended
                mend: Given<bool>, Switch, "`mend = true`",
                    default "`false`";
                /// the station that is put back on the medium
                plug: Given<String>, Text(any), "a station in quotes, like `plug = \"st1\"`",
                    default "none";
                /// the station that is taken off the medium
                unplug: Given<String>, Text(any), "a station in quotes, like `unplug = \"st1\"`",
                    default "none";
                /// settings of PLCA that this station is given then
                plca: Given<PlcaSection>, Section(PLCA), "settings of PLCA, like `plca.enable = false`",
                    default "none";
                /// a station that joins then, with the keys of `[[station]]`; one that was removed joins again under its name
                add: Given<StationSection>, Section(STATION), "a station's keys, like `add.name = \"st5\"`",
                    default "none";
                /// the station that leaves the medium
                remove: Given<String>, Text(any), "a station in quotes, like `remove = \"st1\"`",
                    default "none";
                /// what this station offers from then on, in place of all that it offered
                arrivals: Given<ArrivalsText>, Text(text::<ArrivalsText>),
                    "traffic in quotes, like `arrivals = \"poisson:0.4\"`",
                    default "none";
                /// beside `arrivals`: how long these frames are
                frame_size: Given<SizesText>, TextOrWhole(text::<SizesText>), "octets, like `frame_size = 64`",
                    default "as before";
                /// beside `arrivals`: whom these frames are for
                destination: Given<String>, Text(any), "a destination in quotes, like `destination = \"st2\"`",
                    default "as before";
                /// frames that each transmit queue holds from then on
                queue: Given<usize>, Whole(1, LARGEST_32),
                    "a whole number of frames from 1 to 4294967295, like `queue = 100`",
                    default "none";
                /// *live*: whom a frame is copied to from then on
                filter: Given<FilterChoice>, Choice(FilterChoice::WORDS), "`filter = \"none\"` or `\"address\"`",
                    default "none";
                /// *live*: whether stations that are off the medium have carrier from then on
                link: Given<LinkChoice>, Choice(LinkChoice::WORDS), "`link = \"follows\"` or `\"always\"`",
                    default "none";
                /// when the lab or the run ends, since the medium's time began
                until: Given<InstantText>, Text(text::<InstantText>),
                    "an instant with its unit in quotes, like `until = \"60s\"`",
                    default "none";
            }

            /// `[[station]]`
            StationSection STATION {
                /// at most 15 octets; also the name of its interface on the bus's side
                name: Given<String>, Text(any), "the station's name in quotes, like `name = \"st1\"`",
                    default "`\"st1\"`, `\"st2\"` …";
                /// on a bus or a segment, from the cable's end: `"120 m"`, `"10 BT"`
                position: Given<LengthText>, Text(text::<LengthText>),
                    "a length with its unit in quotes, like `position = \"120 m\"`",
                    default "evenly spaced";
                /// its MAC address
                mac: Given<MacText>, Text(text::<MacText>), "an address in quotes, like `mac = \"02:eb:00:00:00:01\"`",
                    default "`02:eb:…`, by lab and number";
                /// *live*: what the host is, see below
                kind: Given<PortKind>, Choice(PortKind::WORDS),
                    "`kind = \"veth\"`, `\"tap\"`, `\"interface\"`, `\"bridge\"` or `\"vxlan\"`",
                    default "`\"veth\"`";
                /// *live*, of `"interface"`: the interface that is its port; with `netns`: what its interface is called there
                interface: Given<String>, Text(any), "an interface in quotes, like `interface = \"eth1\"`",
                    default "none; with `netns` `\"eth0\"`";
                /// *live*, of `"veth"`: the namespace that its host is in already
                netns: Given<String>, Text(any), "a namespace in quotes, like `netns = \"web\"`, `netns = \"pid:4711\"` or `netns = \"docker:web\"`",
                    default "one of its own";
                /// *live*, of `"bridge"`: the bridge that it leads to
                bridge: Given<String>, Text(any), "a bridge in quotes, like `bridge = \"br-lan\"`",
                    default "one is made";
                /// *live*, of `"vxlan"`: the machine that the station is on
                remote: Given<MachineText>, Text(text::<MachineText>), "an address in quotes, like `remote = \"192.0.2.7\"`",
                    default "none: write one";
                /// *live*, of `"vxlan"`: this machine's own address
                local: Given<MachineText>, Text(text::<MachineText>), "an address in quotes, like `local = \"192.0.2.1\"`",
                    default "that of the route";
                /// *live*, of `"vxlan"`: the VXLAN Network Identifier
                vni: Given<u32>, Whole(0, 16_777_215), "a whole number from 0 to 16777215, like `vni = 1`",
                    default "1";
                /// *live*, of `"vxlan"`: the UDP port
                port: Given<u16>, Whole(1, 65_535), "a UDP port from 1 to 65535, like `port = 4789`",
                    default "4789";
                /// `"deaf"`, `"bad_fcs"`, `"ber:1e-6"` …; see [fidelity.md](fidelity.md)
                fault: Given<FaultText>, Text(text::<FaultText>), "a fault in quotes, like `fault = \"deaf\"`",
                    default "`\"none\"`";
                /// how fast its clock is; see [fidelity.md](fidelity.md#a-clock-that-is-off)
                clock: Given<PpmText>, Text(text::<PpmText>), "parts per million in quotes, like `clock = \"50 ppm\"`",
                    default "`\"0 ppm\"`";
                /// *live*: its IPv4 address with prefix length; `"none"` leaves that to others
                ipv4: Given<OwnAddress>, Text(text::<OwnAddress>),
                    "`\"none\"`, or an address with prefix length in quotes, like `ipv4 = \"10.77.0.1/16\"`",
                    default "from the lab's network";
                /// *live*: its IPv6 address with prefix length; `"none"` leaves that to others
                ipv6: Given<OwnAddress>, Text(text::<OwnAddress>),
                    "`\"none\"`, or an address with prefix length in quotes, like `ipv6 = \"fd77::1/64\"`",
                    default "from the lab's network";
                /// the segment's name
                segment: Given<String>, Text(any), "the segment's name in quotes, like `segment = \"a\"`",
                    default "in order, evenly over the segments";
                /// when this station's own frames arrive; a load is its own too
                arrivals: Given<ArrivalsText>, Text(text::<ArrivalsText>),
                    "traffic in quotes, like `arrivals = \"poisson:0.4\"`",
                    default "that of `[traffic]`";
                /// when the first of its periodic arrivals comes
                phase: Given<DurationText>, Text(text::<DurationText>),
                    "a time with its unit in quotes, like `phase = \"1ms\"`",
                    default "that of `[traffic]`";
                /// how long its own frames are
                frame_size: Given<SizesText>, TextOrWhole(text::<SizesText>), "octets, like `frame_size = 64`",
                    default "that of `[traffic]`";
                /// whom its own frames are for
                destination: Given<String>, Text(any), "a destination in quotes, like `destination = \"st2\"`",
                    default "that of `[traffic]`";
                /// its PLCA: [plca.md](plca.md)
                plca: PlcaSection, Section(PLCA), "settings of PLCA, like `plca.node-id = 3`",
                    default "that of `[plca]`";
                /// *run*: its programs, each `"[at TIME] COMMAND"`; the run does not wait for one that ends in `&`
                run: Given<Vec<String>>, Texts(text::<Program>),
                    "programs in quotes, like `run = [\"iperf3 -s &\", \"at 3s ping -c 3 st1\"]`",
                    default "none";
                /// *run*: its own root file system
                root: Given<String>, Text(any), "a folder or an image in quotes, like `root = \"image.tar\"`",
                    default "that of `[kernel]`";
                /// *run*: its own files in `/tmp/in`
                files: Given<String>, Text(any), "a folder in quotes, like `files = \"data\"`",
                    default "that of `[kernel]`";
                /// *run*: its own memory, in MiB
                memory: Given<u64>, Whole(32, 4096), "a whole number of MiB from 32 to 4096, like `memory = 48`",
                    default "that of `[kernel]`";
                /// several sources, in place of `arrivals`
                source: Vec<Spanned<SourceSection>>, Sections(SOURCE),
                    "`[[station.source]]`, with two brackets, for each source",
                    default "none";
            }

            /// `[[station.source]]`
            SourceSection SOURCE {
                /// when its frames arrive; a load is this source's own
                arrivals: Given<ArrivalsText>, Text(text::<ArrivalsText>),
                    "traffic in quotes, like `arrivals = \"poisson:0.4\"`",
                    default "none: write one";
                /// when the first of its periodic arrivals comes
                phase: Given<DurationText>, Text(text::<DurationText>),
                    "a time with its unit in quotes, like `phase = \"1ms\"`",
                    default "drawn";
                /// how long its frames are
                frame_size: Given<SizesText>, TextOrWhole(text::<SizesText>), "octets, like `frame_size = 64`",
                    default "that of the station";
                /// whom its frames are for
                destination: Given<String>, Text(any), "a destination in quotes, like `destination = \"st2\"`",
                    default "that of the station";
            }

            /// `[[frame]]`
            FrameSection FRAME {
                /// the station that offers it
                station: Given<String>, Text(any), "a station in quotes, like `station = \"st1\"`",
                    default "none: write one";
                /// when, since the medium's time began: `"1ms"` or `"512 BT"`
                at: Given<InstantText>, Text(text::<InstantText>),
                    "an instant with its unit in quotes, like `at = \"1ms\"` or `\"512 BT\"`",
                    default "none: write one";
                /// `"next"`, `"broadcast"`, or a station's name
                destination: Given<String>, Text(any), "a destination in quotes, like `destination = \"st2\"`",
                    default "`\"next\"`";
                /// octets from destination address to FCS
                size: Given<u32>, Whole(18, 65_535), "a whole number of octets from 18 to 65535, like `size = 64`",
                    default "64";
            }
        }
    };
}

pub(crate) use settings;
