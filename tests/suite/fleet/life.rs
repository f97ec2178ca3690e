//! Joining, publishing, handing over, pulling, merging, looking.

use std::time::{Duration, Instant};

use super::{Fleet, bytes, on_both, proxy::Proxy};

#[test]
fn a_pulled_state_is_the_published_one_to_the_byte() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 3);
        alpha.ok_at("billing", &["step", "next", "--claim"]);
        alpha.ok_at("billing", &["step", "done", "1", "--output", "rows=42"]);
        assert!(alpha.ok_at("billing", &["fleet", "push"]).starts_with("published"));
        assert!(alpha.ok_at("billing", &["fleet", "push"]).contains("already published"));
        beta.ok(&["fleet", "pull", "billing"]);
        assert_eq!(bytes(&beta.state("billing")), bytes(&alpha.state("billing")));
        assert!(beta.ok_at("billing", &["history", "verify"]).contains("intact"));
        beta.ok_at("billing", &["check"]);
        // A copy that is behind is updated; one with changes of its own is not overwritten.
        alpha.ok_at("billing", &["step", "start", "2"]);
        alpha.ok_at("billing", &["fleet", "push"]);
        beta.ok(&["fleet", "pull", "billing"]);
        assert_eq!(bytes(&beta.state("billing")), bytes(&alpha.state("billing")));
        beta.ok_at("billing", &["context", "add", "Found by beta"]);
        let before = bytes(&beta.state("billing"));
        let refused = beta.run(&["fleet", "pull", "billing"]);
        assert_eq!(refused.code, 3, "{}", refused.stderr);
        assert!(refused.stderr.contains("context.md"), "{}", refused.stderr);
        assert_eq!(bytes(&beta.state("billing")), before);
    });
}

#[test]
fn directories_are_reported_so_that_they_are_found_from_anywhere() {
    let fleet = Fleet::sqlite();
    let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
    alpha.ok(&["-C", "billing/state", "init", "--goal", "Finish billing"]);
    alpha.ok(&["-C", "billing/state", "fleet", "join", "--name", "billing"]);
    let directory = |machine: &str| fleet.machine(machine).state("billing").display().to_string();
    let shown = alpha.json(&["fleet", "show", "billing"]);
    assert_eq!(shown["project"]["metadata"]["directory"], directory("alpha"));
    let pulled = beta.json(&["fleet", "pull", "billing", "billing/state"]);
    assert_eq!(pulled["directory"], directory("beta"));
    fleet.let_leases_run_out();
    let claimed = beta.json(&["fleet", "claim", "--next"]);
    assert_eq!(claimed["directory"], directory("beta"));
    fleet.let_leases_run_out();
    let gamma = fleet.machine("gamma");
    let recovered = gamma.json(&["fleet", "recover", "--apply", "--into", "."]);
    assert_eq!(recovered["projects"][0]["directory"], directory("gamma"), "{recovered}");
}

#[test]
fn only_the_machine_with_the_lease_publishes() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 2);
        let held = beta.run(&["fleet", "claim", "billing"]);
        assert_eq!(held.code, 3);
        assert!(held.stderr.contains("held by alpha"), "{}", held.stderr);
        beta.ok(&["fleet", "pull", "billing"]);
        beta.ok_at("billing", &["context", "add", "Found by beta"]);
        assert_eq!(beta.at("billing", &["fleet", "push"]).code, 3, "without a lease");
        beta.ok(&["fleet", "steal", "billing", "--why", "alpha is gone"]);
        beta.ok_at("billing", &["fleet", "push"]);
        let steal = beta.ok_at("billing", &["history", "search", "Lease taken"]);
        assert!(steal.contains("alpha"), "{steal}");
        // Alpha was only asleep.
        alpha.ok_at("billing", &["step", "start", "1"]);
        let before = fleet.query("SELECT revision, history_length FROM project_state");
        let refused = alpha.at("billing", &["fleet", "push", "--json"]);
        assert_eq!(refused.code, 3, "{}", refused.stdout);
        let answer: serde_json::Value = serde_json::from_str(&refused.stdout).unwrap();
        assert_eq!(answer["error"]["code"], "lease_lost");
        assert_eq!(answer["refusal"]["lease"]["host"], "beta");
        assert_eq!(fleet.query("SELECT revision, history_length FROM project_state"), before);
        // Nothing of either side is lost.
        alpha.ok(&["fleet", "pull", "billing", "--merge"]);
        assert!(alpha.ok_at("billing", &["show", "context"]).contains("Found by beta"));
        assert_eq!(alpha.json(&["-C", "billing/state", "status"])["running"], 1);
        alpha.ok_at("billing", &["check"]);
        alpha.ok_at("billing", &["history", "verify"]);
        beta.ok(&["fleet", "release", "billing"]);
        alpha.ok(&["fleet", "claim", "billing"]);
        alpha.ok_at("billing", &["fleet", "push"]);
        beta.ok(&["fleet", "pull", "billing"]);
        assert_eq!(bytes(&beta.state("billing")), bytes(&alpha.state("billing")));
    });
}

