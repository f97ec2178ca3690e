//! Sets up and archives a state; here: whether its private directory is trusted, which it is only if it
//! was created here.

pub(in crate::workspace) mod archive;
pub(in crate::workspace) mod builtin_templates;
pub(in crate::workspace) mod init;
mod own_modifiers;
pub(in crate::workspace) mod template_limits;
pub(in crate::workspace) mod templates;

use crate::{
    store::{Origin, Store, Trusted},
    workspace::{Error, VersionControl, Workspace},
};

/// The store with its private directory trusted, to be marked, or distrusted, depending on its origin.
///
/// If the origin cannot be determined, the store reports the error when it is used.
pub(in crate::workspace) fn with_trust_level(
    store: Store,
    version_control: &dyn VersionControl,
) -> Store {
    match store.origin() {
        Ok(Origin::Here) | Err(_) => store,
        Ok(Origin::Absent) => store.mark_on_next_change(),
        Ok(Origin::NoDirectory(inode)) => store.distrust(inode, "it is not a directory"),
        Ok(Origin::OtherUser(inode)) => store.distrust(inode, "it belongs to another user"),
        Ok(Origin::NoAccess(inode)) => store.without_access(inode),
        Ok(Origin::Unknown(inode))
            if version_control.may_track_private_directory(&store.layout().dir) =>
        {
            store.distrust(inode, "git tracks it, so it may have come with a clone")
        }
        Ok(Origin::Unknown(_)) => store.mark_on_next_change(),
    }
}

impl Workspace {
    /// Whether the private directory is used; one that may have come with a clone is not.
    pub(crate) fn uses_private_directory(&self) -> bool {
        self.store.uses_private_directory()
    }

    /// Accepts a private directory that is not trusted, or the one that was set aside last.
    ///
    /// # Errors
    /// It is not a directory, or another process is at work.
    pub(crate) fn trust(&self) -> Result<Trusted, Error> {
        let dry_run = self.options.dry_run;
        Ok(self.store.trust(self.options.wait, &self.holder(), dry_run)?)
    }
}
