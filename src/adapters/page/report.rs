//! The whole state on one page that needs nothing else: no script, no other file, no network.

use sha2::{Digest as _, Sha256};

use super::{
    Links, STYLE, board, constraints, context, graph, header, history, numbers, operations,
    reviews, section, short, steps, timeline,
};
use crate::workspace::Dashboard;

/// How many steps are shown with all that they say.
const STEPS: usize = 2000;
/// How many attempts are shown.
const ATTEMPTS: usize = 500;

/// The page.
pub(crate) fn report(material: &Dashboard) -> String {
    let style = format!("{STYLE}{}", crate::graph::STYLE);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; form-action 'none'; base-uri 'none'",
        base64(&Sha256::digest(style.as_bytes()))
    );
    let links = Links { steps: "#step-", status: None, reviews: "#reviews", says_next: true };
    let all = &material.state.steps;
    let mut listed = steps(all.iter().take(STEPS), &links, false);
    if all.len() > STEPS {
        listed.push_str(&format!("<p class=\"none\">and {} more</p>", all.len() - STEPS));
    }
    let parts = [
        ("board", "Board", board(material, &links, None)),
        ("graph", "Graph", graph(material)),
        ("timeline", "Timeline", timeline(material, ATTEMPTS)),
        ("reviews", "Reviews", reviews(material, None)),
        ("steps", "Steps", listed),
        ("context", "Context", context(material)),
        ("constraints", "Constraints", constraints(material)),
        ("history", "History", history(material, 0)),
        ("operations", "Operations", operations(&material.operations)),
        ("numbers", "Numbers", numbers(material)),
    ];
    let contents: String = parts
        .iter()
        .map(|(id, title, _)| format!("<li><a href=\"#{id}\">{title}</a></li>"))
        .collect();
    let body: String = parts.iter().map(|(id, title, body)| section(id, title, body)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>{style}</style>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>{}</header>\n\
         <nav aria-label=\"Sections\"><ul>{contents}</ul></nav>\n<main id=\"main\">\n{body}</main>\n\
         <footer><p class=\"none\">Made by statedir from revision {}.</p></footer>\n</body>\n</html>\n",
        short(&material.overview.title, 200),
        header(material, &links),
        short(&material.overview.revision, 40),
    )
}

/// Bytes as a policy names them.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let all = chunk.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            match place <= chunk.len() {
                true => out.push(char::from(LETTERS[(all >> (18 - 6 * place) & 63) as usize])),
                false => out.push('='),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_are_written_as_everybody_does() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}
