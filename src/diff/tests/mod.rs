#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod boxes;
mod hostile;
mod markdown;
mod properties;
mod variables;

use super::{Difference, compare, summary};
use crate::domain::StateFile;

/// The differences of two texts, checked in both directions.
fn differences(file: StateFile, before: &str, after: &str) -> Vec<Difference> {
    compare(file, Some(before.as_bytes()), Some(after.as_bytes()))
}

/// The differences in words.
fn summarised(file: StateFile, before: &str, after: &str) -> Vec<String> {
    summary(&differences(file, before, after))
}

/// What a change replaced in a text that must contain it.
fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from:?} is not in {text}");
    text.replacen(from, to, 1)
}

const PLAN: &str = "\
# Execution Plan: Databases

## Metadata
- **execution_id**: exec_1
- **goal**: Compare three vector databases
- **status**: PLANNING
- **current_step**: 1

## Steps

### Step 1: Collect data
- **id**: k3f9
- **status**: PENDING
- **inputs**:
  - **query**: vector databases
- **attempts**: 0

### Step 2: Read papers
- **id**: b7xq
- **status**: PENDING

### Step 3: Write the report
- **id**: zz42
- **status**: PENDING
- **depends_on**: k3f9, b7xq
";

const CONSTRAINTS: &str = "\
# Execution Constraints: Databases

## Behavioral Modifiers
- **priority**: \"quality\"
- **max_cost_per_task**: 0.50

## Resource Constraints
- **max_web_requests**: 20

## Active Directives
- Ask before you delete
- For the next 1 step, be brief
- For the next 3 steps, be kind

## Adaptation Rules
- If 2+ consecutive steps fail → set human_review_trigger_level to \"low\"
- If execution time > 200s → set priority to \"speed_and_clarity\"

## Context-Aware Behaviors
- **legal_tasks**: require human review
";

const CONTEXT: &str = "\
# Context

## Knowledge

### Key Findings
- Qdrant is written in Rust
- Milvus needs etcd

### Decisions
We compare three.

We measure on one machine.
";
