import { across } from '../../../db/across.ts';
import { pendingMigrations } from '../../../db/migrations/index.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import type { FoundMessages } from './findings.ts';

/** Returns findings about the database: its schema, its administrators, and work that waits for people. */
export async function databaseFindings({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<FoundMessages> {
  const pending = await pendingMigrations(db);
  // Runs no further queries while migrations are pending, because their tables may not exist yet.
  if (pending.length > 0)
    return {
      migrations_dirty: message('finding.migrations_dirty', { count: pending.length, first: pending[0]! }),
    };
  const [row] = await across(db, 'operator').sql<Counts>(
    `select (select count(*) from users) as accounts,
            (select count(*) from users where is_platform_admin) as admins,
            (select count(*) from users where has_given_password) as given,
            (select count(*) from setup_links where used_at is null and expires_at > :now) as links,
            (select count(*) from invitations where accepted_at is null and cancelled_at is null and expires_at <= :now) as invitations,
            (select count(*) from (select from mailboxes where warmup is not null and warmup_paused_at is null and status = 'active'
                                   group by organization_id having count(*) = 1) alone) as alone,
            (select count(*) from stale_groups) as stale`,
    { now: clock.now() },
  );
  const { accounts, admins, given, links, invitations, alone, stale } = row!;
  const when = (applies: boolean, said: Message): Message | undefined => (applies ? said : undefined);
  return {
    single_platform_admin: when(admins === 1, message('finding.single_platform_admin')),
    bootstrap_password_still_set: when(given > 0, message('finding.bootstrap_password_still_set', { count: given })),
    setup_link_outstanding: when(accounts === 0 && links > 0, message('finding.setup_link_outstanding')),
    expired_invitations: when(invitations > 0, message('finding.expired_invitations', { count: invitations })),
    warmup_pools_missing: when(alone > 0, message('finding.warmup_pools_missing', { count: alone })),
    facts_incomplete: when(stale > 0, message('finding.facts_incomplete', { count: stale })),
  };
}

interface Counts {
  accounts: number;
  admins: number;
  given: number;
  links: number;
  invitations: number;
  alone: number;
  stale: number;
}
