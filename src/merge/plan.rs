//! What follows from the merged steps of a plan: their numbers, the current step, the status.

use std::collections::HashSet;

use super::conflict::{Marker, Version};
use super::markdown::{MergedThing, OURS, THEIRS};
use super::step::{TitledLists, finish_step, title_dependencies};
use crate::domain::outline::{Outline, SectionRole, StepHeading, Thing, ThingId, ThingKind};
use crate::domain::plan::step::heading::{box_mark, renumber};
use crate::domain::{Plan, PlanRole, StepId, StepRole, Variables, Workflow, current_step_number};
use crate::text::markdown::Document;

/// The variables with `step_data` as the plan has it; as they were where they have none or where
/// either cannot be read.
pub(crate) fn copy_step_data(variables: Vec<u8>, plan: Vec<u8>) -> Vec<u8> {
    let copied = || {
        let plan = Plan::read(Document::from_bytes(plan).ok()?);
        let read = Variables::parse(variables.clone()).ok()?;
        let current: u32 = plan.metadata.current_step.as_deref()?.trim().parse().ok()?;
        read.current_step().and(read.total_steps())?;
        let puts = read.step_data(current, plan.steps.len());
        Some(read.put_all(&puts).ok()?.document.into_source().into_bytes())
    };
    copied().unwrap_or(variables)
}

/// The heading of a step that both sides have.
pub(super) fn merged_heading(
    base: Option<&Thing<'_>>,
    ours: &Thing<'_>,
    theirs: &Thing<'_>,
    title: &str,
) -> Option<StepHeading> {
    let (our, their) = (ours.any_step()?, theirs.any_step()?);
    let base = base.and_then(Thing::any_step);
    let number = match base {
        Some(base) if base.number == our.number => their.number,
        Some(base) if base.number == their.number => our.number,
        _ => our.number.max(their.number),
    };
    let id = our.id.as_ref().min(their.id.as_ref()).or(our.id.as_ref()).or(their.id.as_ref());
    let is_numbered = our.is_numbered || their.is_numbered;
    // The text of a box may begin with its number.
    let known = [(ours, our), (theirs, their)].into_iter().find(|(thing, _)| thing.value == title);
    let known = known.filter(|(thing, _)| thing.boxed.is_some());
    let title = known.map_or(title, |(_, step)| &step.title).to_owned();
    Some(StepHeading { number, is_numbered, id: id.cloned(), title })
}

