//! What the files say, besides the plan.

pub(in crate::adapters) mod apply;
pub(in crate::adapters) mod constraint;
pub(in crate::adapters) mod context;
pub(in crate::adapters) mod directive;
pub(in crate::adapters) mod event;
pub(in crate::adapters) mod history;
pub(in crate::adapters) mod rule;
pub(in crate::adapters) mod turn;
pub(in crate::adapters) mod var;
