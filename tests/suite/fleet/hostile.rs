//! A database and names that mean no good: refused or contained, the state untouched.

use super::{Fleet, bytes, on_both};

#[test]
fn statements_in_names_and_values_are_text() {
    on_both(|fleet| {
        let alpha = fleet.machine("alpha");
        alpha.start("billing", 1);
        let name = "x'); DROP TABLE project_state; --";
        alpha.ok_at("other", &["init", "--goal", "'; DELETE FROM project_state; --"]);
        alpha.ok_at("other", &["step", "add", "$1 ?1 %s \\ \" ' ; --"]);
        alpha.ok_at("other", &["fleet", "join", "--name", name]);
        let found = alpha.json(&["fleet", "list", "--text", "'; DELETE"]);
        assert_eq!(found["projects"][0]["name"], name);
        assert_eq!(fleet.query("SELECT count(*) FROM project_state").trim(), "2");
        let beta = fleet.machine("beta");
        beta.ok(&["fleet", "pull", name]);
        let dirs: Vec<_> = std::fs::read_dir(beta.dir()).unwrap().flatten().collect();
        assert!(dirs.iter().any(|dir| dir.path().join("state/plan.md").is_file()), "{dirs:?}");
        let claimed = alpha.run(&["fleet", "claim", "--next", "--where", "x' OR '1'='1=y"]);
        assert_eq!(claimed.code, 0, "{}", claimed.stderr);
        assert!(claimed.stdout.contains("no project is free"), "{}", claimed.stdout);
    });
}

#[test]
fn tables_of_another_version_are_not_touched() {
    on_both(|fleet| {
        let alpha = fleet.machine("alpha");
        alpha.start("billing", 1);
        fleet.query("UPDATE statedir_schema SET version = 7");
        for args in [&["fleet", "list"][..], &["fleet", "init"], &["fleet", "recover", "--apply"]] {
            let refused = alpha.run(args);
            assert_eq!(refused.code, 1, "{args:?}: {}", refused.stderr);
            assert!(refused.stderr.contains("version 7"), "{}", refused.stderr);
        }
        alpha.ok_at("billing", &["check"]);
    });
}

#[test]
fn tables_of_an_older_version_are_brought_up_to_date_and_keep_what_they_hold() {
    on_both(|fleet| {
        let alpha = fleet.machine("alpha");
        alpha.start("billing", 1);
        let (index, version) = match fleet.is_postgres() {
            true => ("statedir.project_state_age", "statedir.statedir_schema"),
            false => ("project_state_age", "statedir_schema"),
        };
        fleet.query(&format!("DROP INDEX {index}"));
        fleet.query("UPDATE statedir_schema SET version = 1");
        let refused = alpha.run(&["fleet", "list"]);
        assert_eq!(refused.code, 1, "{}", refused.stderr);
        assert!(refused.stderr.contains("`statedir fleet init`"), "{}", refused.stderr);
        // Two machines at once do it once.
        let both =
            [alpha.command(&["fleet", "init"]).spawn(), alpha.command(&["fleet", "init"]).spawn()];
        for child in both {
            assert!(child.unwrap().wait().unwrap().success());
        }
        assert_eq!(fleet.query(&format!("SELECT version FROM {version}")).trim(), "2");
        fleet.query(&format!("DROP INDEX {index}"));
        assert!(alpha.ok(&["fleet", "list"]).contains("billing"));
        alpha.ok_at("billing", &["step", "start", "1"]);
        alpha.ok_at("billing", &["fleet", "push"]);
    });
}

#[test]
fn what_was_changed_in_the_database_is_not_pulled() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 1);
        alpha.ok_at("billing", &["history", "add", "A thing that happened"]);
        alpha.ok_at("billing", &["fleet", "push"]);
        let other = if fleet.is_postgres() { "'xyz'::bytea" } else { "CAST('xyz' AS BLOB)" };
        fleet.query(&format!("UPDATE project_history SET content = {other}"));
        let refused = beta.run(&["fleet", "pull", "billing"]);
        assert_eq!(refused.code, 1, "{}", refused.stderr);
        assert!(refused.stderr.contains("damaged"), "{}", refused.stderr);
        assert!(!beta.state("billing").exists());
        let left: Vec<_> =
            std::fs::read_dir(beta.dir().join("billing")).into_iter().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

#[test]
fn a_directory_with_other_things_in_it_is_not_pulled_into() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 1);
        let dir = beta.dir().join("full");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("notes.txt"), "mine").unwrap();
        beta.ok_at("other", &["init", "--goal", "Something else"]);
        let before = bytes(&beta.state("other"));
        for (place, why) in [("full", "is not empty"), ("other/state", "holds another execution")] {
            let refused = beta.run(&["fleet", "pull", "billing", place]);
            assert_eq!(refused.code, 1, "{}", refused.stderr);
            assert!(refused.stderr.contains(why), "{}", refused.stderr);
        }
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        assert_eq!(bytes(&beta.state("other")), before);
    });
}

