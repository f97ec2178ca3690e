//! Hostile files, values, arguments and disks: a clear answer, and not a byte lost.

mod arguments;
pub mod cut_history;
mod damage;
mod disks;
mod links;
mod numbers;
mod refusals;
mod shapes;
mod values;
