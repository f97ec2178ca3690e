//! Setting up and archiving a state: templates, trust, the archive.

pub(in crate::workspace) mod archive;
pub(in crate::workspace) mod builtin_templates;
pub(in crate::workspace) mod init;
pub(in crate::workspace) mod template_limits;
pub(in crate::workspace) mod templates;
pub(in crate::workspace) mod trust;