/// Numbers steps and reviews anew and works out what follows from them.
pub(super) fn finish(
    root: &mut MergedThing,
    outlines: &[Outline<'_>; 3],
    titled: &TitledLists,
    workflow: &Workflow,
) {
    let in_line = outlines
        .iter()
        .all(|outline| outline.steps().zip(1..).all(|((_, step), number)| step.number == number));
    let mut last = 0;
    each_step(root, &mut |step| {
        let Some(mark) = &mut step.step else { return };
        if !mark.is_numbered || step.kind == ThingKind::Item {
            return;
        }
        let number = if in_line || mark.number <= last { last + 1 } else { mark.number };
        if mark.number != number || !step.prefix.contains(&number.to_string()) {
            renumber(&mut step.prefix, number);
        }
        (mark.number, last) = (number, number);
    });
    number_others(root);
    name_steps(root);
    name_reviews(root);
    let mut steps = Vec::new();
    each_step(root, &mut |step| steps.extend(step.step.clone()));
    let mut roles = Vec::new();
    each_step(root, &mut |step| {
        settle_box(step, workflow);
        let status = field(step, "status").map(|status| unquoted(&status.value));
        let number = step.step.as_ref().map_or(0, |mark| mark.number);
        let is_of_box = status.is_none_or(|status| Marker::read(status).is_some());
        let mark = box_role(step.kind, &step.prefix).filter(|_| is_of_box);
        let role = mark.or_else(|| workflow.role_of_status(status));
        roles.push((number, role));
        finish_step(step, outlines, role);
        title_dependencies(step, &steps, titled);
    });
    let reviews = find(root, &|thing| is_section_for(thing, SectionRole::Reviews));
    let waits =
        reviews.is_some_and(|all| all.children.iter().any(|one| one.prefix.contains("[ ]")));
    let Some(metadata) = find(root, &|thing| is_section_for(thing, SectionRole::Metadata)) else {
        return;
    };
    if outlines.iter().skip(1).any(|outline| follows_steps(outline, workflow))
        && let Some(current) = field_mut(metadata, "current_step")
    {
        current.value = current_step_number(&roles).to_string();
    }
    if let Some(status) = field_mut(metadata, "status")
        && workflow.plan_role(unquoted(&status.value)).is_none()
        && let Some(further) = further_status(outlines, workflow)
    {
        status.value = further;
    }
    if let Some(status) = field_mut(metadata, "status")
        && has_open_step(&roles)
        && workflow.plan_role(unquoted(&status.value)) == Some(PlanRole::Succeeded)
    {
        let active = outlines.iter().find_map(|outline| active_status(outline, workflow));
        // Nobody has seen it begun: a plan with one step ended while another was added.
        let begun = || workflow.plan_with_role(PlanRole::Active).to_owned();
        status.value = active.unwrap_or_else(begun);
    }
    // The last steps were finished on two sides, and neither saw the end of the plan.
    let was_open = |outline: &Outline<'_>| has_open_step(&step_roles(outline, workflow));
    let ends = !has_open_step(&roles) && outlines.iter().skip(1).all(was_open);
    if let Some(status) = field_mut(metadata, "status")
        && ends
        && !waits
        && workflow.auto_complete()
        && workflow.gates().is_empty()
        && workflow.plan_role(unquoted(&status.value)) == Some(PlanRole::Active)
    {
        let from = unquoted(&status.value).to_owned();
        let to = workflow.plan_towards(&from, PlanRole::Succeeded);
        if workflow.check_plan(&from, to).is_ok() {
            status.value = status.value.replacen(&from, to, 1);
        }
    }
    let status =
        field(metadata, "status").and_then(|status| workflow.plan_role(unquoted(&status.value)));
    if !matches!(status, Some(PlanRole::Succeeded | PlanRole::Failed)) {
        metadata.children.retain(|child| child.name.as_deref() != Some("completed_at"));
    }
}

fn has_open_step(roles: &[(u32, Option<StepRole>)]) -> bool {
    roles.iter().any(|(_, role)| !role.is_some_and(StepRole::is_finished))
}

/// The numbers of the steps with what their statuses mean.
fn step_roles(outline: &Outline<'_>, workflow: &Workflow) -> Vec<(u32, Option<StepRole>)> {
    let status =
        |step: ThingId| Some(outline.get(outline.field(step, "status")?).value.to_string());
    let role = |(id, step): (ThingId, &StepHeading)| {
        let status = status(id);
        let thing = outline.get(id);
        let mark = box_role(thing.kind, thing.prefix).filter(|_| status.is_none());
        let role = || workflow.role_of_status(status.as_deref().map(unquoted));
        (step.number, mark.or_else(role))
    };
    outline.all_steps().map(role).collect()
}

/// What the mark of a step that is a box means.
fn box_role(kind: ThingKind, prefix: &str) -> Option<StepRole> {
    let at = prefix.find('[').filter(|_| kind == ThingKind::Item)?;
    StepRole::of_box(box_mark(&prefix[at..])?.0)
}

/// A box that one side ticked while the other wrote a status: what is done is done, even if it was
/// only begun on the other side; what was given up there is a conflict.
fn settle_box(step: &mut MergedThing, workflow: &Workflow) {
    if box_role(step.kind, &step.prefix) != Some(StepRole::Done) {
        return;
    }
    let is_status = |child: &MergedThing| is_field(child, "status");
    let Some(at) = step.children.iter().position(is_status) else { return };
    let status = &mut step.children[at];
    let [_, ours, theirs] = status.sources.map(|source| source.is_some());
    if ours == theirs || Marker::read(&status.value).is_some() {
        return;
    }
    if workflow.role_of_status(Some(unquoted(&status.value))).is_some_and(is_begun) {
        step.children.remove(at);
        return;
    }
    let written = |is_there: bool| Version::of(is_there.then_some(status.value.as_str()));
    let marker = Marker { base: Version::Absent, ours: written(ours), theirs: written(theirs) };
    status.value = marker.write();
}

fn is_begun(role: StepRole) -> bool {
    matches!(role, StepRole::Open | StepRole::Active | StepRole::Waiting)
}

/// Steps without a number get the lowest that are free, as they will be read.
fn number_others(root: &mut MergedThing) {
    let mut taken = HashSet::new();
    each_step(root, &mut |step| {
        taken.extend(step.step.as_ref().filter(|mark| mark.is_numbered).map(|mark| mark.number));
    });
    let mut free = (1..=u32::MAX).filter(|number| !taken.contains(number));
    each_step(root, &mut |step| {
        if let Some(mark) = step.step.as_mut().filter(|mark| !mark.is_numbered) {
            mark.number = free.next().unwrap_or_default();
        }
    });
}

/// The ids of the merged steps with their numbers.
pub(super) fn numbers(root: &mut MergedThing) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    each_step(root, &mut |step| {
        let heading = step.step.as_ref();
        found.extend(heading.and_then(|step| Some((step.id.clone()?, step.number))));
    });
    found
}

