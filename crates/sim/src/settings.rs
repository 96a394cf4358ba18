//! Every setting, declared once in `table`, and what is made of that table.
//!
//! | file | what it makes |
//! |---|---|
//! | `table` | the declaration: name, type, what it takes, remedy, default, documentation, methods, option |
//! | `keys` | the rules that each value of a scenario file is checked by |
//! | `sections` | the types that serde reads, and the generic look at their entries |
//! | `values` | the types of values as people write them |
//! | `methods` | which access methods use a key, and what is said to others |
//! | `options` | the options of the command line; `build.rs` makes completions and man pages from it |
//! | `of_bus` | what is said over the scenario of one bus of several |
//! | `overrides` | what the command line says over a scenario |
//! | `wrong` | what is wrong with a value, and where |
//! | `schema` | rows of docs/scenario.md, and the JSON Schema |

pub mod keys;
pub mod methods;
pub(crate) mod of_bus;
pub mod options;
pub mod overrides;
pub mod schema;
pub mod sections;
pub(crate) mod table;
pub mod values;
pub mod wrong;
