//! A cloned repository must not harm the machine: no program of its own starts, and nothing
//! outside the state directory is written, renamed or removed.

mod acts;
mod call;
mod control;
mod fake_repository;
mod forgery;
mod ground;
mod hooks;
mod links;
mod project;
mod records;
mod spoiling;
mod store;
mod sweep;
mod trace;
mod ways;
