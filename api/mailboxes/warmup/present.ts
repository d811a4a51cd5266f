import type { z } from 'zod';
import type { WarmupRule } from '../../../domain/mailboxes/warmup/routing.ts';
import { isOut } from '../../../domain/mailboxes/warmup/ramp.ts';
import type { WarmupStanding } from '../../../domain/mailboxes/warmup/standing.ts';
import { iso } from '../../http/schemas.ts';
import type { banStatus, rule, standing } from './schemas.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { render } from '../../../messages/render.ts';

/** Returns a rule that decides which mailboxes exchange warmup emails. Rules are tried in the workspace's order. */
export function presentRule(row: WarmupRule): z.input<typeof rule> {
  return { ...row, created_at: iso(row.created_at), updated_at: iso(row.updated_at) };
}

/** Returns the warmup state of a mailbox. Values that do not apply are omitted. */
export function presentStanding(
  { mailbox, status, health, dailyTarget }: WarmupStanding,
  { language }: Pick<Ctx, 'language'>,
): z.input<typeof standing> {
  return {
    email_account_id: mailbox.id,
    enabled: mailbox.warmup !== null,
    status,
    ...(mailbox.warmup ? { started_at: iso(mailbox.warmup) } : {}),
    ...(mailbox.warmup_paused_at ? { paused_at: iso(mailbox.warmup_paused_at) } : {}),
    pool: mailbox.warmup_pool_type,
    daily_target: dailyTarget,
    base: mailbox.warmup_base,
    max: mailbox.warmup_max,
    increase: mailbox.warmup_increase,
    reply_rate: mailbox.warmup_reply_rate,
    health_state: health.health_state,
    ...(health.blocked_until ? { blocked_until: iso(health.blocked_until) } : {}),
    ...(health.reason ? { blocked_reason: render(health.reason, language) } : {}),
  };
}

/** Returns whether a mailbox is excluded from warmup. Reason and times are omitted unless it is. */
export function presentBanStatus(
  { mailbox, health }: WarmupStanding,
  { language }: Pick<Ctx, 'language'>,
): z.input<typeof banStatus> {
  const blocked = isOut(health.health_state);
  return {
    email_account_id: mailbox.id,
    blocked,
    health_state: health.health_state,
    ...(blocked && health.reason ? { reason: render(health.reason, language) } : {}),
    ...(blocked && health.evaluated_at ? { blocked_at: iso(health.evaluated_at) } : {}),
    ...(blocked && health.blocked_until ? { blocked_until: iso(health.blocked_until) } : {}),
    can_appeal: false,
    pending_appeal: false,
  };
}
