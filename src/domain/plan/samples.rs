//! Plans and edits for tests.

use proptest::prelude::*;

use super::Plan;
use crate::text::markdown::{Document, Edited, ItemId, SectionId};

/// Plans of every kind; the first is one as the program writes it.
pub(super) const PLANS: [&str; 6] = [
    "# Execution Plan: Ship\n\n## Metadata\n- **execution_id**: exec_1\n- **goal**: Ship it\n- **status**: RUNNING\n\
     - **current_step**: 2\n\n## Steps\n\n### Step 1: Collect ✓\n- **status**: COMPLETED\n\
     - **inputs**:\n  - source: {{vars.a}}\n- **expected_outputs**:\n  - rows: number\n\
     - **estimated_cost**: $0.02\n- **result**: rows=42\n- **owner**: Ada\n\
     - **id**: dww3 · attempt 1 · root@vm (session s1) since 2026-11-17T07:51:43Z\n\n\
     ### Step 2: Write \\*it\\*\nText of it.\n\n- **status**: PENDING\n- **depends_on**: 1 Collect\n- **id**: k3f9\n\n\
     #### Why\nBecause.\n\n### Step 3: Send\n- **status**: PENDING\n- **depends_on**: k3f9, 1\n- **id**: m2b7\n\n\
     ## Reviews\n\n- [ ] r1: Is it good?\n",
    "# Plan\n\n**Goal:** x\n\n## Step 2\nStatus: done\n\n### Step 3\n### Step 2.1: Half\n",
    "# Plan\n- **status**: PLANNING\n\n## Steps\n- [ ] Send\n  - id: k3f9\n- [x] Call\n",
    "# Plan\n- **status**: PLANNING\n\n## Steps\n### Phase 1\n#### Tell finance\n- **depends_on**: 2 Gone\n#### Step 1: a\n",
    "---\na: 1\n---\n# Plan\r\n- **status**: PLANNING\r\n\r\n## Steps\r\n### ✅ Step 7: Ship\r\n- **attempts**: 2\r\n- **claimed_by**: ada\r\n- **failures**: 1\r\n",
    "# Plan\n- **status**: PLANNING\n\nA setext\n---\n\n### Step 1: `code` &amp; more\n```\n### Step 2: x\n```\n",
];

/// All that a plan says.
pub(super) fn all_of(plan: &Plan) -> String {
    let Plan { title, metadata, steps, reviews, problems, document } = plan;
    let sections: Vec<_> = document.sections().map(|id| document.section(id)).collect();
    format!("{title}\n{metadata:#?}\n{steps:#?}\n{reviews:#?}\n{problems:#?}\n{sections:#?}")
}

fn line() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "## Steps\n",
        "### Step 1: a\n",
        "### Step 2: b ✓\n",
        "### Step 3\n",
        "## Step 4: d\n",
        "### Tell\n",
        "### Phase 1\n",
        "#### Step 5: e\n",
        "#### Why\n",
        "## Metadata\n",
        "# Plan\n",
        "## Reviews\n",
        "- **status**: PENDING\n",
        "- **status**: done\n",
        "- **id**: k3f9\n",
        "- **id**: m2b7 · attempt 2\n",
        "- **depends_on**: 1 a\n",
        "- **depends_on**: 2 Gone, k3f9\n",
        "- **depends_on**: what\n",
        "- [ ] box\n",
        "- [x] r1: fine?\n",
        "  - rows: 1\n",
        "- **inputs**:\n",
        "Status: done\n",
        "**Goal:** x\n",
        "text\n",
        "\n",
        "```\n",
        "[a]: b\n",
        "- **attempts**: 3\n",
        "- **failures**: x\n",
        "### 6. Number\n",
    ]);
    fixed.prop_map(str::to_owned)
}

pub(super) fn any_plan() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(line(), 0..24).prop_map(|lines| lines.concat());
    let usual = prop::collection::vec(line(), 0..3).prop_map(|lines| {
        let head =
            "# Plan\n- **status**: PLANNING\n\n## Steps\n### Step 1: a\n- **status**: PENDING\n";
        format!(
            "{head}{}\n### Step 2: b\n- **depends_on**: 1 a\n\n## Notes\ntext\n",
            lines.concat()
        )
    });
    prop_oneof![lines, usual, prop::sample::select(PLANS.to_vec()).prop_map(str::to_owned)]
}

/// Steps that are added, also ones that others already wait for or that could be taken for another.
const NEW_STEPS: [(&str, &str); 7] = [
    ("Step 9: Gone", "- **status**: PENDING\n- **id**: g7n2\n"),
    ("Step 8: a", "- **status**: PENDING\n- **depends_on**: 1 a, 9 Gone\n- **id**: h4k8\n"),
    ("Step 2: b", "- **id**: k3f9\n"),
    ("Step 7: none", "- **depends_on**: none\n"),
    ("Step 6", "text\n"),
    ("Tell", "- **status**: PENDING\n"),
    ("Phase 2", ""),
];

/// An edit of some section or item.
#[derive(Clone, Debug)]
pub(super) struct AnyEdit {
    operation: usize,
    at: prop::sample::Index,
    text: String,
}

pub(super) fn any_edit() -> impl Strategy<Value = AnyEdit> {
    let text = prop_oneof![
        line(),
        "[a-z0-9 :]{0,6}",
        Just("Step 2: b".to_owned()),
        Just("1 a".to_owned())
    ];
    (0..9_usize, any::<prop::sample::Index>(), text).prop_map(|(operation, at, text)| AnyEdit {
        operation,
        at,
        text,
    })
}

impl AnyEdit {
    /// The edit of that document, if it can be made.
    pub(super) fn make(&self, document: &Document) -> Option<Edited> {
        let sections: Vec<SectionId> = document.sections().collect();
        let section = *self.at.get(&sections);
        let items: Vec<ItemId> =
            sections.iter().flat_map(|section| document.items(*section)).copied().collect();
        let item = if items.is_empty() { None } else { Some(*self.at.get(&items)) };
        let mut edit = document.edit();
        let word = self.text.trim();
        let steps = || document.section_titled("Steps").unwrap_or(section);
        match (self.operation, item) {
            (0 | 1, Some(item)) => edit.set_value(item, word),
            (2, Some(item)) => edit.remove_item(item),
            (3, _) => edit.insert_field(section, None, "status", word),
            (4, _) => edit.append_text(section, &self.text),
            (5, _) => edit.set_title(section, word.trim_start_matches(['#', ' '])),
            (6, _) => edit.append_checkbox(section, false, word),
            (7, _) => {
                let below: Vec<_> = document.children(steps()).collect();
                let after = (!below.is_empty()).then(|| *self.at.get(&below));
                let (title, body) = NEW_STEPS[self.at.index(NEW_STEPS.len())];
                edit.insert_section(steps(), after, 3, title, body)
            }
            _ => edit.insert_section(
                section,
                None,
                4,
                word.trim_start_matches(['#', ' ']),
                "- **a**: 1\n",
            ),
        };
        edit.finish().ok()
    }
}
