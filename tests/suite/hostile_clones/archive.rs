//! An archive that leads elsewhere.

use super::{
    ground::Ground,
    ways::{empties_the_victims, harmless},
};

#[test]
fn an_archive_that_is_a_link_is_not_moved_into() {
    let spoil = |ground: &Ground| ground.link(&ground.at("workspace/archive"), &ground.victims());
    let lines = ["archive --force", "archive list", "archive show exec", "archive restore exec"];
    harmless(&lines, spoil, empties_the_victims);
}
