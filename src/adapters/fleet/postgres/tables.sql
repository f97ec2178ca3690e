CREATE SCHEMA IF NOT EXISTS statedir;
CREATE TABLE statedir.statedir_schema (version BIGINT NOT NULL);
CREATE TABLE statedir.project_state (
    project_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    status VARCHAR(50) NOT NULL,
    current_task_id TEXT,
    current_agent_id TEXT,
    last_action TEXT,
    metadata JSONB NOT NULL,
    document JSONB NOT NULL,
    revision TEXT NOT NULL,
    history_length BIGINT NOT NULL,
    history_chain TEXT NOT NULL,
    generation BIGINT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    heard_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    lease_host TEXT NOT NULL,
    lease_fence BIGINT NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL
);
CREATE INDEX project_state_status ON statedir.project_state (status, updated_at);
CREATE TABLE statedir.project_file (
    project_id TEXT NOT NULL REFERENCES statedir.project_state ON DELETE CASCADE,
    name TEXT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (project_id, name)
);
CREATE TABLE statedir.project_history (
    project_id TEXT NOT NULL REFERENCES statedir.project_state ON DELETE CASCADE,
    generation BIGINT NOT NULL,
    start BIGINT NOT NULL,
    content BYTEA NOT NULL,
    chain TEXT NOT NULL,
    PRIMARY KEY (project_id, generation, start)
);
CREATE TABLE statedir.project_push (
    sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id TEXT NOT NULL,
    fence BIGINT NOT NULL,
    host TEXT NOT NULL,
    base TEXT NOT NULL,
    revision TEXT NOT NULL,
    pushed_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