#[test]
fn a_machine_that_dies_before_it_notes_a_pull_or_a_push_doubles_nothing() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        let note =
            |machine: &str| fleet.machine(machine).state("billing").join(".statedir/fleet.json");
        let add = |machine: &str, title: &str| {
            fleet.machine(machine).ok_at("billing", &["history", "add", title]);
        };
        alpha.start("billing", 2);
        beta.ok(&["fleet", "pull", "billing"]);
        add("alpha", "Seen by alpha");
        alpha.ok_at("billing", &["fleet", "push"]);
        // A pull, and the machine dies before it has noted it; or before it has noted the first one.
        let before = std::fs::read(note("beta")).unwrap();
        beta.ok(&["fleet", "pull", "billing"]);
        std::fs::write(note("beta"), &before).unwrap();
        beta.ok(&["fleet", "pull", "billing"]);
        std::fs::remove_file(note("beta")).unwrap();
        beta.ok(&["fleet", "pull", "billing", "--merge"]);
        assert_eq!(bytes(&beta.state("billing")), bytes(&alpha.state("billing")));
        // A push that alpha does not know of, and a change on top of it.
        let before = std::fs::read(note("alpha")).unwrap();
        add("alpha", "Seen again by alpha");
        alpha.ok_at("billing", &["fleet", "push"]);
        std::fs::write(note("alpha"), &before).unwrap();
        beta.ok(&["fleet", "steal", "billing", "--why", "alpha is gone"]);
        beta.ok(&["fleet", "pull", "billing", "--merge"]);
        add("beta", "Seen by beta");
        beta.ok_at("billing", &["fleet", "push"]);
        add("alpha", "Seen by alpha alone");
        alpha.ok(&["fleet", "pull", "billing", "--merge"]);
        for machine in [&alpha, &beta] {
            assert!(machine.ok_at("billing", &["history", "verify"]).contains("intact"));
        }
        let text = std::fs::read_to_string(alpha.state("billing").join("history.md")).unwrap();
        for title in ["Seen by alpha", "Seen again by alpha", "Seen by beta", "Seen by alpha alone"]
        {
            let headings =
                text.lines().filter(|line| line.starts_with("### ") && line.contains(title));
            let is_one = |line: &&str| !title.ends_with("alpha") || !line.contains("alone");
            assert_eq!(headings.filter(is_one).count(), 1, "{title}: {text}");
        }
    });
}

#[test]
fn a_plan_whose_last_steps_were_finished_on_two_machines_is_finished() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 2);
        beta.ok(&["fleet", "steal", "billing", "--why", "alpha is gone"]);
        beta.ok(&["fleet", "pull", "billing"]);
        for (machine, step) in [(&alpha, "1"), (&beta, "2")] {
            machine.ok_at("billing", &["step", "start", step]);
            machine.ok_at("billing", &["step", "done", step]);
        }
        beta.ok_at("billing", &["fleet", "push"]);
        assert!(alpha.ok(&["fleet", "list"]).contains("active 1/2"), "the control: half of it");
        alpha.ok(&["fleet", "steal", "billing", "--why", "beta is gone"]);
        alpha.ok(&["fleet", "pull", "billing", "--merge"]);
        alpha.ok_at("billing", &["fleet", "push"]);
        let listed = alpha.ok(&["fleet", "list"]);
        assert!(listed.contains("completed 2/2"), "nobody would ever finish it: {listed}");
        alpha.ok_at("billing", &["check"]);
    });
}

