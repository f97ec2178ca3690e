//! Tests of the store as a whole.

mod basics;
mod boots;
mod crashes;
mod damage;
mod directory;
mod editors;
mod hostile_records;
mod links;
mod locking;
mod lost_files;
mod real;
mod rebuild;
mod script;
mod sealed;
