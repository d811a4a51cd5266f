import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { firstStep, type GraphStep, type StepConditions } from './graph.ts';

interface EmailCopy {
  subject: string;
  thread_reply: boolean;
  /** Whether one of its active variants has no subject. */
  variant_without: boolean;
}

/** How many steps a campaign has, and the ids of its email steps without a text. */
export async function stepsWithoutText(org: OrgScope, campaignId: string): Promise<{ count: number; empty: string[] }> {
  const [steps] = await org.sql<{ count: number; empty: string[] }>(
    `select count(*)::int as count,
       coalesce(array_agg(id order by position) filter (where kind = 'email' and trim(body_plain) = '' and trim(body_html) = ''), '{}') as empty
     from campaign_steps where organization_id = :org and campaign_id = :id`,
    { id: campaignId },
  );
  return steps!;
}

/**
 * Ids of the email steps that would leave without a subject: those that may begin a conversation, as no email comes
 * before them or as they do not reply to one. A reply takes the subject of its conversation.
 */
export async function stepsWithoutSubject(org: OrgScope, campaignId: string): Promise<string[]> {
  const rows = await org.sql<Columns<'campaign_steps', 'id' | 'position' | 'kind' | 'conditions'> & EmailCopy>(
    `select s.id, s.position, s.kind, s.conditions, s.subject, s.thread_reply,
       exists (select 1 from campaign_variants v where v.organization_id = :org and v.step_id = s.id and v.is_active and trim(v.subject) = '') as variant_without
     from campaign_steps s where s.organization_id = :org and s.campaign_id = :id`,
    { id: campaignId },
  );
  const steps = rows.map((row) => ({ ...row, conditions: row.conditions as unknown as StepConditions, action: null }));
  const opening = new Set(openingEmails(steps).map(({ id }) => id));
  return steps
    .filter(({ kind }) => kind === 'email')
    .filter(({ id, thread_reply }) => opening.has(id) || !thread_reply)
    .filter(({ subject, variant_without }) => subject.trim() === '' || variant_without)
    .map(({ id }) => id);
}

/** The email steps that a contact may meet before any other. */
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
