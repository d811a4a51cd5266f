import { defined } from '../../lib/defined.ts';
import { DateTime } from 'luxon';
import type { CampaignRow } from '../../db/models/campaign.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Problem } from '../../lib/errors.ts';
import { assertMailboxAllowed, type Actor } from '../platform/kernel/actor.ts';
import { existingIds, unknownIdProblems } from '../platform/references.ts';
import { scheduleProblems } from '../platform/scheduling/problems.ts';
import type { CheckedStep } from '../sending/campaign/step-problems.ts';
import type { CampaignSettings, SenderInput } from './input.ts';
import { message } from '../../messages/index.ts';

/**
 * Lists problems in the values of campaign settings: zone, days, times, windows, dates, contact order. Dates are
 * checked against the current time.
 * @param current the stored campaign, for an update
 */
export function settingsProblems(input: CampaignSettings, now: Date, current?: CampaignRow): Problem[] {
  const zone = input.timezone ?? current?.timezone;
  const given = scheduleProblems({ ...input, timezone: zone }, now);
  const together = current
    ? scheduleProblems({
        start_date: pick(input.start_date, current.start_date),
        end_date: pick(input.end_date, current.end_date),
      })
    : [];
  const seen = new Set(given.map((problem) => problem.path));
  const problems = [...given, ...together.filter((problem) => !seen.has(problem.path))];
  const orderBy = input.contact_order_by ?? current?.contact_order_by;
  if (orderBy === 'custom_field' && !pick(input.contact_order_field, current?.contact_order_field ?? null)) {
    problems.push({ path: 'contact_order_field', message: message('campaigns.order_field_missing') });
  }
  return problems.map((problem) => ({ ...problem, path: `body.${problem.path}` }));
}

function pick<T>(given: T | undefined, stored: T | Date | null): T | Date | null {
  return given === undefined ? stored : given;
}

/** Lists problems of label ids: each must be a tag, folder or category of the organization. */
export async function labelProblems(
  org: OrgScope,
  registry: 'tag' | 'folder' | 'category',
  ids: readonly string[],
  path: string,
): Promise<Problem[]> {
  const known = await existingIds(org, 'labels', ids, { registry });
  return unknownIdProblems(
    ids,
    known,
    (index) => `${path}.${index}`,
    message(registry === 'category' ? 'directory.unknown_category' : `campaigns.unknown_${registry}`),
  );
}

/**
 * Lists problems of the mailboxes of an explicit sender pool: each must be one of the organization, without repetition.
 * @param pathOf returns the path of the mailbox at an index
 * @throws AppError forbidden when the caller's key may not use one of the mailboxes
 */
export async function mailboxProblems(
  org: OrgScope,
  actor: Actor,
  mailboxIds: readonly string[],
  pathOf: (index: number) => string,
): Promise<Problem[]> {
  const ids = mailboxIds.map((id) => id.toLowerCase());
  const known = await existingIds(org, 'mailboxes', ids);
  for (const id of known) assertMailboxAllowed(actor, id);
  const problems = unknownIdProblems(ids, known, pathOf, message('directory.unknown_mailbox'));
  ids.forEach((id, index) => {
    if (ids.indexOf(id) < index) problems.push({ path: pathOf(index), message: message('campaigns.listed_twice') });
  });
  return problems;
}

/** Lists problems of the explicit sender pool of a request, as {@link mailboxProblems}. */
export function senderProblems(org: OrgScope, actor: Actor, senders: readonly SenderInput[]): Promise<Problem[]> {
  const ids = senders.map((sender) => sender.email_account_id);
  return mailboxProblems(org, actor, ids, (index) => `body.senders.${index}.email_account_id`);
}

/** Returns a problem if a one-time campaign has more than one email step. */
export function oneTimeProblems(campaignKind: CampaignRow['kind'], steps: readonly CheckedStep[]): Problem[] {
  if (campaignKind !== 'one_time') return [];
  return steps
    .filter((step) => step.kind === 'email')
    .slice(1)
    .map(({ path }) => ({ path: `${path}.kind`, message: message('campaigns.one_email_step') }));
}

/** Converts the given settings of a request to columns. Call it after {@link settingsProblems} has found no problem. */
export function settingsColumns(input: CampaignSettings, current?: CampaignRow): Partial<CampaignRow> {
  const { start_date, end_date, tracking_domain, ...same } = input;
  const columns: Partial<CampaignRow> = defined(same);
  if (start_date !== undefined)
    columns.start_date = start_date === null ? null : DateTime.fromISO(start_date).toJSDate();
  if (end_date !== undefined) columns.end_date = end_date === null ? null : DateTime.fromISO(end_date).toJSDate();
  if (tracking_domain !== undefined && tracking_domain !== (current?.tracking_domain ?? '')) {
    Object.assign(columns, { tracking_domain, tracking_domain_verified: false, tracking_domain_verified_at: null });
  }
  return columns;
}
