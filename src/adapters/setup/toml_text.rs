//! Our MCP server in TOML settings: lines between markers at the end of the file.

use super::block::TOML;

/// The lines.
pub(super) fn lines(program: &str) -> String {
    // A JSON string is a TOML string, too.
    let program = serde_json::Value::from(program).to_string();
    format!("[mcp_servers.statedir]\ncommand = {program}\nargs = [\"mcp\"]\n")
}

/// The settings with our server; a table of that name that is there already stays.
pub(super) fn put(there: Option<&str>, program: &str) -> Result<Option<String>, String> {
    let text = there.unwrap_or_default();
    let outside = TOML.outside(text)?;
    check(&outside)?;
    let header = |line: &str| line.split_whitespace().collect::<String>();
    let own = |line: &str| {
        let line = header(line).replace(['"', '\''], "");
        line.starts_with("[mcp_servers.statedir]")
    };
    if outside.lines().any(own) {
        return Ok(there.map(str::to_owned));
    }
    TOML.put(there, &lines(program))
}

/// The settings without our server.
pub(super) fn take(there: Option<&str>) -> Result<Option<String>, String> {
    TOML.take(there)
}

/// Refuses what is plainly no TOML: strings or brackets left open, lines that say nothing.
fn check(text: &str) -> Result<(), String> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut depth, mut line, mut number) = (0usize, String::new(), 1);
    while let Some(c) = rest.chars().next() {
        let triple = ["\"\"\"", "'''"].into_iter().find(|quote| rest.starts_with(quote));
        if let Some(quote) = triple.or(["\"", "'"].into_iter().find(|q| rest.starts_with(q))) {
            let body = &rest[quote.len()..];
            let end =
                closing(body, quote).ok_or(format!("line {number}: a string is not closed"))?;
            number += body[..end].matches('\n').count();
            line.push('s');
            rest = &body[end + quote.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '#' => {
                let end = rest.find('\n').unwrap_or(rest.len());
                rest = &rest[end..];
            }
            '[' | '{' => {
                depth += 1;
                line.push(c);
            }
            ']' | '}' => {
                depth = depth.checked_sub(1).ok_or(format!("line {number}: `{c}` too many"))?;
                line.push(c);
            }
            '\n' => {
                if depth == 0 {
                    statement(&line, number)?;
                    line.clear();
                }
                number += 1;
            }
            c => line.push(c),
        }
    }
    if depth > 0 {
        return Err("a bracket is not closed".to_owned());
    }
    statement(&line, number)
}

fn statement(line: &str, number: usize) -> Result<(), String> {
    let line = line.trim();
    let table = line.starts_with('[') && line.ends_with(']');
    let pair = line
        .split_once('=')
        .is_some_and(|(key, value)| !key.trim().is_empty() && !value.trim().is_empty());
    match line.is_empty() || table || pair {
        true => Ok(()),
        false => Err(format!("line {number} is neither a table nor a key with a value")),
    }
}

/// Where a string ends; only one in double quotes has escapes, and only one in three goes on.
fn closing(body: &str, quote: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(c) = body[at..].chars().next() {
        if body[at..].starts_with(quote) {
            return Some(at);
        }
        if c == '\n' && quote.len() == 1 {
            return None;
        }
        at += c.len_utf8();
        if c == '\\' && quote.starts_with('"') {
            at += body[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_keeps_its_bytes_and_comes_back() {
        for there in
            ["", "model = \"o\"", "a = [\n 1, # x\n 2 ]\n\n[t.\"x y\"]\nk = '''\n[not]\n'''\r\n"]
        {
            let with = put(Some(there), "statedir").unwrap().unwrap();
            assert!(with.contains("[mcp_servers.statedir]"));
            assert_eq!(put(Some(&with), "statedir").unwrap().as_deref(), Some(with.as_str()));
            assert_eq!(take(Some(&with)).unwrap().as_deref(), Some(there));
        }
        let with = put(None, "statedir").unwrap().unwrap();
        assert_eq!(take(Some(&with)).unwrap(), None);
    }

    #[test]
    fn what_is_no_toml_or_has_such_a_table_is_left_alone() {
        for bad in ["{", "a = \"x", "just words\n", "a = [1\n", "]", "a =\n", "k = '''x"] {
            assert!(put(Some(bad), "statedir").is_err(), "{bad}");
        }
        let own = "[mcp_servers.statedir]\ncommand = \"mine\"\n";
        assert_eq!(put(Some(own), "statedir").unwrap().as_deref(), Some(own));
        assert_eq!(take(Some(own)).unwrap().as_deref(), Some(own));
    }
}
