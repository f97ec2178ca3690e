//! What is a secret and what is none, line by line. `¦` is taken out of every line, so that no key
//! stands whole in the source.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{
    mask::mask,
    matcher::{secrets_in, secrets_in_bytewise},
    secret_in,
};

/// Lines with a secret, and what is left of them.
const SECRETS: &[(&str, &str)] = &[
    // Keys with a prefix.
    ("key AK¦IAIOSFODNN7EXAMPLE here", "key [masked] here"),
    ("AS¦IAY34FZKBOKMUTVV7A", "[masked]"),
    ("gh¦p_16C7e42F292c6912E7710c838347Ae178B4a", "[masked]"),
    ("gh¦o_16C7e42F292c6912E7710c838347Ae178B4a,", "[masked],"),
    ("gh¦u_16C7e42F292c6912E7710c838347Ae178B4a", "[masked]"),
    ("(gh¦s_16C7e42F292c6912E7710c838347Ae178B4a)", "([masked])"),
    ("gh¦r_16C7e42F292c6912E7710c838347Ae178B4a", "[masked]"),
    ("github¦_pat_11AABBCCD0abcdEFGH1234_abcdefghijklmnop0123456789", "[masked]"),
    ("gl¦pat-a1B2c3D4e5F6g7H8i9J0", "[masked]"),
    ("`gl¦rt-a1B2c3D4e5F6g7H8i9J0`", "`[masked]`"),
    ("xo¦xb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", "[masked]"),
    ("xo¦xp-123456789012-1234567890123-abcdef0123456789", "[masked]"),
    ("xa¦pp-1-A012345-6789012345-abcdef0123456789", "[masked]"),
    (
        "post to https://hooks.¦slack.com/services/T0AB12CD3/B0EF45GH6/a1b2c3d4e5f6g7h8i9j0k1l2",
        "post to https://[masked]",
    ),
    ("sk¦_live_4eC39HqLyjWDarjtT1zdp7dc", "[masked]"),
    ("rk¦_live_4eC39HqLyjWDarjtT1zdp7dc", "[masked]"),
    ("wh¦sec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "[masked]"),
    ("AI¦zaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe", "[masked]"),
    ("ya¦29.a0AfH6SMBx7_3kQpLmN8oPqRsT", "[masked]"),
    ("GO¦CSPX-1mVwFTjGIXgs2BC2uHzksQi0HAK1", "[masked]"),
    ("sk¦-a1b2c3d4e5f6g7h8i9j0k1l2", "[masked]"),
    ("sk¦-proj-AbCd1234_efgh5678-ijkl9012MNOP", "[masked]"),
    ("sk¦-ant-api03-AbCd1234efGh5678ijKl9012mnOp-qrStAA", "[masked]"),
    ("hf¦_aBcDeFgHiJkLmNoPqRsTuVwXyZ12345678", "[masked]"),
    ("hf¦_aBcDeFgHiJkLmNoPqRsTuVwXyZabCdEfGh", "[masked]"),
    ("py¦pi-AgEIcHlwaS5vcmcCJDU3ZTk0N2YyLWI4ZTQtNGVlMy1hNDUx", "[masked]"),
    ("np¦m_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "[masked]"),
    ("SG¦.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr", "[masked]"),
    ("SK¦0123456789abcdef0123456789abcdef", "[masked]"),
    ("do¦p_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "[masked]"),
    ("sh¦pat_0123456789abcdef0123456789abcdef", "[masked]"),
    ("da¦pi0123456789abcdef0123456789abcdef", "[masked]"),
    ("hv¦s.CAESIJ1234abcdEFGH5678ijklMNOP", "[masked]"),
    ("dc¦kr_pat_aB1cD2eF3gH4iJ5kL6mN7oP8q", "[masked]"),
    ("gs¦k_aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4cD5", "[masked]"),
    ("110201543¦:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1", "[masked]"),
    (
        "https://api.telegram.org/bot110201543¦:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1/getMe",
        "https://api.telegram.org/bot[masked]/getMe",
    ),
    (
        "eyJ¦hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "[masked]",
    ),
    ("ein Schlüssel: „gh¦p_16C7e42F292c6912E7710c838347Ae178B4a“", "ein Schlüssel: „[masked]“"),
    ("line\\ngh¦p_16C7e42F292c6912E7710c838347Ae178B4a\\nend", "line\\n[masked]\\nend"),
    // Private keys.
    (
        "-----BEGIN¦ RSA PRIVATE KEY-----\nMIIE\n-----END¦ RSA PRIVATE KEY-----\nafter",
        "[masked]\nafter",
    ),
    ("-----BEGIN¦ OPENSSH PRIVATE KEY-----\nb3Bl\n-----END¦ OPENSSH PRIVATE KEY-----", "[masked]"),
    (
        "-----BEGIN¦ PGP PRIVATE KEY BLOCK-----\n\nlQOY\n-----END¦ PGP PRIVATE KEY BLOCK-----\nx",
        "[masked]\nx",
    ),
    (
        "{\"k\": \"-----BEGIN¦ PRIVATE KEY-----\\nMIIE\\n-----END¦ PRIVATE KEY-----\\n\"}",
        "{\"k\": \"[masked]\\n\"}",
    ),
    ("a -----BEGIN¦ EC PRIVATE KEY-----\nMHcC and no end", "a [masked]"),
    // Addresses.
    ("postgres://u:pw@h", "postgres://u:[masked]@h"),
    (
        "DATABASE_URL=postgres://app:s3cr3t@db:5432/x",
        "DATABASE_URL=postgres://app:[masked]@db:5432/x",
    ),
    ("redis://:hunter2@cache:6379/0", "redis://:[masked]@cache:6379/0"),
    ("https://me:p%40ss@example.com/a?b=c", "https://me:[masked]@example.com/a?b=c"),
    ("mongodb+srv://u:a@b@host/x", "mongodb+srv://u:[masked]@host/x"),
    (
        "git clone https://a1b2c3d4e5f6a7b8c9d0e1f2@git.example.org/x",
        "git clone https://[masked]@git.example.org/x",
    ),
    // Headers.
    ("Authorization: Bearer a1b2c3d4e5", "Authorization: Bearer [masked]"),
    ("authorization: bearer mF_9.B5f-4.1JqM", "authorization: bearer [masked]"),
    ("-H \"Authorization: Bearer mF_9.B5f-4.1JqM\" x", "-H \"Authorization: Bearer [masked]\" x"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [masked]"),
    (
        "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        "Proxy-Authorization: Basic [masked]",
    ),
    (
        "{\"Authorization\": \"token 8f14e45fceea167a5a36\"}",
        "{\"Authorization\": \"token [masked]\"}",
    ),
    ("sent Bearer 8f14e45fceea167a5a36dedd4bea2543.", "sent Bearer [masked]."),
    ("X-Api-Key: 8f14e45fceea167a", "X-Api-Key: [masked]"),
    ("Cookie: session=8f14e45fceea167a; theme=dark", "Cookie: session=[masked]; theme=dark"),
    (
        "Set-Cookie: sid=s%3Aa1b2c3d4e5f6; Path=/; HttpOnly",
        "Set-Cookie: sid=[masked]; Path=/; HttpOnly",
    ),
    ("curl -u admin:hunter2 https://example.com", "curl -u admin:[masked] https://example.com"),
    // Passwords, short ones too.
    ("password: hunter2", "password: [masked]"),
    ("password = hunter2", "password = [masked]"),
    ("password=hunter2 and more", "password=[masked] and more"),
    ("Password: P@ssw0rd!", "Password: [masked]"),
    ("- **password**: hunter2", "- **password**: [masked]"),
    ("- **password:** hunter2", "- **password:** [masked]"),
    ("`password`: `hunter2`", "`password`: `[masked]`"),
    ("DB_PASSWORD='tr0ub4dor&3'", "DB_PASSWORD='[masked]'"),
    ("PGPASSWORD=s3cret psql", "PGPASSWORD=[masked] psql"),
    ("pwd: 482913", "pwd: [masked]"),
    ("passwd=abc!def", "passwd=[masked]"),
    ("db_pass: w1nter", "db_pass: [masked]"),
    ("user=a&password=hunter2&x=1", "user=a&password=[masked]&x=1"),
    ("mysql --password hunter2 -h db", "mysql --password [masked] -h db"),
    ("mysql --password=hunter2 -h db", "mysql --password=[masked] -h db"),
    ("(password: hunter2)", "(password: [masked])"),
    ("The password: hunter2.", "The password: [masked]."),
    ("spring.datasource.password=hunter2", "spring.datasource.password=[masked]"),
    ("\"password\": \"hunter2\"", "\"password\": \"[masked]\""),
    ("\"password\": \"hun\\\"ter2\", \"a\": 1", "\"password\": \"[masked]\", \"a\": 1"),
    ("\"password\": \"hunter2\\\\\", \"a\": 1", "\"password\": \"[masked]\", \"a\": 1"),
    (
        "\"{\\\"password\\\": \\\"hunter2\\\", \\\"a\\\": 1}\"",
        "\"{\\\"password\\\": \\\"[masked]\\\", \\\"a\\\": 1}\"",
    ),
    (
        "\"{\\\"password\\\": \\\"hun\\\\\\\"ter2\\\", \\\"a\\\": 1}\"",
        "\"{\\\"password\\\": \\\"[masked]\\\", \\\"a\\\": 1}\"",
    ),
    ("password: \"hunter2 on staging\"", "password: \"[masked]\""),
    ("password: $2b$12$KIXQ4p", "password: [masked]"),
    // Other names.
    (
        "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "aws_secret_access_key=[masked]",
    ),
    (
        "aws_secret_access_key = \"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\"",
        "aws_secret_access_key = \"[masked]\"",
    ),
    (
        "AWS_SECRET_ACCESS_KEY: /JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AWS_SECRET_ACCESS_KEY: [masked]",
    ),
    (
        "awsSecretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'",
        "awsSecretAccessKey: '[masked]'",
    ),
    ("\"api_key\": \"a8f5f167f44f4964\"", "\"api_key\": \"[masked]\""),
    ("apiKey: a8f5f167f44f4964", "apiKey: [masked]"),
    ("api-key=a8f5f167f44f4964", "api-key=[masked]"),
    ("API key: a8f5f167f44f4964", "API key: [masked]"),
    ("client_secret=7Fjfp0ZBr1KtDRbnfVdmIw", "client_secret=[masked]"),
    ("\"clientSecret\" : \"7Fjfp0ZBr1KtDRbnfVdmIw\"", "\"clientSecret\" : \"[masked]\""),
    ("GITHUB_TOKEN=0123456789abcdef0123456789abcdef01234567", "GITHUB_TOKEN=[masked]"),
    ("access_token: 550e8400-e29b-41d4-a716-446655440000", "access_token: [masked]"),
    ("?access_token=a8f5f167f44f4964&page=2", "?access_token=[masked]&page=2"),
    ("?sv=2022-11-02&sig=mVx7aQ2%2FkY0b1Zt8nPq3%3D&se=1", "?sv=2022-11-02&sig=[masked]&se=1"),
    (
        "DefaultEndpointsProtocol=https;AccountKey=Zm9vYmFy8H3k/q2Lx0PzT7==;EndpointSuffix=x",
        "DefaultEndpointsProtocol=https;AccountKey=[masked];EndpointSuffix=x",
    ),
    ("SharedAccessKey=Zm9vYmFy8H3k/q2Lx0PzT7=", "SharedAccessKey=[masked]"),
    (
        "//registry.npmjs.org/:_authToken=a8f5f167-f44f-4964-9e1b-0c6d2f3a4b5c",
        "//registry.npmjs.org/:_authToken=[masked]",
    ),
    ("credentials: a8f5f167f44f4964", "credentials: [masked]"),
    ("secret => 'a8f5f167f44f4964'", "secret => '[masked]'"),
    ("SECRET_KEY := a8f5f167f44f4964", "SECRET_KEY := [masked]"),
    ("config[\"secret\"] = \"a8f5f167f44f4964\"", "config[\"secret\"] = \"[masked]\""),
    ("tool --api-key a8f5f167f44f4964 run", "tool --api-key [masked] run"),
    ("two: password=hunter2, token=a8f5f167f44f4964!", "two: password=[masked], token=[masked]"),
];

/// Lines without a secret.
const ORDINARY: &[&str] = &[
    "",
    "the password is stored in Vault",
    "the password is kept elsewhere; the token: see the runbook",
    "password: required",
    "password: string",
    "password: (8 to 64 characters)",
    "Password: at least 12 characters, 1 digit",
    "password: <password>",
    "token: <token>",
    "token: xxx",
    "token: xxxxxxxxxxxx1234",
    "api_key: XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXX0012",
    "password: ********",
    "password: ...",
    "password: changeme",
    "password: changeme-123",
    "password: your-password-1",
    "api_key: your-api-key",
    "api_key = YOUR_API_KEY_2024_HERE",
    "password: $DATABASE_PASSWORD",
    "password: ${DB_PASSWORD1}",
    "password: $(cat /run/secrets/db1)",
    "password: %DB_PASSWORD1%",
    "password: {{ vault.db1 }}",
    "- **api_key**: {{secrets.name}}",
    "password: os.environ[\"DB1_PASSWORD\"]",
    "password = process.env.DB1_PASSWORD",
    "password = getpass.getpass(\"Password 1\")",
    "password: config.db1.password",
    "password: /run/secrets/db1",
    "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db",
    "password: op://vault/db1/password",
    "password: env:DB1_PASSWORD",
    "password: Option<Vec<u8>>,",
    "token: &str16",
    "token: [u8; 32]",
    "password VARCHAR(255), password: varchar(255)",
    "password: sha256",
    "token: oauth2",
    "secret: base64",
    "\"secret\": \"see the vault\"",
    "secret: my-app-secret-v2",
    "secretName: db-credentials-2024",
    "token: next-page-12",
    "next_page_token: a8f5f167f44f4964",
    "progressToken: 8f14e45fceea167a",
    "max_tokens: 4096",
    "tokens: 123456789012",
    "token_count=1234567890",
    "password_hash_rounds: 12",
    "password_file: /etc/db1",
    "token: 2026-11-16T08:00:00Z",
    "request token: 550e8400-e29b-41d4-a716-446655440000",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "secret: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "execution_id: exec_20261116T080000Z_9f8e7d6c",
    "task-20 and risk-2024-report",
    "sk-learn-0-24-2-tutorial-notebook",
    "disk-a1b2c3d4e5f6g7h8i9j0k1l2m3",
    "key-value-store-2024-11-16-backup-01",
    "npm_config_registry_2_cache_2",
    "pypi-publish-2024-workflow-for-release-1-2-3",
    "SG.example.com is a host in Singapore, 2024",
    "gl¦pat-xxxxxxxxxxxxxxxxxxxx",
    "AK¦IAXXXXXXXXXXXXXXXX",
    "gh¦p_000000000000000000000000000000000000",
    "sk¦-your-openai-key-goes-here-123",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer token",
    "Authorization: required for 12 endpoints",
    "Basic authentication and Bearer authentication",
    "the Bearer ImplementationOfTokens",
    "Cookie: theme=dark; lang=en",
    "Set-Cookie: theme=dark; Path=/; Max-Age=31536000",
    "cookie: the browser keeps 12 of them",
    "https://example.com:8080/a@b",
    "https://user@example.com/x",
    "postgres://u:${DB_PASSWORD}@h/x",
    "postgres://u:<password>@h/x",
    "postgres://u:****@h/x",
    "git@github.com:owner/repo.git",
    "see token::Kind1234567890 and Secret::new(a1b2c3)",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN PGP PUBLIC KEY BLOCK-----",
    "12:AM is a time, 12345678:90 is not",
    "password=[masked]",
    "{\"password\": \"[masked]\"}",
    "compass: 123456a, bypass: 12ab34",
    "curl -u admin:$PASSWORD https://example.com",
    "docker run -u 1000:1000 image",
    "tool --password-file a8f5f167f44f4964",
    "tool --token $TOKEN",
];

fn joined(line: &str) -> String {
    line.replace('¦', "")
}

#[test]
fn every_line_is_masked_as_the_table_says_and_ordinary_lines_stay() {
    assert!(SECRETS.len() + ORDINARY.len() >= 200);
    let mut wrong = Vec::new();
    let ordinary = ORDINARY.iter().map(|line| (*line, *line));
    for (line, expected) in SECRETS.iter().copied().chain(ordinary) {
        let (line, expected) = (joined(line), joined(expected));
        let masked = mask(&line);
        if masked != expected {
            wrong.push(format!("{line}\n  is {masked}\n  not {expected}"));
        }
        if mask(&masked) != masked {
            wrong.push(format!("{line}\n  twice: {}", mask(&masked)));
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_first_secret_of_a_line_is_the_one_that_stands_first() {
    let github = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let line = format!("use password=hunter2hunter2 and token {github}");
    assert_eq!(secret_in(&line), Some((13, "a secret")));
    assert_eq!(secret_in(&github), Some((0, "a GitHub token")));
}

#[test]
fn a_long_line_of_beginnings_takes_time_by_its_length() {
    let one = |piece: &str| piece.repeat((1 << 17) / piece.len());
    let begin = ["-----BEGIN", " PRIVATE KEY-----"].concat();
    let end = ["-----END", " "].concat();
    let mut texts: Vec<String> = [
        "sk-", "a-", "password=", "password=\"", "password='x ", "password=\\\\\\\"", "://a:",
        "a://", "cookie=a=b;", "cookie:", "Bearer ", "--password ", "-u a:", ":A", "eyJ.",
        "token:\\\"x\\", "password=&a", "password: ", "é=", "=", "xxxx", "Authorization: ",
    ]
    .iter()
    .map(|piece| one(piece))
    .collect();
    texts.push(format!("{}{}", "password=".repeat(6_000), ".".repeat(60_000)));
    texts.push(format!("{}{}", "password=".repeat(6_000), ")".repeat(60_000)));
    texts.push(one(&begin));
    texts.push(one(&format!("{begin}\n")));
    texts.push(format!("{begin}{}", one(&end)));
    for text in texts {
        let start = Instant::now();
        let masked = mask(&text).len();
        let took = start.elapsed();
        // Quadratic time would take minutes.
        assert!(took < Duration::from_secs(15), "{}…: {took:?}, {masked}", &text[..9]);
    }
}

proptest! {
    /// Words that cannot be secrets are passed over, and no secret with them.
    #[test]
    fn what_is_passed_over_holds_no_secret(
        parts in prop::collection::vec((0..SECRETS.len(), "[ -~]{0,12}|\\\\n|b[ea]", 0usize..40), 1..5)
    ) {
        let line: String = parts
            .iter()
            .map(|(at, between, from)| {
                let secret = SECRETS[*at].0.replace('¦', "");
                format!("{between}{}", secret.get(*from..).unwrap_or(&secret))
            })
            .collect();
        prop_assert_eq!(secrets_in(&line), secrets_in_bytewise(&line), "{}", line);
    }
}
