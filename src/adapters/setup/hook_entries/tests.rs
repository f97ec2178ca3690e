use super::*;

fn put(there: Option<&str>, program: &str) -> Result<Option<String>, String> {
    let wish = Wish { program, force: false, folders: 0, options: HookOptions::NONE };
    super::put(&CLAUDE, there, wish).map(|outcome| outcome.text)
}

fn take(there: Option<&str>) -> Result<Option<String>, String> {
    let wish = Wish { program: "", force: false, folders: 0, options: HookOptions::NONE };
    super::take(&CLAUDE, there, wish).map(|outcome| outcome.text)
}

const THERE: &str = "{\r\n\t\"model\" : \"x\",\r\n\t\"hooks\":{ \"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]}] },\r\n  \"n\": 1.10\r\n}";

#[test]
fn the_hooks_of_every_client_come_and_go() {
    let wish = Wish { program: "statedir", force: false, folders: 0, options: HookOptions::NONE };
    for hooks in [&CLAUDE, &CODEX, &GEMINI] {
        for there in [None, Some("{}\n"), Some(THERE), Some("{\"mcpServers\": {}}")] {
            let with = super::put(hooks, there, wish).unwrap().text.unwrap();
            let read: Value = serde_json::from_str(&with).unwrap();
            for (event, _) in hooks.events {
                let groups = read["hooks"][event].as_array().unwrap().iter();
                let ours =
                    groups.filter(|group| Group { ours: hooks, event, group }.has(Whose::Ours));
                assert_eq!(ours.count(), 1, "{event}: {with}");
            }
            let again = super::put(hooks, Some(&with), wish).unwrap().text.unwrap();
            assert_eq!(again, with);
            assert_eq!(super::take(hooks, Some(&with), wish).unwrap().text.as_deref(), there);
        }
    }
}

#[test]
fn a_file_of_ours_goes_as_it_came() {
    let with = put(None, "statedir").unwrap().unwrap();
    assert_eq!(take(Some(&with)).unwrap(), None);
    let elsewhere = put(None, "/a b/statedir").unwrap().unwrap();
    assert_eq!(take(Some(&elsewhere)).unwrap(), None);
    assert_eq!(take(None).unwrap(), None);
    let moved = put(Some(&with), "/opt/statedir").unwrap();
    assert_eq!(moved, put(None, "/opt/statedir").unwrap());
}

#[test]
fn an_entry_of_an_earlier_version_is_replaced() {
    let old =
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/statedir hook"}]}]}}"#;
    let with = put(Some(old), "statedir").unwrap().unwrap();
    assert_eq!(with.matches("statedir hook").count(), CLAUDE.events.len(), "{with}");
    let shared =
        r#"{"hooks":{"Stop":[{"hooks":[{"command":"say"},{"command":"statedir hook"}]}]}}"#;
    let without = take(Some(shared)).unwrap().unwrap();
    assert_eq!(without, r#"{"hooks":{"Stop":[{"hooks":[{"command":"say"}]}]}}"#);
}

#[test]
fn settings_that_are_not_understood_are_refused() {
    for bad in
        ["{", "[]", "// c\n{", "{\"hooks\":[]}", "{\"hooks\":{\"Stop\":{}}}", "{\"a\":1,\"a\":2}"]
    {
        assert!(put(Some(bad), "statedir").is_err(), "{bad}");
    }
}

#[test]
fn only_our_own_command_is_ours() {
    let whose = |command: &str| {
        let hook = json!({ "command": command });
        let group = json!({ "hooks": [hook] });
        Group { ours: &CLAUDE, event: "Stop", group: &group }.whose(&hook)
    };
    let ours = |command: &str| whose(command) == Whose::Ours;
    assert_eq!(whose("/opt/statedir hook --max-tokens 9"), Whose::Changed);
    assert!(
        ours("statedir hook") && ours("/usr/bin/statedir hook") && ours("'/a b/statedir' hook")
    );
    assert!(!ours("mystatedir hook") && !ours("statedir hook-x") && !ours("x hook") && !ours(""));
    assert_eq!(
        command("/a b/statedir"),
        "command -v '/a b/statedir' >/dev/null 2>&1 || exit 0; '/a b/statedir' hook"
    );
    assert!(ours(&command("statedir")) && ours(&command("/a b/statedir")));
    let mine = command("/opt/statedir") + " --max-tokens 9";
    assert_eq!(whose(&mine), Whose::Changed);
}

#[test]
fn a_hook_that_somebody_changed_is_not_doubled_and_stays() {
    let with = put(Some("{}"), "statedir").unwrap().unwrap();
    let mine = with.replacen("statedir hook", "statedir hook --max-tokens 900", 1);
    let wish = Wish { program: "statedir", force: false, folders: 0, options: HookOptions::NONE };
    let again = super::put(&CLAUDE, Some(&mine), wish).unwrap();
    assert_eq!(again.text.as_ref(), Some(&mine));
    assert!(again.note.unwrap().contains("the hook of SessionStart"));
    let left = super::take(&CLAUDE, Some(&mine), wish).unwrap();
    assert_eq!(left.text.unwrap().matches("statedir hook").count(), 1);
    assert!(left.note.unwrap().contains("--force"));
    let force = Wish { force: true, ..wish };
    let forced = super::put(&CLAUDE, Some(&mine), force).unwrap();
    let text: Value = serde_json::from_str(&forced.text.unwrap()).unwrap();
    assert_eq!(text["hooks"], CLAUDE.all("statedir", HookOptions::NONE)["hooks"]);
    assert_eq!(super::take(&CLAUDE, Some(&mine), force).unwrap().text.as_deref(), Some("{}"));
}

#[test]
fn a_program_of_another_name_is_known_again() {
    for there in ["{}", "{\"hooks\":{\"Stop\":[]}}"] {
        let with = put(Some(there), "/opt/sd").unwrap().unwrap();
        assert_eq!(put(Some(&with), "/opt/sd").unwrap().as_ref(), Some(&with));
        assert_eq!(take(Some(&with)).unwrap().as_deref(), Some(there));
        let moved = put(Some(&with), "statedir").unwrap().unwrap();
        assert!(!moved.contains("/opt/sd"), "{moved}");
    }
    let other = r#"{"hooks":{"Stop":[{"hooks":[{"command":"x hook"}]}]}}"#;
    assert_eq!(take(Some(other)).unwrap().as_deref(), Some(other));
}
