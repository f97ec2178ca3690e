//! Patterns of secrets as data: keys with a known prefix, and names that are followed by a secret.

/// Which characters the part after a prefix is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Digits and `a` to `f`.
    Hex,
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// Letters, digits, `_`, `-`, `.`, `/`, `+`, `=` and `%`.
    Wide,
}

impl Alphabet {
    /// How many there are.
    pub(super) const COUNT: usize = 5;

    pub(super) fn has(self, byte: u8) -> bool {
        if self == Self::Hex {
            return matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        }
        byte.is_ascii_alphanumeric()
            || match self {
                Self::Hex | Self::Alnum => false,
                Self::Word => matches!(byte, b'_' | b'-'),
                Self::Dotted => matches!(byte, b'_' | b'-' | b'.'),
                Self::Wide => matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'=' | b'%'),
            }
    }
}

/// A key with a known prefix.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyPattern {
    pub(super) prefix: &'static str,
    /// What follows the prefix.
    pub(super) body: Alphabet,
    /// The least and the greatest length of the body.
    pub(super) length: (usize, usize),
    pub(super) what: &'static str,
}

/// The least length of a key, prefix and all.
pub(super) const SHORTEST_KEY: usize = 20;

const ANY: usize = usize::MAX;

const fn key(prefix: &'static str, body: Alphabet, least: usize, what: &'static str) -> KeyPattern {
    KeyPattern { prefix, body, length: (least, ANY), what }
}

const fn exact(
    prefix: &'static str,
    body: Alphabet,
    length: usize,
    what: &'static str,
) -> KeyPattern {
    KeyPattern { prefix, body, length: (length, length), what }
}

use Alphabet::{Alnum, Dotted, Hex, Wide, Word};

