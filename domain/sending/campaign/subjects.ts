import { firstStep, toGraphStep, type GraphStep } from './graph.ts';
import type { Written } from './written.ts';

/** Returns the ids of the email steps without a text. */
export function stepsWithoutText({ steps }: Written): string[] {
  return steps
    .filter(({ kind, body_plain: plain, body_html: html }) => kind === 'email' && isBlank(plain) && isBlank(html))
    .map(({ id }) => id);
}

/**
 * Returns the ids of email steps that would be sent without a subject. Such a step may begin a conversation, because no
 * email precedes it or because it is not a reply. A reply gets the subject of its conversation.
 */
export function stepsWithoutSubject({ steps, variants }: Written): string[] {
  const opening = new Set(openingEmails(steps.map(toGraphStep)).map(({ id }) => id));
  const lacking = new Set(variants.filter(({ subject }) => isBlank(subject)).map(({ step_id: of }) => of));
  return steps
    .filter(({ kind }) => kind === 'email')
    .filter(({ id, thread_reply }) => opening.has(id) || !thread_reply)
    .filter(({ id, subject }) => isBlank(subject) || lacking.has(id))
    .map(({ id }) => id);
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Returns the email steps that a contact may reach before any other email step. */
function openingEmails<S extends GraphStep>(steps: readonly S[]): S[] {
  const found = new Map<string, S>();
  const open = [firstStep(steps)].filter((step) => step !== null);
  for (let step = open.pop(); step; step = open.pop()) {
    if (found.has(step.id)) continue;
    found.set(step.id, step);
    if (step.kind === 'email') continue;
    for (const { to } of step.conditions.branches ?? []) open.push(...steps.filter(({ id }) => id === to));
  }
  return [...found.values()].filter(({ kind }) => kind === 'email');
}
