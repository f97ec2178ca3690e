//! Files, values, arguments and disks that nobody wishes for: a clear answer, and not a byte lost.

mod arguments;
mod cut_history;
mod damage;
mod disks;
mod links;
mod numbers;
mod refusals;
mod shapes;
mod values;
