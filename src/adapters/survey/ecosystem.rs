//! What a file is, by its name: program text, test, configuration.

use std::path::Path;

/// The sort of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Source(&'static str),
    Test(&'static str),
    Config,
    Other,
}

/// The sort of a file, from its path below the project.
pub(super) fn sort(path: &Path) -> Sort {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let (stem, ending) = lower.rsplit_once('.').unwrap_or((&lower, ""));
    if CONFIG.contains(&lower.as_str()) || is_config(&lower, ending) {
        return Sort::Config;
    }
    let Some(ecosystem) = ecosystem(ending) else { return Sort::Other };
    if is_test(path, &name, stem) { Sort::Test(ecosystem) } else { Sort::Source(ecosystem) }
}

/// The ecosystem of an ending.
fn ecosystem(ending: &str) -> Option<&'static str> {
    Some(match ending {
        "rs" => "rust",
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => "js",
        "py" | "pyi" | "pyx" => "python",
        "go" => "go",
        "java" | "kt" | "kts" | "scala" | "groovy" | "clj" => "jvm",
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "m" | "mm" => "c",
        "cs" | "fs" | "vb" => "dotnet",
        "rb" | "rake" => "ruby",
        "php" => "php",
        "swift" => "swift",
        "dart" => "dart",
        "ex" | "exs" | "erl" | "hrl" => "beam",
        "hs" | "ml" | "mli" | "elm" => "ml",
        "lua" => "lua",
        "r" | "jl" => "statistics",
        "sh" | "bash" | "zsh" | "fish" | "ps1" => "shell",
        "sql" => "sql",
        "zig" | "nim" | "d" => "systems",
        _ => return None,
    })
}

/// `test_x.py`, `x_test.go`, `x.spec.ts`, `XTest.java`, `x_spec.rb`, or a directory for tests.
fn is_test(path: &Path, name: &str, stem: &str) -> bool {
    let words: Vec<&str> = stem.split(['_', '-', '.']).collect();
    let word = |word: &&str| matches!(*word, "test" | "tests" | "spec" | "specs");
    let ends = |word: Option<&&str>| word.is_some_and(word_is_test);
    let camel = name.split('.').next().is_some_and(|stem| {
        ["Test", "Tests", "Spec", "IT"].iter().any(|tail| stem.ends_with(tail) && stem != *tail)
    });
    let below = path.parent().is_some_and(|dirs| {
        dirs.components().any(|dir| {
            let dir = dir.as_os_str().to_string_lossy().to_ascii_lowercase();
            matches!(dir.as_str(), "test" | "tests" | "spec" | "specs" | "__tests__")
        })
    });
    let first = words.first().is_some_and(word);
    first || ends(words.last()) || camel || below
}

fn word_is_test(word: &&str) -> bool {
    matches!(*word, "test" | "tests" | "spec" | "specs")
}

fn is_config(name: &str, ending: &str) -> bool {
    let rc = name.starts_with('.') && name.ends_with("rc");
    let settings = [".config.js", ".config.ts", ".config.mjs", ".config.cjs"];
    rc || settings.iter().any(|tail| name.ends_with(tail))
        || name.starts_with("tsconfig")
        || name.starts_with("dockerfile")
        || name.starts_with("requirements") && ending == "txt"
        || matches!(ending, "toml" | "ini" | "cfg" | "conf" | "csproj" | "sln" | "gradle" | "cabal")
        || matches!(ending, "yaml" | "yml" | "properties" | "cmake" | "gemspec" | "tf")
}

/// Manifests and settings whose ending does not tell.
const CONFIG: [&str; 26] = [
    "package.json", "package-lock.json", "composer.json", "pom.xml", "build.xml", "go.mod",
    "go.sum", "go.work", "cargo.lock", "makefile", "justfile", "rakefile", "gemfile",
    "gemfile.lock", "procfile", "cmakelists.txt", "pipfile", "setup.py", "setup.cfg", "deno.json",
    "jsconfig.json", ".editorconfig", ".gitignore", ".gitattributes", ".env", "mix.exs",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_sorted_by_their_names() {
        let table = [
            ("src/main.rs", Sort::Source("rust")),
            ("tests/suite/main.rs", Sort::Test("rust")),
            ("auth.py", Sort::Source("python")),
            ("test_auth.py", Sort::Test("python")),
            ("auth_test.go", Sort::Test("go")),
            ("web/login.spec.ts", Sort::Test("js")),
            ("src/LoginTest.java", Sort::Test("jvm")),
            ("src/Test.java", Sort::Test("jvm")),
            ("src/latest.py", Sort::Source("python")),
            ("src/contest.js", Sort::Source("js")),
            ("attestation/a.go", Sort::Source("go")),
            ("package.json", Sort::Config),
            ("requirements.txt", Sort::Config),
            ("pom.xml", Sort::Config),
            ("Cargo.toml", Sort::Config),
            ("vite.config.ts", Sort::Config),
            (".github/workflows/ci.yml", Sort::Config),
            ("README.md", Sort::Other),
            ("data.json", Sort::Other),
            ("noending", Sort::Other),
        ];
        for (path, wanted) in table {
            assert_eq!(sort(Path::new(path)), wanted, "{path}");
        }
    }
}
