import { changed, created } from '../../platform/changes.ts';
import type { Row } from '../../../db/rows.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { assertBelowLimit } from '../../platform/full-list.ts';
import { message } from '../../../messages/index.ts';

/** Attributes of a mailbox that a rule can match. */
export const MATCH_TYPES = ['any', 'domain', 'tld', 'provider'] as const;
type MatchType = (typeof MATCH_TYPES)[number];

/** Groups of mail providers that a rule can name. */
export const PROVIDER_BUCKETS = ['google', 'microsoft', 'yahoo', 'apple', 'proton', 'zoho', 'custom'] as const;
type ProviderBucket = (typeof PROVIDER_BUCKETS)[number];

export type WarmupRule = Row<'warmup_rules'>;

/** Input of a rule. Values are lower-case and trimmed. */
type WarmupRuleInput = Pick<
  WarmupRule,
  | 'name'
  | 'priority'
  | 'sender_match_type'
  | 'sender_match_value'
  | 'recipient_match_type'
  | 'recipient_match_value'
  | 'weight'
  | 'enabled'
>;

/** Maximum number of rules per workspace. It is limited because each warmup email is compared with all rules. */
const MAX_RULES = 200;

/** Returns the rules of the workspace in the order in which they apply. */
export async function listRules(ctx: Ctx): Promise<WarmupRule[]> {
  return reader(ctx).sql<WarmupRule>(`select * from warmup_rules where organization_id = :org order by priority, id`);
}

/**
 * Adds a rule.
 * @throws AppError bad_request when the workspace has the maximum number of rules
 */
export async function createRule(ctx: Ctx, input: WarmupRuleInput): Promise<WarmupRule> {
  return transact(ctx, async (tx) => {
    await assertBelowLimit(tx, 'warmup_rules', { most: MAX_RULES, what: message('warmup.most_rules') });
    const rule = { id: newId(), ...input, created_at: tx.now, updated_at: tx.now };
    await tx.org.insert('warmup_rules', rule);
    tx.audit({ action: 'create', entityType: 'warmup_rule', entityId: rule.id, changes: created({ ...input }) });
    return { ...rule, organization_id: tx.org.organizationId };
  });
}

/**
 * Replaces all fields of a rule.
 * @throws AppError not_found
 */
export async function replaceRule(ctx: Ctx, id: string, input: WarmupRuleInput): Promise<WarmupRule> {
  if (!isUuid(id)) throw notFound('warmup_rule');
  return transact(ctx, async (tx) => {
    const rules = () => tx.org.table('warmup_rules').where({ id });
    const before = await rules().forNoKeyUpdate().first();
    if (!before) throw notFound('warmup_rule');
    await rules().update({ ...input, updated_at: tx.now });
    tx.audit({ action: 'update', entityType: 'warmup_rule', entityId: id, changes: changed(before, input) });
    const [rule] = await tx.org.sql<WarmupRule>(
      `select * from warmup_rules where organization_id = :org and id = :id`,
      { id },
    );
    return rule!;
  });
}

/**
 * Removes a rule.
 * @throws AppError not_found
 */
export async function removeRule(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('warmup_rule');
  await transact(ctx, async (tx) => {
    if ((await tx.org.table('warmup_rules').where({ id }).delete()) === 0) throw notFound('warmup_rule');
    tx.audit({ action: 'delete', entityType: 'warmup_rule', entityId: id });
  });
}

/** Attributes of a mailbox with which rules are compared. */
export interface Matched {
  domain: string;
  bucket: ProviderBucket;
}

const HOSTS: readonly [RegExp, ProviderBucket][] = [
  [/(^|\.)(gmail|googlemail|google)\.com$/, 'google'],
  [/(^|\.)(outlook|hotmail|live|msn|office365|microsoft)\.com$/, 'microsoft'],
  [/(^|\.)(yahoo|ymail|rocketmail)\.[a-z.]+$/, 'yahoo'],
  [/(^|\.)(icloud|me|mac)\.com$/, 'apple'],
  [/(^|\.)(proton|protonmail)\.[a-z]+$/, 'proton'],
  [/(^|\.)zoho(mail)?\.[a-z.]+$/, 'zoho'],
];

/**
 * Returns the attributes with which rules are compared: the mailbox's domain and provider. For a mailbox without a
 * known provider, it is derived from the mail server and the address.
 */
export function matchedOf(mailbox: { email: string; provider: string; host: string }): Matched {
  const domain = mailbox.email.slice(mailbox.email.lastIndexOf('@') + 1);
  const named = mailbox.provider === 'gmail' ? 'google' : mailbox.provider === 'outlook' ? 'microsoft' : undefined;
  const known = HOSTS.find(([host]) => host.test(mailbox.host.toLowerCase()) || host.test(domain))?.[1];
  return { domain, bucket: named ?? known ?? 'custom' };
}

/**
 * Returns the weight of a pair. This is the weight of the first enabled rule, in order of priority, both sides of which
 * match. Without such a rule it is 1. The weight 0 excludes the pair.
 */
export function pairWeight(rules: readonly WarmupRule[], sender: Matched, recipient: Matched): number {
  const rule = rules.find(
    (each) => each.enabled && matchesSide(each, 'sender', sender) && matchesSide(each, 'recipient', recipient),
  );
  return rule ? rule.weight : 1;
}

/** Returns true if one side of a rule matches a mailbox. */
export function matchesSide(rule: WarmupRule, side: 'sender' | 'recipient', mailbox: Matched): boolean {
  return fits(mailbox, rule[`${side}_match_type`], rule[`${side}_match_value`]);
}

function fits({ domain, bucket }: Matched, type: MatchType, value: string): boolean {
  switch (type) {
    case 'any':
      return true;
    case 'domain':
      return domain === value;
    case 'tld':
      return domain.endsWith(`.${value.replace(/^\./, '')}`);
    case 'provider':
      return bucket === value;
  }
}