/// Whether the current step is the one that follows from the steps.
fn follows_steps(outline: &Outline<'_>, workflow: &Workflow) -> bool {
    let current = metadata_field(outline, "current_step");
    current
        .is_some_and(|text| text == current_step_number(&step_roles(outline, workflow)).to_string())
}

/// The status of a plan that is being worked on, as written.
fn active_status(outline: &Outline<'_>, workflow: &Workflow) -> Option<String> {
    let status = metadata_field(outline, "status")?;
    (workflow.plan_role(unquoted(&status)) == Some(PlanRole::Active)).then_some(status)
}

/// Of two statuses that a plan got as its steps progressed, the further one; whether it is right
/// follows from the merged steps. A pause or a failure is somebody's decision.
fn further_status(outlines: &[Outline<'_>; 3], workflow: &Workflow) -> Option<String> {
    let ranked = |side: usize| {
        let status = metadata_field(&outlines[side], "status")?;
        let rank = match workflow.plan_role(unquoted(&status))? {
            PlanRole::Planning => 0,
            PlanRole::Active => 1,
            PlanRole::Succeeded => 2,
            PlanRole::Paused | PlanRole::Failed => return None,
        };
        Some((rank, status))
    };
    let (ours, theirs) = (ranked(OURS)?, ranked(THEIRS)?);
    (ours.0 != theirs.0).then_some(if ours.0 > theirs.0 { ours.1 } else { theirs.1 })
}

fn metadata_field(outline: &Outline<'_>, name: &str) -> Option<String> {
    let field = outline.field(outline.metadata()?, name)?;
    Some(outline.get(field).value.trim().to_owned())
}

fn unquoted(value: &str) -> &str {
    value.trim().trim_matches(['"', '`'])
}

/// Both sides may have given the same id to different new steps: the second gets another one.
fn name_steps(root: &mut MergedThing) {
    let mut all = HashSet::new();
    each_step(root, &mut |step| all.extend(step.step.as_ref().and_then(|mark| mark.id.clone())));
    let mut seen = HashSet::new();
    each_step(root, &mut |step| {
        let Some(mark) = &mut step.step else { return };
        let Some(id) = mark.id.clone() else { return };
        if seen.insert(id) {
            return;
        }
        // From the title alone, so that every merge of these sides gives the same id.
        let hash = mark.title.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let new = StepId::generate(hash, |text| all.contains(text)).to_string();
        all.insert(new.clone());
        seen.insert(new.clone());
        mark.id = Some(new.clone());
        if let Some(field) = field_mut(step, "id") {
            field.value = new;
        }
    });
}

/// Both sides may have opened a review of the same name: the second gets the next free one.
fn name_reviews(root: &mut MergedThing) {
    let Some(reviews) = find(root, &|thing| is_section_for(thing, SectionRole::Reviews)) else {
        return;
    };
    let number = |node: &MergedThing| -> Option<u64> {
        node.name.as_deref()?.strip_prefix('r')?.parse().ok()
    };
    let mut next = reviews.children.iter().filter_map(number).max().unwrap_or(0) + 1;
    let mut seen = HashSet::new();
    for review in &mut reviews.children {
        let Some(name) = review.name.clone().filter(|_| number(review).is_some()) else { continue };
        if seen.insert(name.clone()) {
            continue;
        }
        let new = format!("r{next}");
        if let Some(at) = review.prefix.rfind(&name) {
            review.prefix.replace_range(at..at + name.len(), &new);
            review.name = Some(new);
            next += 1;
        }
    }
}

fn each_step(node: &mut MergedThing, act: &mut dyn FnMut(&mut MergedThing)) {
    if node.step.is_some() {
        act(node);
    }
    let may_be_step = |child: &&mut MergedThing| {
        matches!(child.kind, ThingKind::Section(_)) || child.step.is_some()
    };
    node.children.iter_mut().filter(may_be_step).for_each(|child| each_step(child, act));
}

fn is_section_for(thing: &MergedThing, role: SectionRole) -> bool {
    matches!(thing.kind, ThingKind::Section(_) | ThingKind::Root) && thing.role == role
}

fn find<'w>(
    node: &'w mut MergedThing,
    wanted: &dyn Fn(&MergedThing) -> bool,
) -> Option<&'w mut MergedThing> {
    if wanted(node) {
        return Some(node);
    }
    node.children.iter_mut().find_map(|child| find(child, wanted))
}

fn is_field(thing: &MergedThing, name: &str) -> bool {
    thing.kind == ThingKind::Item && thing.name.as_deref() == Some(name)
}

fn field<'w>(thing: &'w MergedThing, name: &str) -> Option<&'w MergedThing> {
    thing.children.iter().find(|child| is_field(child, name))
}

fn field_mut<'w>(thing: &'w mut MergedThing, name: &str) -> Option<&'w mut MergedThing> {
    thing.children.iter_mut().find(|child| is_field(child, name))
}
