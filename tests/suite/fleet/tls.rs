//! A server that asks for TLS and a password is used only if its certificate is right.

use std::{path::Path, process::Command};

use super::{Fleet, command_result};
use crate::needs;

fn openssl(dir: &Path, line: &str) {
    let ran =
        Command::new("openssl").args(line.split_whitespace()).current_dir(dir).output().unwrap();
    assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_server_with_a_certificate_is_verified_and_the_password_comes_from_where_psql_takes_it() {
    if !needs::program("openssl") {
        return;
    }
    let Some(fleet) = Fleet::postgres() else { return };
    let server = fleet.server();
    let dir = server.dir();
    for name in ["ca", "other"] {
        openssl(
            dir,
            &format!(
                "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem"
            ),
        );
    }
    std::fs::write(dir.join("names"), "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
        .unwrap();
    openssl(dir, "req -newkey rsa:2048 -nodes -subj /CN=db -keyout server.key -out server.csr");
    openssl(
        dir,
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    );
    fleet.query("ALTER ROLE worker PASSWORD 'hunter2-hunter2'");
    server.ask_for_tls();
    let alpha = fleet.machine("alpha");
    let status = |host: &str, query: &str, env: &[(&str, &str)]| {
        let url = format!("postgres://worker@{host}:{}/fleet?{query}", server.port);
        let mut command = alpha.command(&["fleet", "status"]);
        command_result(
            command.env("STATEDIR_FLEET", url).envs(env.iter().copied()).output().unwrap(),
        )
    };
    let root = |name: &str| format!("sslmode=verify-full&sslrootcert={}", dir.join(name).display());
    let password = [("PGPASSWORD", "hunter2-hunter2")];
    let fine = status("localhost", &root("ca.pem"), &password);
    assert_eq!(fine.code, 0, "{}", fine.stderr);
    assert!(!fine.stdout.contains("hunter2"), "{}", fine.stdout);
    for (host, query, env, why) in [
        ("localhost", root("other.pem"), &password[..], "invalid peer certificate"),
        ("localhost", "sslmode=require".to_owned(), &password, "invalid peer certificate"),
        ("127.0.0.1", root("ca.pem"), &password, "invalid peer certificate"),
        ("localhost", "sslmode=disable".to_owned(), &password, "no encryption"),
        ("localhost", root("ca.pem"), &[("PGPASSWORD", "wrong")], "password authentication failed"),
        ("localhost", root("ca.pem"), &[], "password missing"),
    ] {
        let refused = status(host, &query, env);
        assert_eq!(refused.code, 1, "{query}: {}", refused.stdout);
        assert!(refused.stderr.contains(why), "{query}: {}", refused.stderr);
    }
    // A file of passwords is used, unless others can read it.
    let file = alpha.dir().join(".pgpass");
    std::fs::write(&file, "localhost:*:fleet:worker:hunter2-hunter2\n").unwrap();
    for (mode, code) in [(0o600, 0), (0o644, 1)] {
        let mode: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&file, mode).unwrap();
        assert_eq!(status("localhost", &root("ca.pem"), &[]).code, code);
    }
}
