//! The statements that differ only in how the two databases spell a parameter and a time.

use super::project::{Filter, FilterColumn};

/// The machine that has the lease, or else the one that published last.
const MACHINE: &str = "coalesce(nullif(lease_host, ''), metadata ->> 'machine', '')";

/// How a database spells what the standard leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// The columns of a project, in the order in which both databases read them.
    pub(super) fn columns(self) -> String {
        let ms = |from: &str, to: &str| self.milliseconds(from, to);
        let now = self.now();
        format!(
            "project_id, name, status, current_task_id, current_agent_id, last_action, {}, \
             revision, history_length, history_chain, generation, {}, {}, lease_host, \
             lease_fence, {}",
            self.text("metadata"),
            ms("updated_at", now),
            ms("heard_at", now),
            ms(now, "lease_until"),
        )
    }

    /// A document as text.
    pub(super) fn text(self, column: &str) -> String {
        match self {
            Self::Sqlite => column.to_owned(),
            Self::Postgres => format!("{column}::text"),
        }
    }

    /// The project of an id.
    pub(super) fn with_id(self, columns: &str) -> String {
        format!("SELECT {columns} FROM {} WHERE project_id = ?1", self.table("project_state"))
    }

    /// The project of a name or an id; a name wins.
    pub(super) fn named(self, columns: &str) -> String {
        format!(
            "SELECT {columns} FROM {} WHERE name = ?1 OR project_id = ?1 \
             ORDER BY name <> ?1 LIMIT 1",
            self.table("project_state")
        )
    }

    /// The same with its files: one statement, so that all of it is of one moment.
    pub(super) fn with_files(self) -> String {
        format!(
            "SELECT p.*, f.name, f.content FROM ({}) AS p LEFT JOIN {} AS f \
             ON f.project_id = p.project_id ORDER BY f.name",
            self.named(&self.columns()),
            self.table("project_file")
        )
    }

    /// Adds a project, unless its id or its name is known.
    pub(super) fn insert(self) -> String {
        let (table, now, until) = (self.table("project_state"), self.now(), self.later(4));
        format!(
            "INSERT INTO {table} VALUES (?1, ?2, 'active', NULL, NULL, NULL, '{{}}', '{{}}', '', 0, \
             '', 0, {now}, {now}, ?3, 1, {until}) ON CONFLICT DO NOTHING"
        )
    }

    /// Renews the lease that a machine has.
    pub(super) fn renew(self) -> String {
        self.lease(&format!("lease_until = {}, heard_at = {}", self.later(4), self.now()))
    }

    /// Releases the lease that a machine has.
    pub(super) fn release(self) -> String {
        let long_ago = if self == Self::Sqlite { "0" } else { "to_timestamp(0)" };
        self.lease(&format!("lease_until = {long_ago}, lease_host = ''"))
    }

    fn lease(self, change: &str) -> String {
        format!(
            "UPDATE {} SET {change} WHERE project_id = ?1 AND lease_host = ?2 AND lease_fence = ?3 \
             RETURNING project_id",
            self.table("project_state")
        )
    }

    /// A range of a history.
    pub(super) fn range(self) -> String {
        format!(
            "SELECT start, content, chain FROM {} \
             WHERE project_id = ?1 AND generation = ?2 AND start = ?3",
            self.table("project_history")
        )
    }

    /// Gives the lease of a project to a machine, with a new name if there is one.
    pub(super) fn take(self, force: bool) -> String {
        let free = match force {
            true => "true".to_owned(),
            false => format!("(lease_host = ?2 OR NOT {})", self.is_held()),
        };
        format!(
            "UPDATE {} SET lease_fence = lease_fence + 1, lease_host = ?2, lease_until = {}, \
             heard_at = {}, name = coalesce(?4, name) WHERE project_id = ?1 AND {free} \
             RETURNING {}",
            self.table("project_state"),
            self.later(3),
            self.now(),
            self.columns()
        )
    }

    /// Gives the lease of a free project to a machine; the filter's parameters follow these two.
    pub(super) fn claim_next(self, filter: &Filter) -> (String, Vec<String>) {
        let (condition, parameters) = self.condition(filter, 3);
        // Those that another worker is about to take are skipped, so that nobody waits.
        let others = match self {
            Self::Sqlite => "",
            Self::Postgres => "FOR UPDATE SKIP LOCKED",
        };
        let table = self.table("project_state");
        let update = format!(
            "UPDATE {table} SET lease_fence = lease_fence + 1, lease_host = ?1, \
             lease_until = {}, heard_at = {} WHERE project_id = (SELECT project_id FROM {table} \
             WHERE {condition} AND NOT {} ORDER BY updated_at LIMIT 1 {others}) RETURNING {}",
            self.later(2),
            self.now(),
            self.is_held(),
            self.columns()
        );
        (update, parameters)
    }

    /// A table by its name; PostgreSQL keeps ours in a schema of their own.
    fn table(self, name: &str) -> String {
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

    /// The moment that is as many milliseconds from now as a parameter says.
    fn later(self, parameter: usize) -> String {
        match self {
            Self::Sqlite => format!("{} + ?{parameter}", self.now()),
            Self::Postgres => format!("now() + ?{parameter} * interval '1 millisecond'"),
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
            Self::Postgres => format!("?{number}::text"),
        }
    }

    fn number(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("CAST(?{number} AS INTEGER)"),
            Self::Postgres => format!("?{number}::text::bigint"),
        }
    }

    /// Whether a lease is held: it has not run out, and was not written by a clock in the future.
    fn is_held(self) -> String {
        let (now, longest) = (self.now(), super::LONGEST_LEASE.as_millis());
        let latest = match self {
            Self::Sqlite => format!("{now} + {longest}"),
            Self::Postgres => format!("{now} + interval '{longest} milliseconds'"),
        };
        format!("(lease_host <> '' AND lease_until > {now} AND lease_until <= {latest})")
    }

    /// The condition for a filter and its parameters, all of them texts, counted from `first`.
    fn condition(self, filter: &Filter, first: usize) -> (String, Vec<String>) {
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
