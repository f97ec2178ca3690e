//! The statements that differ only in how the two databases spell a parameter and a time.

use super::database::{Filter, FilterColumn};

/// What PostgreSQL puts before the number of a parameter.
const DOLLAR: char = '$';

/// The machine that has the lease, or else the one that published last.
const MACHINE: &str = "coalesce(nullif(lease_host, ''), metadata ->> 'machine', '')";

/// How a database spells what the standard leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// The columns of a project, in the order in which both databases read them.
    pub(super) fn columns(self) -> String {
        let ms = |from: &str, to: &str| self.milliseconds(from, to);
        let now = self.now();
        let text = |column: &str| match self {
            Self::Sqlite => column.to_owned(),
            Self::Postgres => format!("{column}::text"),
        };
        format!(
            "project_id, name, status, current_task_id, current_agent_id, last_action, {}, \
             revision, history_length, history_chain, generation, {}, {}, lease_host, \
             lease_fence, {}",
            text("metadata"),
            ms("updated_at", now),
            ms("heard_at", now),
            ms(now, "lease_until"),
        )
    }

    /// A table by its name; PostgreSQL keeps ours in a schema of their own.
    pub(super) fn table(self, name: &str) -> String {
        match self {
            Self::Sqlite => name.to_owned(),
            Self::Postgres => format!("statedir.{name}"),
        }
    }

    /// The clock of the database.
    pub(super) fn now(self) -> &'static str {
        match self {
            Self::Sqlite => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            Self::Postgres => "now()",
        }
    }

    fn milliseconds(self, from: &str, to: &str) -> String {
        match self {
            Self::Sqlite => format!("({to}) - ({from})"),
            // As a floating-point number: `extract` would count in decimals, which takes longer.
            Self::Postgres => {
                format!("(date_part('epoch', ({to}) - ({from})) * 1000)::bigint")
            }
        }
    }

    fn parameter(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("?{number}"),
            Self::Postgres => format!("{DOLLAR}{number}::text"),
        }
    }

    fn number(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("CAST(?{number} AS INTEGER)"),
            Self::Postgres => format!("{DOLLAR}{number}::text::bigint"),
        }
    }

    /// Whether a lease is held: it has not run out, and was not written by a clock in the future.
    pub(super) fn is_held(self) -> String {
        let (now, longest) = (self.now(), super::LONGEST_LEASE.as_millis());
        let latest = match self {
            Self::Sqlite => format!("{now} + {longest}"),
            Self::Postgres => format!("{now} + interval '{longest} milliseconds'"),
        };
        format!("(lease_host <> '' AND lease_until > {now} AND lease_until <= {latest})")
    }

    /// The condition for a filter and its parameters, all of them texts, counted from `first`.
    pub(super) fn condition(self, filter: &Filter, first: usize) -> (String, Vec<String>) {
        let mut conditions = vec!["true".to_owned()];
        let mut parameters = Vec::new();
        let mut add = |value: String| {
            parameters.push(value);
            first + parameters.len() - 1
        };
        for (column, value) in &filter.equal {
            let column = match column {
                FilterColumn::Status => "status".to_owned(),
                FilterColumn::Machine => MACHINE.to_owned(),
                FilterColumn::Agent => "current_agent_id".to_owned(),
                FilterColumn::Metadata(key) => {
                    format!("metadata ->> {}", self.parameter(add(key.clone())))
                }
            };
            conditions.push(format!("({column}) = {}", self.parameter(add(value.clone()))));
        }
        if let Some(age) = filter.older_than {
            let found = self.milliseconds("updated_at", self.now());
            let least = self.number(add(age.as_millis().to_string()));
            conditions.push(format!("{found} >= {least}"));
        }
        if let Some(text) = &filter.text {
            let all = "lower(name || ' ' || coalesce(metadata ->> 'goal', '') || ' ' || \
                       coalesce(last_action, ''))";
            let wanted = self.parameter(add(text.to_lowercase()));
            conditions.push(match self {
                Self::Sqlite => format!("instr({all}, {wanted}) > 0"),
                Self::Postgres => format!("position({wanted} in {all}) > 0"),
            });
        }
        if filter.run_out {
            conditions.push(format!("NOT {}", self.is_held()));
        }
        (conditions.join(" AND "), parameters)
    }

    /// The projects that a filter means, and its parameters.
    pub(super) fn list(self, filter: &Filter) -> (String, Vec<String>) {
        self.selected(&self.columns(), filter)
    }

    fn selected(self, columns: &str, filter: &Filter) -> (String, Vec<String>) {
        let (condition, parameters) = self.condition(filter, 1);
        let limit = filter.limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
        let (table, order) = (self.table("project_state"), self.order());
        (format!("SELECT {columns} FROM {table} WHERE {condition} {order}{limit}"), parameters)
    }

    /// The same in short, as `row::summary` reads them.
    pub(super) fn summaries(self, filter: &Filter) -> (String, Vec<String>) {
        let text = |key: &str| match self {
            Self::Sqlite => format!("CAST(metadata ->> '{key}' AS TEXT)"),
            Self::Postgres => format!("metadata ->> '{key}'"),
        };
        let columns = format!(
            "name, status, current_task_id, lease_host, {}, {}, {}, {}, {}, {}, {}",
            self.milliseconds(self.now(), "lease_until"),
            self.milliseconds("heard_at", self.now()),
            self.milliseconds("updated_at", self.now()),
            text("goal"),
            text("steps_done"),
            text("steps"),
            text("open_reviews"),
        );
        self.selected(&columns, filter)
    }

    /// Failed projects first, then those that wait for a person, then those whose machine is silent.
    fn order(self) -> String {
        let reviews = match self {
            Self::Sqlite => "coalesce(metadata ->> 'open_reviews', 0) > 0",
            Self::Postgres => "coalesce(metadata ->> 'open_reviews', '0') <> '0'",
        };
        let silent = format!("(status = 'active' AND NOT {})", self.is_held());
        format!(
            "ORDER BY (status = 'failed') DESC, ({reviews}) DESC, {silent} DESC, updated_at DESC, name"
        )
    }

    /// The sums of all projects by one expression.
    pub(super) fn totals(self, by_template: bool) -> String {
        let group = match by_template {
            true => "coalesce(metadata ->> 'template', '')",
            false => MACHINE,
        };
        let sum = |key: &str| match self {
            Self::Sqlite => format!("CAST(coalesce(sum(metadata ->> '{key}'), 0) AS INTEGER)"),
            Self::Postgres => format!("coalesce(sum((metadata ->> '{key}')::numeric), 0)::bigint"),
        };
        let cost = match self {
            Self::Sqlite => "CAST(coalesce(sum(metadata ->> 'cost'), 0) AS REAL)".to_owned(),
            Self::Postgres => {
                "coalesce(sum((metadata ->> 'cost')::double precision), 0)::double precision"
                    .to_owned()
            }
        };
        let count = |status: &str| match self {
            Self::Sqlite => format!("CAST(coalesce(sum(status = '{status}'), 0) AS INTEGER)"),
            Self::Postgres => format!("count(*) FILTER (WHERE status = '{status}')"),
        };
        format!(
            "SELECT {group} AS kind, count(*), {}, {}, {}, {}, {cost}, {}, {} FROM {} \
             GROUP BY kind ORDER BY kind",
            count("completed"),
            count("failed"),
            sum("steps_done"),
            sum("steps"),
            sum("time_ms"),
            sum("recoveries"),
            self.table("project_state"),
        )
    }
}