#[test]
fn a_push_sends_of_the_history_only_what_was_added() {
    on_both(|fleet| {
        let alpha = fleet.machine("alpha");
        alpha.start("billing", 1);
        let history = alpha.state("billing").join("history.md");
        let mut text = std::fs::read_to_string(&history).unwrap();
        for number in 0..40_000 {
            text.push_str(&format!(
                "\nA line of a long history, number {number:>8}, kept as it is.\n"
            ));
        }
        std::fs::write(&history, &text).unwrap();
        alpha.ok_at("billing", &["fleet", "push"]);
        alpha.ok_at("billing", &["history", "add", "One more thing"]);
        alpha.ok_at("billing", &["fleet", "push"]);
        let sql = "SELECT length(content) FROM project_history ORDER BY start DESC LIMIT 1";
        let last: u64 = fleet.query(sql).trim().parse().unwrap();
        assert!(last < 1000, "{last} bytes were sent for one entry");
        let beta = fleet.machine("beta");
        beta.ok(&["fleet", "pull", "billing"]);
        assert_eq!(bytes(&beta.state("billing")), bytes(&alpha.state("billing")));
        // The published state is not silently replaced.
        let text = std::fs::read_to_string(&history).unwrap();
        std::fs::write(&history, text.replacen("One more thing", "Another thing", 1)).unwrap();
        let refused = alpha.at("billing", &["fleet", "push"]);
        assert_eq!(refused.code, 3, "{}", refused.stderr);
        assert!(refused.stderr.contains("--whole"), "{}", refused.stderr);
    });
}

#[test]
fn a_push_takes_three_round_trips_at_most() {
    let Some(fleet) = Fleet::postgres() else { return };
    let alpha = fleet.machine("alpha");
    alpha.start("billing", 2);
    let proxy = Proxy::start(fleet.server().port, |_| (None, None));
    let push = || {
        let mut push = alpha.command(&["-C", "billing/state", "fleet", "push"]);
        let status = push.env("STATEDIR_FLEET", fleet.server().tcp(proxy.port)).status().unwrap();
        assert!(status.success());
        proxy.trips()
    };
    for args in [&["step", "start", "1"][..], &["step", "done", "1"], &["context", "add", "More"]] {
        alpha.ok_at("billing", args);
        let trips = push();
        eprintln!("a push after {args:?}: {trips} round trips, the first of them to log in");
        assert!((1..=3).contains(&trips), "{trips}");
    }
}

#[test]
fn claims_of_many_workers_give_each_project_to_one() {
    on_both(|fleet| {
        let alpha = fleet.machine("alpha");
        for number in 0..12 {
            alpha.start(&format!("p{number}"), 1);
        }
        fleet.let_leases_run_out();
        let machines: Vec<_> = (0..12).map(|n| fleet.machine(&format!("worker{n}"))).collect();
        let running: Vec<_> = machines
            .iter()
            .map(|machine| {
                let mut command = machine.command(&["fleet", "claim", "--next", "--json"]);
                command.stdout(std::process::Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let mut names: Vec<String> = running
            .into_iter()
            .map(|child| {
                let output = child.wait_with_output().unwrap();
                let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                answer["claimed"]["name"].as_str().unwrap_or_default().to_owned()
            })
            .collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 12, "{names:?}");
        let none = alpha.json(&["fleet", "claim", "--next"]);
        assert!(none["claimed"].is_null(), "{none}");
    });
}

#[test]
fn lists_are_filtered_and_open_reviews_come_first() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("quiet", 2);
        alpha.start("asking", 1);
        beta.start("other", 3);
        alpha.ok_at("asking", &["review", "request", "May I deploy?"]);
        alpha.ok_at("asking", &["fleet", "push"]);
        let all = alpha.json(&["fleet", "list"]);
        assert_eq!(all["projects"].as_array().unwrap().len(), 3);
        assert_eq!(all["projects"][0]["name"], "asking", "open reviews come first");
        let names = |args: &[&str]| -> Vec<String> {
            let found = alpha.json(&[&["fleet", "list"], args].concat());
            let found = found["projects"].as_array().unwrap().clone();
            found.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&["--machine", "beta"]), ["other"]);
        assert_eq!(names(&["--text", "finish QUIET"]), ["quiet"]);
        assert_eq!(names(&["--status", "failed"]), [""; 0]);
        assert_eq!(names(&["--older-than", "1h"]), [""; 0]);
        let sums = alpha.json(&["fleet", "metrics"]);
        assert_eq!(sums["groups"][0]["group"], "alpha");
        assert_eq!(sums["groups"][0]["projects"], 2);
        assert_eq!(sums["groups"][1]["steps"], 3);
        let shown = alpha.json(&["fleet", "show", "other"]);
        assert_eq!(shown["document"]["steps"][2]["title"], "Part 3");
        assert!(alpha.ok(&["fleet", "status"]).contains("3 active"));
    });
}

