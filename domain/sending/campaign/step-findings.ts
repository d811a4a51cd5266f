import type { OrgScope } from '../../../db/tenancy.ts';
import { toFinding, type Finding, type Severity } from '../../../lib/finding.ts';
import { message, type Message } from '../../../messages/index.ts';
import { inspectSource, sourceWarnings } from '../../mail/messages/render-source.ts';
import { mergeValues, SAMPLE_CONTACT } from '../../mail/messages/values.ts';
import {
  firstStep,
  graphProblems,
  factsAfter,
  matchingBranch,
  type GraphStep,
  toGraphStep,
  type Outcome,
} from './graph.ts';
import { IS_SENDER, POOL_TABLES, poolBindings, type PoolChoice } from './sender-pool.ts';
import { stepProblems } from './step-problems.ts';
import type { Written, WrittenStep } from './written.ts';

/** A finding about a step or the campaign. An error prevents a start or makes a step fail; a warning does neither. */
export interface CampaignProblem extends Finding {
  stepId: string | null;
}

/** Size (bytes) up to which every server accepts an email (RFC 5321, section 4.5.3.1.7). */
const ALWAYS_TAKEN_BYTES = 64 * 1024;

const COPY = ['subject', 'body_plain', 'body_html'] as const;

/**
 * Returns all findings about a campaign's steps: links, actions, copy, size. An error prevents the campaign from
 * starting.
 */
export async function stepFindings(org: OrgScope, campaign: PoolChoice, written: Written): Promise<CampaignProblem[]> {
  const shape = await shapeProblems(org, written.steps);
  const { problems, fields } = copyProblems(written.steps);
  const unknown = await unknownFieldProblems(org, campaign.id, fields);
  const size = await sizeProblems(org, campaign, written);
  return [...shape, ...problems, ...unknown, ...variantProblems(written), ...size, ...foreignTagProblems(written)];
}

/** Returns the findings of {@link stepFindings} that prevent a start. */
export async function stepErrors(org: OrgScope, campaign: PoolChoice, written: Written): Promise<CampaignProblem[]> {
  const shape = await shapeProblems(org, written.steps);
  const size = await sizeProblems(org, campaign, written);
  return [...shape, ...copyProblems(written.steps).problems, ...variantProblems(written), ...size].filter(
    ({ severity }) => severity === 'error',
  );
}

async function shapeProblems(org: OrgScope, rows: readonly WrittenStep[]): Promise<CampaignProblem[]> {
  const steps = rows.map(toGraphStep);
  const problems: CampaignProblem[] = [];
  const find = (severity: Severity, stepId: string, said: Message) =>
    problems.push({ ...toFinding(severity, said), stepId });
  const references = await stepProblems(
    org,
    steps.map(({ kind, action, id }) => ({ kind, action, path: id })),
  );
  for (const { path, message: fault } of references) {
    const [stepId] = path.split('.') as [string];
    const field = path.slice(stepId.length + 1);
    const said = path.endsWith('.app_connection_id')
      ? message('finding.step_no_connection', { field })
      : message('finding.campaign_invalid.action', { field, fault });
    find('error', stepId, said);
  }
  for (const { path, message: fault } of graphProblems(steps, ({ id }) => id))
    find('error', path.split('.')[0]!, message('finding.campaign_invalid.branch', { fault }));
  const first = firstStep(steps);
  const reached = first ? new Set([first.id, ...stepsAfter(first, steps)]) : new Set<string>();
  for (const step of steps) {
    if (!reached.has(step.id)) find('warning', step.id, message('finding.step_unreachable'));
    if (step.action?.type !== 'wait_for_event') continue;
    if (step.action.timeout_minutes === null) find('warning', step.id, message('finding.wait_unbounded'));
    else if (step.action.on_timeout === 'continue' && !isReachable(step, 'timeout'))
      find('warning', step.id, message('finding.wait_timeout_unrouted'));
  }
  return problems;
}

/**
 * Returns true if some branch may hold after an outcome. Conditions on fields other than the outcome are assumed to
 * hold.
 */
function isReachable(step: GraphStep, outcome: Outcome): boolean {
  const open = step.conditions.branches.map((branch) => ({
    ...branch,
    when: (branch.when ?? []).filter(({ field }) => field === 'node_outcome'),
  }));
  return matchingBranch({ ...step, conditions: { branches: open } }, factsAfter(outcome)) !== null;
}

/** Returns the ids of all steps reachable from a step. */
function stepsAfter(step: GraphStep, steps: readonly GraphStep[], found = new Set<string>()): Set<string> {
  for (const { to } of step.conditions.branches) {
    const next = to === null || found.has(to) ? undefined : steps.find(({ id }) => id === to);
    if (!next) continue;
    found.add(next.id);
    stepsAfter(next, steps, found);
  }
  return found;
}

/** A custom field that an email reads without a default. */
interface UsedField {
  key: string;
  stepId: string;
}