#[test]
fn a_file_name_from_the_database_is_not_a_path() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 1);
        fleet.query("UPDATE project_file SET name = '../../escaped' WHERE name = 'context.md'");
        let refused = beta.run(&["fleet", "pull", "billing"]);
        assert_eq!(refused.code, 1, "{}", refused.stderr);
        assert!(!beta.dir().join("escaped").exists());
        assert!(!beta.state("billing").exists());
    });
}

#[test]
fn a_lease_from_the_future_holds_nobody_back() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 1);
        assert_eq!(beta.run(&["fleet", "claim", "billing"]).code, 3, "the control");
        let future =
            if fleet.is_postgres() { "now() + interval '9 years'" } else { "9999999999999" };
        fleet.query(&format!("UPDATE project_state SET lease_until = {future}"));
        beta.ok(&["fleet", "claim", "billing"]);
    });
}

#[test]
fn a_database_with_other_types_is_refused() {
    on_both(|fleet| {
        let alpha = fleet.machine("alpha");
        alpha.start("billing", 1);
        let before = bytes(&alpha.state("billing"));
        fleet.query(match fleet.is_postgres() {
            true => {
                "ALTER TABLE statedir.project_state ALTER COLUMN lease_fence TYPE text, \
                 ALTER COLUMN name TYPE bytea USING '\\x00ff', ALTER COLUMN metadata TYPE bigint USING 7"
            }
            false => {
                "CREATE TABLE copy AS SELECT * FROM project_state; DROP TABLE project_state; \
                 ALTER TABLE copy RENAME TO project_state; \
                 UPDATE project_state SET lease_fence = 'x', name = x'00ff'"
            }
        });
        for args in [&["fleet", "list"][..], &["fleet", "show", "billing"]] {
            let refused = alpha.run(args);
            assert_eq!(refused.code, 1, "{args:?}: {}", refused.stderr);
        }
        let refused = alpha.at("billing", &["fleet", "push"]);
        assert!(refused.code == 1 || refused.code == 3, "{}", refused.stderr);
        assert_eq!(bytes(&alpha.state("billing")), before);
    });
}

#[test]
fn a_file_that_is_not_a_database_is_refused() {
    let fleet = Fleet::sqlite();
    let alpha = fleet.machine("alpha");
    std::fs::write(alpha.dir().join("noise.db"), b"this is no database at all, not at all")
        .unwrap();
    let mut noise = alpha.command(&["fleet", "list"]);
    let output = noise.env("STATEDIR_FLEET", "sqlite:noise.db").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn a_large_file_travels_whole() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 1);
        let path = alpha.state("billing").join("context.md");
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str(&"\nA long line of text that means nothing in particular.\n".repeat(200_000));
        std::fs::write(&path, &text).unwrap();
        alpha.ok_at("billing", &["fleet", "push"]);
        beta.ok(&["fleet", "pull", "billing"]);
        assert_eq!(bytes(&beta.state("billing")), bytes(&alpha.state("billing")));
    });
}

#[test]
fn a_password_is_neither_printed_nor_kept() {
    let fleet = Fleet::sqlite();
    let alpha = fleet.machine("alpha");
    let url = "postgres://worker:hunter2-hunter2@127.0.0.1:1/fleet";
    let mut init = alpha.command(&["fleet", "init", url]);
    let output = init.env_remove("STATEDIR_FLEET").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("hunter2"), "{output:?}");
    for entry in walkdir::WalkDir::new(alpha.dir()).into_iter().flatten() {
        let text = std::fs::read(entry.path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains("hunter2"), "{}", entry.path().display());
    }
}

#[test]
fn the_roles_of_the_example_may_do_no_more_than_they_need() {
    let Some(fleet) = Fleet::postgres() else { return };
    let alpha = fleet.machine("alpha");
    alpha.start("billing", 1);
    fleet.query(include_str!("../../../examples/fleet-roles.sql"));
    fleet.query("CREATE ROLE looker LOGIN IN ROLE statedir_reader");
    fleet.query("CREATE ROLE builder LOGIN IN ROLE statedir_worker");
    let run = |role: &str, args: &[&str]| {
        let url = fleet.url.replace("worker@", &format!("{role}@"));
        let output = alpha.command(args).env("STATEDIR_FLEET", url).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let push = ["-C", "billing/state", "fleet", "push"];
    alpha.ok_at("billing", &["step", "start", "1"]);
    assert_eq!(run("looker", &["fleet", "list"]).0, Some(0));
    let (code, printed) = run("looker", &push);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("permission denied"), "{printed}");
    assert_eq!(run("builder", &push).0, Some(0));
    assert_eq!(run("builder", &["fleet", "pull", "billing", "elsewhere"]).0, Some(0));
}