/// The first that matches names the key, so a longer prefix is before a shorter one.
pub(super) const KEYS: &[KeyPattern] = &[
    // Clouds.
    key("AKIA", Alnum, 16, "an AWS access key"),
    key("ASIA", Alnum, 16, "an AWS access key"),
    key("ABIA", Alnum, 16, "an AWS access key"),
    key("ACCA", Alnum, 16, "an AWS access key"),
    key("AIza", Word, 35, "a Google API key"),
    key("ya29.", Dotted, 20, "a Google access token"),
    key("GOCSPX-", Word, 20, "a Google client secret"),
    key("LTAI", Alnum, 16, "an Alibaba access key"),
    key("dop_v1_", Alnum, 40, "a DigitalOcean token"),
    key("doo_v1_", Alnum, 40, "a DigitalOcean token"),
    key("dor_v1_", Alnum, 40, "a DigitalOcean token"),
    key("dapi", Hex, 32, "a Databricks token"),
    key("HRKU-", Word, 32, "a Heroku key"),
    key("tskey-", Word, 20, "a Tailscale key"),
    key("hvs.", Dotted, 20, "a Vault token"),
    key("hvb.", Dotted, 20, "a Vault token"),
    key("pul-", Alnum, 40, "a Pulumi token"),
    key("dp.pt.", Alnum, 30, "a Doppler token"),
    key("fm2_", Wide, 40, "a Fly token"),
    key("sbp_", Alnum, 40, "a Supabase token"),
    key("pscale_tkn_", Dotted, 30, "a PlanetScale token"),
    key("pscale_pw_", Dotted, 30, "a PlanetScale password"),
    key("AGE-SECRET-KEY-1", Alnum, 50, "an age key"),
    // Where code and packages live.
    key("github_pat_", Word, 29, "a GitHub token"),
    key("ghp_", Word, 32, "a GitHub token"),
    key("gho_", Word, 32, "a GitHub token"),
    key("ghu_", Word, 32, "a GitHub token"),
    key("ghs_", Word, 32, "a GitHub token"),
    key("ghr_", Word, 32, "a GitHub token"),
    key("glpat-", Dotted, 14, "a GitLab token"),
    key("gldt-", Word, 18, "a GitLab token"),
    key("glrt-", Word, 18, "a GitLab token"),
    key("glptt-", Word, 20, "a GitLab token"),
    key("glcbt-", Word, 18, "a GitLab token"),
    key("ATATT3", Wide, 40, "an Atlassian token"),
    key("ATBB", Alnum, 24, "a Bitbucket password"),
    key("npm_", Word, 32, "an npm token"),
    key("pypi-", Word, 32, "a PyPI token"),
    key("rubygems_", Alnum, 40, "a RubyGems key"),
    key("dckr_pat_", Word, 24, "a Docker token"),
    key("CCIPAT_", Word, 30, "a CircleCI token"),
    key("bkua_", Alnum, 32, "a Buildkite token"),
    key("sqp_", Alnum, 40, "a SonarQube token"),
    key("squ_", Alnum, 40, "a SonarQube token"),
    // Models.
    key("sk-ant-", Word, 20, "an Anthropic key"),
    key("sk-proj-", Word, 20, "an OpenAI key"),
    key("sk-or-", Word, 20, "an OpenRouter key"),
    key("sk-", Word, 21, "an API key"),
    key("hf_", Alnum, 30, "a Hugging Face token"),
    key("api_org_", Alnum, 30, "a Hugging Face token"),
    key("r8_", Alnum, 32, "a Replicate token"),
    key("gsk_", Alnum, 40, "a Groq key"),
    key("pplx-", Alnum, 40, "a Perplexity key"),
    key("xai-", Alnum, 40, "an xAI key"),
    // Money.
    key("sk_live_", Word, 16, "a Stripe key"),
    key("rk_live_", Word, 16, "a Stripe key"),
    key("sk_test_", Word, 16, "a Stripe key"),
    key("rk_test_", Word, 16, "a Stripe key"),
    key("whsec_", Wide, 24, "a webhook's secret"),
    key("shpat_", Alnum, 32, "a Shopify token"),
    key("shpca_", Alnum, 32, "a Shopify token"),
    key("shppa_", Alnum, 32, "a Shopify token"),
    key("shpss_", Alnum, 32, "a Shopify secret"),
    key("sq0atp-", Word, 20, "a Square token"),
    key("sq0csp-", Word, 20, "a Square secret"),
    // Messages and mail.
    key("xoxe.xox", Dotted, 24, "a Slack token"),
    key("xoxa-", Word, 19, "a Slack token"),
    key("xoxb-", Word, 19, "a Slack token"),
    key("xoxc-", Word, 19, "a Slack token"),
    key("xoxd-", Wide, 19, "a Slack token"),
    key("xoxe-", Word, 19, "a Slack token"),
    key("xoxo-", Word, 19, "a Slack token"),
    key("xoxp-", Word, 19, "a Slack token"),
    key("xoxr-", Word, 19, "a Slack token"),
    key("xoxs-", Word, 19, "a Slack token"),
    key("xapp-", Word, 19, "a Slack token"),
    key("hooks.slack.com/services/", Wide, 30, "a Slack webhook"),
    key("discord.com/api/webhooks/", Wide, 40, "a Discord webhook"),
    key("SG.", Dotted, 40, "a SendGrid key"),
    exact("SK", Hex, 32, "a Twilio key"),
    key("xkeysib-", Word, 40, "a Brevo key"),
    exact("key-", Hex, 32, "a Mailgun key"),
    // Tools.
    key("lin_api_", Alnum, 32, "a Linear key"),
    key("ntn_", Alnum, 40, "a Notion token"),
    key("PMAK-", Word, 40, "a Postman key"),
    key("NRAK-", Alnum, 24, "a New Relic key"),
    key("glsa_", Word, 32, "a Grafana token"),
    key("glc_", Wide, 40, "a Grafana token"),
    key("sntrys_", Wide, 40, "a Sentry token"),
    key("sntryu_", Alnum, 40, "a Sentry token"),
    key("figd_", Word, 30, "a Figma token"),
    key("ops_eyJ", Dotted, 60, "a 1Password token"),
    key("eyJhbGciOi", Dotted, 50, "a JSON web token"),
    key("eyJ", Dotted, 60, "a JSON web token"),
];