function copyProblems(rows: readonly WrittenStep[]): { problems: CampaignProblem[]; fields: UsedField[] } {
  const problems: CampaignProblem[] = [];
  const steps = rows.map(toGraphStep);
  const builtIn = new Set(Object.keys(mergeValues({ ...SAMPLE_CONTACT, custom_fields: {} }, {})));
  // Computes this once per step and not per email, because a graph has up to two thousand branches.
  const answers = steps.flatMap((step) =>
    step.action && 'output_key' in step.action ? [{ key: step.action.output_key, reach: stepsAfter(step, steps) }] : [],
  );
  const fields: UsedField[] = [];
  const miss = (stepId: string, said: Message) => problems.push({ ...toFinding('error', said), stepId });
  for (const row of rows.filter(({ kind }) => kind === 'email')) {
    const produced = new Set(answers.flatMap(({ key, reach }) => (reach.has(row.id) ? [key] : [])));
    const reported = new Set<string>();
    for (const field of COPY) {
      const { errors, references } = inspectSource(field, row[field]);
      for (const { message: fault, ...place } of errors)
        miss(row.id, message('finding.campaign_variable_missing.copy', { field, ...place, fault }));
      for (const {
        path: [root, key],
        hasDefault,
      } of references) {
        const name = root === 'App' ? `App.${key}` : root!;
        if (hasDefault || reported.has(name) || (root !== 'App' && builtIn.has(root!))) continue;
        reported.add(name);
        if (root !== 'App') fields.push({ key: root!, stepId: row.id });
        else if (key === undefined || !produced.has(key))
          miss(row.id, message('finding.campaign_variable_missing.not_produced', { tag: `{{.${name}}}` }));
      }
    }
  }
  return { problems, fields };
}

async function unknownFieldProblems(
  org: OrgScope,
  campaignId: string,
  fields: readonly UsedField[],
): Promise<CampaignProblem[]> {
  const absent = await keysNoLeadHas(org, campaignId, [...new Set(fields.map(({ key }) => key))]);
  return fields
    .filter(({ key }) => absent.has(key))
    .map(({ key: field, stepId }) => ({
      ...toFinding('warning', message('finding.campaign_variable_missing.no_lead', { field })),
      stepId,
    }));
}

/**
 * Returns the custom fields that no lead of a campaign has. Empty if the campaign has no leads, because no lead can
 * then show a missing field.
 */
async function keysNoLeadHas(org: OrgScope, campaignId: string, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await org.sql<{ key: string }>(
    `select k.key from unnest(cast(:keys as text[])) as k(key)
     where exists (select 1 from enrollments where organization_id = :org and campaign_id = :id)
       and not exists (select 1 from enrollments e join contacts c on c.id = e.contact_id
         where e.organization_id = :org and e.campaign_id = :id and jsonb_exists(c.custom_fields, k.key))`,
    { id: campaignId, keys },
  );
  return new Set(rows.map(({ key }) => key));
}

/**
 * Returns template errors in the texts of variants in use. Each error is reported for the variant's step, or for the
 * first email step.
 */
function variantProblems({ steps, variants }: Written): CampaignProblem[] {
  const first = steps.find(({ kind }) => kind === 'email');
  return variants.flatMap(({ step_id: of, name, ...copy }) =>
    COPY.flatMap((field) =>
      inspectSource(field, copy[field]).errors.map(({ message: fault, ...place }) => {
        const said = message('finding.campaign_variable_missing.variant', { name, field, ...place, fault });
        return { ...toFinding('error', said), stepId: of ?? first?.id ?? null };
      }),
    ),
  );
}

/**
 * Returns problems for merge tags of other tools in emails and in variants in use. Recipients would see such tags.
 */
function foreignTagProblems({ steps, variants }: Written): CampaignProblem[] {
  const emails = steps.filter(({ kind }) => kind === 'email');
  const copies = [
    ...emails.map((copy) => ({
      copy,
      stepId: copy.id,
      say: (fault: FaultInCopy) => message('finding.merge_tag_foreign.step', fault),
    })),
    ...variants.map((copy) => ({
      copy,
      stepId: copy.step_id ?? emails[0]?.id ?? null,
      say: (fault: FaultInCopy) => message('finding.merge_tag_foreign.variant', { name: copy.name, ...fault }),
    })),
  ];
  return copies.flatMap(({ copy, stepId, say }) =>
    COPY.flatMap((field) =>
      sourceWarnings(field, copy[field]).map(({ message: fault, ...place }) => ({
        ...toFinding('warning', say({ field, ...place, fault })),
        stepId,
      })),
    ),
  );
}

/** A fault in copy, as values of a finding. */
interface FaultInCopy {
  field: string;
  line: number;
  column: number;
  fault: Message;
}

/**
 * Returns an error for each email that the server of a campaign's sender would refuse for its size. The limit is the
 * SIZE that the server announced when its mailbox was tested. Runs no query if all emails are small.
 */
async function sizeProblems(org: OrgScope, campaign: PoolChoice, { steps }: Written): Promise<CampaignProblem[]> {
  const large = steps
    .filter(({ kind }) => kind === 'email')
    .map((step) => ({ id: step.id, bytes: leastBytes(step) }))
    .filter(({ bytes }) => bytes > ALWAYS_TAKEN_BYTES);
  if (large.length === 0) return [];
  const [smallest] = await org.sql<{ email: string; bytes: number }>(
    `select m.email, m.smtp_max_bytes as bytes from ${POOL_TABLES}
     where m.organization_id = :org and m.status = 'active' and m.smtp_max_bytes is not null and ${IS_SENDER}
     order by m.smtp_max_bytes, m.id limit 1`,
    poolBindings(campaign),
  );
  if (!smallest) return [];
  return large
    .filter(({ bytes }) => bytes > smallest.bytes)
    .map(({ id, bytes }) => ({
      ...toFinding(
        'error',
        message('finding.email_too_large', {
          size: toMegabytes(bytes),
          limit: toMegabytes(smallest.bytes),
          mailbox: smallest.email,
        }),
      ),
      stepId: id,
    }));
}

/** Returns the minimum size (bytes) of a step's email: its texts, plus its files in base64 with line ends. */
function leastBytes({ body_plain: plain, body_html: html, files_bytes: files }: WrittenStep): number {
  const encoded = Math.ceil(files / 3) * 4;
  return Buffer.byteLength(plain) + Buffer.byteLength(html) + encoded + Math.ceil(encoded / 76) * 2;
}

function toMegabytes(bytes: number): number {
  return Number((bytes / 1024 / 1024).toFixed(1));
}
