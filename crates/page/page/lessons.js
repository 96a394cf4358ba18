// @ts-check
// Six lessons of ten minutes: a scenario each, three questions, and what to try.

/** @typedef {{title: string, lead: string, scenario: string, at: "collision" | number, span: number, questions: string[], tries: string[]}} Lesson */

/** A scenario. @param {{stations?: number, rate?: string, topology: string, traffic: string, duration?: string, more?: string}} own */
export const written = ({ stations, rate = "10Mbit/s", topology, traffic, duration = "50ms", more = "" }) =>
  `seed = 1\n${stations === undefined ? "" : `stations = ${stations}\n`}\n[medium]\nrate = "${rate}"\ntopology = "${topology}"\n\n[traffic]\n${traffic}\n\n`
  + `[run]\nduration = "${duration}"\nwarmup = "0s"\n${more && `\n${more}`}`;

/** @type {Lesson[]} */
export const LESSONS = [
  {
    title: "The first collision",
    lead: "Two stations at the ends of 1,000 m of cable. Both listen, both hear nothing, both begin.",
    scenario: written({ stations: 2, topology: "bus:1000m", traffic: 'arrivals = "saturated"\nframe_size = 64' }),
    at: "collision", span: 400,
    questions: [
      "Both stations listened before they sent. Why did that not help?",
      "Each ring is where a station notices the collision. Why do the rings come 43 bit times after its first bit?",
      "What does the hatched jam do that the frame’s own bits do not?",
    ],
    tries: ["Drag one station halfway to the other. When do the rings come now?", "Step on until both draw a backoff. Who sends next, and why?"],
  },
  {
    title: "Why 512 bit times",
    lead: "A collision must reach the sender while it still sends. The shortest frame lasts 512 bit times with the FCS: that is the slot.",
    scenario: written({ stations: 2, topology: "bus:8000m", traffic: 'arrivals = "poisson:0.6"\nframe_size = 64' }),
    at: "collision", span: 1600,
    questions: [
      "The cable is longer than the standard allows. How long after its first bit does a sender notice the collision?",
      "What does the sentence call a collision that comes after 512 bit times, and what happens to the frame?",
      "How long may the cable be, so that this cannot happen?",
    ],
    tries: ["Drag the last station towards the first until no collision is late.", "Make frames 1,518 octets long. Are late collisions noticed now? Are they repaired?"],
  },
  {
    title: "The capture effect",
    lead: "Two stations always have a frame to send. The winner of a race draws from a small range for its next frame; the range of the loser has grown.",
    scenario: written({ stations: 2, topology: "star:0bt", traffic: 'arrivals = "saturated"\nframe_size = 1518', duration: "400ms" }),
    at: 90000, span: 60000,
    questions: [
      "After a collision the winner begins again at collision 1. At which collision is the loser?",
      "What is the chance that the loser wins the next race, if its range is 0 to 7 and the winner’s 0 to 1?",
      "Fairness over the whole run is near 1. Over one piece of the chart it is not. Which of the two does a user feel?",
    ],
    tries: ["Take ten stations. Does the streak get longer or shorter?", "Make the load 30 %. Where does the effect go?"],
  },
  {
    title: "Hidden stations",
    lead: "st1 and st3 both send to st2 and are out of each other’s range. Neither hears what it destroys.",
    scenario: written({ rate: "1Mbit/s", topology: "bus:200m", traffic: "frame_size = 1518", duration: "400ms",
      more: '[access]\nmethod = "csma-ca"\nphy = "dsss-1"\nrange = "120m"\nrts = false\n\n[[station]]\nposition = "0m"\ndestination = "st2"\n\n[[station]]\nposition = "100m"\narrivals = "silent"\n\n[[station]]\nposition = "200m"\ndestination = "st2"\n' }),
    at: 60000, span: 30000,
    questions: [
      "Find two frames that overlap at st2. What does each sender know of the other?",
      "How does a sender learn that its frame was lost?",
      "Which of its times grows after that?",
    ],
    tries: ["Write rts = true in the scenario. What does the short CTS of st2 tell st1 about st3?", "Write range = \"300m\". Who is hidden now?"],
  },
  {
    title: "From ALOHA to CSMA",
    lead: "The oldest rule is none: send when there is a frame. At best 1/(2e) = 0.184 of the channel carries frames (Abramson 1970); with slots 1/e = 0.368 (Roberts 1975).",
    scenario: written({ stations: 10, topology: "star:0bt", traffic: 'arrivals = "poisson:0.18"\nframe_size = 1518', duration: "500ms",
      more: '[access]\nmethod = "aloha"\n' }),
    at: 112000, span: 40000,
    questions: [
      "A frame is lost if another begins while it lasts, or just before. How long is that dangerous time, in frames?",
      "Slots halve the dangerous time. What do they cost?",
      "What does a station of CSMA know that one of ALOHA does not?",
    ],
    tries: ["Change the method to slotted ALOHA, then to CSMA, with the same load. Read the utilization of each.", "Raise the load beyond 0.184. What becomes of the delay?"],
  },
  {
    title: "PLCA: turns",
    lead: "10BASE-T1S takes turns. A BEACON begins a cycle; each node sends in its turn or lets 32 bit times pass.",
    scenario: written({ stations: 6, topology: "bus:25m", traffic: 'arrivals = "poisson:0.4"\nframe_size = 64', more: '[access]\nmethod = "plca"\n' }),
    at: 8400, span: 2600,
    questions: [
      "How long is a cycle in which no node sends, and of what does it consist?",
      "What is the longest that a node can wait for its turn? The dashed line is that bound, from the head of the queue to the first bit.",
      "Nothing collides on the line. What do the sentences tell of a collision all the same?",
    ],
    tries: ["Saturate the bus. Do the sentences tell an access delay above the dashed line?", "Change the method to CSMA/CD with the same load, and compare the longest delay."],
  },
];
