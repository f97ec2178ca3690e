//! Publishing: one statement for what is usual, one transaction for a long history.

use tokio_postgres::types::{ToSql, Type};

use super::{ACCEPTED, CHANNEL, Postgres, number};
use crate::adapters::fleet::{
    FleetError,
    database::millis,
    project::{HistoryRange, Push, Ranges},
};

impl Postgres {
    /// One statement: what is accepted is published as a whole, in one round trip.
    pub(super) fn push_little(
        &self,
        push: &Push<'_>,
        ranges: &[HistoryRange],
    ) -> Result<(), FleetError> {
        let statement = format!(
            "WITH accepted AS (UPDATE statedir.project_state SET status = $5, \
             current_task_id = $6, current_agent_id = $7, last_action = $8, \
             metadata = $9::text::jsonb, document = $10::text::jsonb, revision = $11, \
             history_length = $12, history_chain = coalesce($13, history_chain), \
             updated_at = now(), heard_at = now(), \
             lease_until = now() + $14 * interval '1 millisecond' \
             WHERE {ACCEPTED} AND history_length = $15 RETURNING project_id, generation), \
             written AS (INSERT INTO statedir.project_file SELECT project_id, f.name, f.content \
             FROM accepted, unnest($16, $17) AS f(name, content) \
             ON CONFLICT (project_id, name) DO UPDATE SET content = excluded.content), \
             removed AS (DELETE FROM statedir.project_file USING accepted \
             WHERE project_file.project_id = accepted.project_id AND project_file.name = ANY($18)), \
             appended AS (INSERT INTO statedir.project_history \
             SELECT project_id, generation, $15, $19, $13 FROM accepted WHERE $13 IS NOT NULL), \
             noted AS (INSERT INTO statedir.project_push (project_id, fence, host, base, revision) \
             SELECT project_id, $2, $3, $4, $11 FROM accepted) \
             SELECT pg_notify('{CHANNEL}', left(project_id, 200)) FROM accepted"
        );
        let published = push.published;
        let (metadata, document) = (published.metadata.to_string(), published.document.to_string());
        let names: Vec<&str> = push.files.iter().map(|(name, _)| name.as_str()).collect();
        let contents: Vec<&[u8]> = push.files.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        let (chain, bytes) = match ranges.first() {
            Some(range) => (Some(range.chain.as_str()), range.bytes.as_slice()),
            None => (None, [].as_slice()),
        };
        let rows = self.query(
            &statement,
            &[
                (&push.id, Type::TEXT),
                (&push.fence, Type::INT8),
                (&push.host, Type::TEXT),
                (&push.base, Type::TEXT),
                (&published.status, Type::TEXT),
                (&published.current_task_id, Type::TEXT),
                (&published.current_agent_id, Type::TEXT),
                (&published.last_action, Type::TEXT),
                (&metadata, Type::TEXT),
                (&document, Type::TEXT),
                (&push.revision, Type::TEXT),
                (&number(push.history_length), Type::INT8),
                (&chain, Type::TEXT),
                (&millis(push.lease), Type::INT8),
                (&number(push.history_from), Type::INT8),
                (&names, Type::TEXT_ARRAY),
                (&contents, Type::BYTEA_ARRAY),
                (&push.removed, Type::TEXT_ARRAY),
                (&bytes, Type::BYTEA),
            ],
        )?;
        match rows.is_empty() {
            false => Ok(()),
            true => Err(self.not_accepted(push)),
        }
    }

    /// A long history, range by range in one transaction; the last statement is the same as ever.
    pub(super) fn push_much(
        &self,
        push: &Push<'_>,
        first: Vec<HistoryRange>,
        rest: &mut Ranges<'_>,
    ) -> Result<(), FleetError> {
        self.transact(|database| {
            let condition =
                if push.whole { String::new() } else { " AND history_length = $5".to_owned() };
            let lock = format!(
                "SELECT generation FROM statedir.project_state WHERE {ACCEPTED}{condition} FOR UPDATE"
            );
            let from = number(push.history_from);
            let mut parameters: Vec<(&(dyn ToSql + Sync), Type)> = vec![
                (&push.id, Type::TEXT),
                (&push.fence, Type::INT8),
                (&push.host, Type::TEXT),
                (&push.base, Type::TEXT),
            ];
            if !push.whole {
                parameters.push((&from, Type::INT8));
            }
            let rows = database.query(&lock, &parameters)?;
            let Some(row) = rows.first() else { return Err(database.not_accepted(push)) };
            let generation = row.try_get::<_, i64>(0)? + i64::from(push.whole);
            if push.whole {
                let delete = "DELETE FROM statedir.project_history WHERE project_id = $1";
                database.query(delete, &[(&push.id, Type::TEXT)])?;
            }
            let mut chain = None;
            let mut length = push.history_from;
            for range in first.into_iter().map(Ok).chain(rest) {
                let range: HistoryRange = range?;
                let insert =
                    "INSERT INTO statedir.project_history VALUES ($1, $2, $3, $4, $5)";
                database.query(
                    insert,
                    &[
                        (&push.id, Type::TEXT),
                        (&generation, Type::INT8),
                        (&number(range.start), Type::INT8),
                        (&range.bytes, Type::BYTEA),
                        (&range.chain, Type::TEXT),
                    ],
                )?;
                length = range.start + range.bytes.len() as u64;
                chain = Some(range.chain);
            }
            let update = "UPDATE statedir.project_state SET generation = $2, history_length = $3, \
                          history_chain = coalesce($4, '') WHERE project_id = $1";
            database.query(
                update,
                &[
                    (&push.id, Type::TEXT),
                    (&generation, Type::INT8),
                    (&number(length), Type::INT8),
                    (&chain, Type::TEXT),
                ],
            )?;
            database.push_little(&Push { history_from: length, ..*push }, &[])
        })
    }
}