#[test]
fn what_machines_did_is_theirs_after_they_have_given_it_back() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 1);
        beta.start("shipping", 2);
        alpha.ok_at("billing", &["step", "start", "1"]);
        alpha.ok_at("billing", &["step", "done", "1", "--cost", "0.50"]);
        alpha.ok_at("billing", &["fleet", "push"]);
        alpha.ok(&["fleet", "release", "billing"]);
        let sums = beta.json(&["fleet", "metrics"]);
        let groups = sums["groups"].as_array().unwrap();
        assert_eq!(groups.len(), 2, "{sums}");
        assert_eq!(groups[0]["group"], "alpha", "{sums}");
        assert_eq!((&groups[0]["completed"], &groups[0]["cost"]), (&1.into(), &0.5.into()));
        assert_eq!((&sums["all"]["projects"], &sums["all"]["steps"]), (&2.into(), &3.into()));
        let found = beta.json(&["fleet", "list", "--machine", "alpha"]);
        assert_eq!(found["projects"][0]["name"], "billing", "{found}");
        let status = beta.json(&["fleet", "status"]);
        assert_eq!(status["machines"][0]["machine"], "alpha", "{status}");
        assert_eq!(status["machines"][1]["projects"], 1, "{status}");
    });
}

#[test]
fn a_project_gets_another_name_from_the_machine_with_its_lease() {
    on_both(|fleet| {
        let (alpha, beta) = (fleet.machine("alpha"), fleet.machine("beta"));
        alpha.start("billing", 1);
        alpha.start("shipping", 1);
        beta.ok(&["fleet", "pull", "billing"]);
        let names = || fleet.query("SELECT name FROM project_state ORDER BY name");
        for (machine, name, code) in [(&alpha, "shipping", 1), (&beta, "accounts", 3)] {
            let refused = machine.at("billing", &["fleet", "join", "--name", name]);
            assert_eq!(refused.code, code, "{}", refused.stderr);
            assert_eq!(names().trim(), "billing\nshipping");
        }
        alpha.ok_at("billing", &["fleet", "join", "--name", "accounts"]);
        assert_eq!(names().trim(), "accounts\nshipping");
        // Without a name, the name stays.
        alpha.ok(&["fleet", "release", "accounts"]);
        assert!(beta.ok_at("billing", &["fleet", "join"]).contains("accounts"));
        assert_eq!(names().trim(), "accounts\nshipping");
    });
}

#[test]
fn a_claim_without_a_name_is_for_the_project_of_this_state() {
    on_both(|fleet| {
        let alpha = fleet.machine("alpha");
        alpha.start("billing", 1);
        alpha.start("shipping", 1);
        alpha.ok(&["fleet", "release", "shipping"]);
        alpha.ok_at("shipping", &["fleet", "claim"]);
        let shown = alpha.json(&["fleet", "show", "shipping"]);
        assert_eq!(shown["project"]["lease"]["host"], "alpha", "{shown}");
        let nowhere = alpha.run(&["fleet", "claim"]);
        assert_eq!(nowhere.code, 1, "{}", nowhere.stderr);
        assert!(nowhere.stderr.contains("`statedir fleet claim --next`"), "{}", nowhere.stderr);
    });
}

