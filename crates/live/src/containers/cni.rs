//! A plugin of the Container Network Interface, versions 0.3.0 to 1.1.0: a runtime calls the program with a command in the environment
//! and a network on standard input, and reads a result or an error on standard output.
//!
//! | file | what it holds |
//! |---|---|
//! | `request.rs` | what the runtime says, checked |
//! | `wishes.rs` | what the runtime asks for beside an interface: met or refused |
//! | `answer.rs` | results and errors as the specification has them |
//! | `ipam.rs` | addresses, from another plugin |
//! | `attachments.rs` | which container has which station, on disk |
//! | `inspect.rs` | whether a container still has what it was given |
//! | `plugin.rs` | what each command does |

pub mod answer;
mod attachments;
mod inspect;
mod ipam;
pub mod plugin;
pub mod request;
mod wishes;

/// The variable that makes a program a plugin.
pub const COMMAND: &str = "CNI_COMMAND";
/// The versions of the specification that the plugin speaks; the last one is its own.
pub const VERSIONS: [&str; 5] = ["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"];
/// Those without CHECK.
const WITHOUT_CHECK: [&str; 2] = ["0.3.0", "0.3.1"];
/// Those whose results name the family of each address.
const WITH_FAMILIES: [&str; 3] = ["0.3.0", "0.3.1", "0.4.0"];
