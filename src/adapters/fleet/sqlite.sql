CREATE TABLE statedir_schema (version INTEGER NOT NULL) STRICT;
CREATE TABLE project_state (
    project_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    current_task_id TEXT,
    current_agent_id TEXT,
    last_action TEXT,
    metadata TEXT NOT NULL,
    document TEXT NOT NULL,
    revision TEXT NOT NULL,
    history_length INTEGER NOT NULL,
    history_chain TEXT NOT NULL,
    generation INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    heard_at INTEGER NOT NULL,
    lease_host TEXT NOT NULL,
    lease_fence INTEGER NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT;
CREATE INDEX project_state_status ON project_state (status, updated_at);
CREATE TABLE project_file (
    project_id TEXT NOT NULL REFERENCES project_state ON DELETE CASCADE,
    name TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (project_id, name)
) STRICT;
CREATE TABLE project_history (
    project_id TEXT NOT NULL REFERENCES project_state ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    start INTEGER NOT NULL,
    content BLOB NOT NULL,
    chain TEXT NOT NULL,
    PRIMARY KEY (project_id, generation, start)
) STRICT;
CREATE TABLE project_push (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    host TEXT NOT NULL,
    base TEXT NOT NULL,
    revision TEXT NOT NULL,
    pushed_at INTEGER NOT NULL
) STRICT;