#[test]
fn secrets_are_masked_where_they_can_be_searched() {
    on_both(|fleet| {
        let alpha = fleet.machine("alpha");
        alpha.start("billing", 1);
        let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        alpha.ok_at("billing", &["var", "set", "github.token", secret]);
        alpha.ok_at("billing", &["fleet", "push"]);
        let shown = alpha.ok(&["fleet", "show", "billing", "--json"]);
        assert!(!shown.contains(secret), "{shown}");
        // The files themselves are not masked.
        let beta = fleet.machine("beta");
        beta.ok(&["fleet", "pull", "billing"]);
        assert!(beta.ok_at("billing", &["show", "variables"]).contains(secret));
        alpha.ok_at("billing", &["fleet", "join", "--with-secrets"]);
        alpha.ok_at("billing", &["var", "set", "round", "2"]);
        alpha.ok_at("billing", &["fleet", "push"]);
        assert!(alpha.ok(&["fleet", "show", "billing", "--json"]).contains(secret), "the control");
    });
}

#[test]
fn the_agent_publishes_what_changes_and_keeps_the_lease() {
    on_both(|fleet| {
        let alpha = fleet.machine("alpha");
        alpha.start("billing", 2);
        let mut agent = alpha.command(&["fleet", "agent", "--for", "20s", "--lease", "900ms"]);
        let mut agent = agent.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        alpha.ok_at("billing", &["step", "start", "1"]);
        let revision = alpha.json(&["-C", "billing/state", "status"])["revision"].clone();
        let end = Instant::now() + Duration::from_secs(15);
        let published = || fleet.query("SELECT revision FROM project_state").trim().to_owned();
        while published() != revision.as_str().unwrap() {
            assert!(Instant::now() < end, "not published");
            std::thread::sleep(Duration::from_millis(50));
        }
        // Longer than the lease: only heartbeats keep it.
        std::thread::sleep(Duration::from_millis(1500));
        let beta = fleet.machine("beta");
        assert_eq!(beta.run(&["fleet", "claim", "billing"]).code, 3);
        agent.kill().unwrap();
        agent.wait().unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        beta.ok(&["fleet", "claim", "billing"]);
    });
}

#[test]
fn two_machines_recover_what_a_third_left_without_doing_anything_twice() {
    on_both(|fleet| {
        let gone = fleet.machine("gone");
        for number in 0..4 {
            gone.start(&format!("p{number}"), 2);
            gone.ok_at(&format!("p{number}"), &["step", "next", "--claim"]);
            gone.ok_at(&format!("p{number}"), &["fleet", "push"]);
        }
        let alpha = fleet.machine("alpha");
        let nothing = alpha.json(&["fleet", "recover", "--all", "--apply"]);
        assert_eq!(nothing["projects"], serde_json::json!([]), "their leases are held");
        fleet.let_leases_run_out();
        assert_eq!(alpha.json(&["fleet", "recover"])["projects"].as_array().unwrap().len(), 4);
        let machines = [fleet.machine("alpha"), fleet.machine("beta")];
        let running: Vec<_> = machines
            .iter()
            .map(|machine| {
                let args = ["fleet", "recover", "--all", "--apply", "--json"];
                let mut command = machine.command(&args);
                command.stdout(std::process::Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let mut names: Vec<String> = Vec::new();
        for child in running {
            let output = child.wait_with_output().unwrap();
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(answer["ok"], true, "{answer}");
            let found = answer["projects"].as_array().unwrap().clone();
            names.extend(found.iter().map(|one| one["name"].as_str().unwrap().to_owned()));
        }
        names.sort();
        assert_eq!(names, ["p0", "p1", "p2", "p3"]);
        let pushes = "SELECT count(*) FROM project_push WHERE host <> 'gone'";
        assert_eq!(fleet.query(pushes).trim(), "4");
    });
}

#[test]
fn without_the_database_everything_else_works_and_the_push_catches_up() {
    let Some(fleet) = Fleet::postgres() else { return };
    let alpha = fleet.machine("alpha");
    alpha.start("billing", 2);
    fleet.server().crash();
    alpha.ok_at("billing", &["step", "start", "1"]);
    alpha.ok_at("billing", &["step", "done", "1"]);
    let refused = alpha.at("billing", &["fleet", "push"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("cannot be reached"), "{}", refused.stderr);
    alpha.ok_at("billing", &["check"]);
    fleet.server().up();
    alpha.ok_at("billing", &["fleet", "push"]);
    let beta = fleet.machine("beta");
    beta.ok(&["fleet", "pull", "billing"]);
    assert_eq!(bytes(&beta.state("billing")), bytes(&alpha.state("billing")));
}