/// The kind of secret that a name announces; it decides which values count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretKind {
    /// People choose these: short ones count too.
    Password,
    /// Machines make these.
    Secret,
    /// As `Secret`, but the word has other meanings: a UUID is not a secret.
    Token,
    /// The value of an `Authorization` header.
    Authorization,
    /// The pairs of a cookie.
    Cookie,
}

/// What the name before a `:` or `=` ends with, in small letters; `_` stands for `-` and `.` too.
pub(super) const NAMES: &[(SecretKind, &[&str])] = &[
    (
        SecretKind::Password,
        &["password", "passwd", "passphrase", "passcode", "pwd", "_pass", "_pw"],
    ),
    (
        SecretKind::Secret,
        &[
            "secret", "secret_key", "secretkey", "secret key", "api_key", "apikey", "api key",
            "access_key", "accesskey", "access key", "account_key", "accountkey", "private_key",
            "privatekey", "signing_key", "encryption_key", "master_key", "auth_key",
            "subscription_key", "_authtoken", "_auth", "access_token", "accesstoken", "auth_token",
            "authtoken", "refresh_token", "credential", "credentials", "&sig", "?sig",
        ],
    ),
    (SecretKind::Secret, &["sharedaccesssignature"]),
    (SecretKind::Token, &["token"]),
    (SecretKind::Authorization, &["authorization"]),
    (SecretKind::Cookie, &["cookie"]),
];

/// Names that end like that of a secret but are harmless.
pub(super) const HARMLESS_NAMES: &[&str] = &[
    "page_token", "pagetoken", "next_token", "nexttoken", "progress_token", "progresstoken",
    "continuation_token", "continuationtoken", "sync_token", "synctoken", "cancellation_token",
    "public_access_key",
];

/// Words before a value in an `Authorization` header, and wherever headers are quoted.
pub(super) const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "apikey", "digest", "negotiate"];

/// A value that contains one of these words is a placeholder, not a secret.
pub(super) const PLACEHOLDERS: &[&str] = &[
    "your", "yours", "my", "example", "examples", "sample", "dummy", "fake", "placeholder",
    "changeme", "change", "changeit", "replace", "replaceme", "insert", "redacted", "masked",
    "hidden", "removed", "secret", "password", "todo", "tbd", "none", "null", "nil", "undefined",
    "empty", "unset", "required", "optional", "foo", "foobar", "foobarbaz", "yourpassword",
    "yourtoken", "yourapikey", "yoursecret", "mypassword", "mysecret", "mytoken",
];

/// Names of algorithms and types, which contain digits like keys do.
pub(super) const ALGORITHMS: &[&str] = &[
    "sha1", "sha224", "sha256", "sha384", "sha512", "sha3", "md5", "base32", "base64", "base64url",
    "oauth1", "oauth2", "oauth2_0", "argon2", "argon2i", "argon2id", "pbkdf2", "ed25519", "ed448",
    "x25519", "rs256", "hs256", "es256", "uuid4", "uuid7", "uuidv4", "uuidv7", "int32", "int64",
    "uint8", "uint32", "uint64", "uint256", "bytes32", "utf8", "aes128", "aes256", "rsa2048",
    "rsa4096", "x509", "pkcs12", "pkcs8", "nist800", "sha256sum", "i18n",
];

/// The beginnings of values that only refer to a secret.
pub(super) const REFERENCES: &[&str] = &[
    "env:", "env.", "env[", "env(", "vault:", "op:", "arn:", "ssm:", "ref:", "file:", "secret:",
    "secrets.", "secretref:", "keyring:", "sops:", "process.env", "os.environ", "os.getenv",
    "getenv", "import.meta", "config.", "config[", "settings.", "self.", "this.", "args.", "opts.",
    "options.", "params.", "request.", "req.", "ctx.", "var.", "local.", "data.", "module.",
    "sha1:", "sha256:", "sha512:", "!ref", "!vault", "!sub", "none", "null",
];
