//! YAML from strangers: what is nested too deep is refused before it takes long.

/// The most brackets that are opened in one text, and the most lists that begin on one line. The
/// parser takes time by the square of the depth.
const MAX_BRACKETS: usize = 1000;
const MAX_DASHES: usize = 16;

/// The line, from one, at which a text is nested too deep to be read.
pub(crate) fn too_deep(yaml: &str) -> Option<usize> {
    let mut brackets = 0;
    let deep = |line: &str| {
        brackets += line.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
        let dashes =
            line.split_ascii_whitespace().take_while(|word| matches!(*word, "-" | "?" | ":"));
        brackets > MAX_BRACKETS || dashes.count() > MAX_DASHES
    };
    yaml.split(['\n', '\r']).position(deep).map(|at| at + 1)
}
