import { across } from '../../../db/across.ts';
import { pendingMigrations } from '../../../db/migrations/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import type { Found } from './findings.ts';

/** What the database says of the installation: its schema, its administrators, and what waits for people. */
export async function lookAtStored({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<Found> {
  const pending = await pendingMigrations(db);
  // The tables that are asked below may not be there yet.
  if (pending.length > 0)
    return { migrations_dirty: `${plural(pending.length, 'migration')} pending, from ${pending[0]} on` };
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
  return {
    single_platform_admin: admins === 1 ? 'One account is platform administrator' : undefined,
    bootstrap_password_still_set:
      given > 0 ? `${plural(given, 'account')} with the password that \`heron bootstrap\` gave` : undefined,
    setup_link_outstanding: accounts === 0 && links > 0 ? 'There is no account, and a setup link is valid' : undefined,
    expired_invitations:
      invitations > 0 ? `${plural(invitations, 'open invitation')} past the time to accept` : undefined,
    warmup_pools_missing: alone > 0 ? `${plural(alone, 'workspace')} with a single mailbox that warms up` : undefined,
    facts_incomplete:
      stale > 0 ? `${plural(stale, 'workspace')} whose \`heron facts rebuild\` has not ended` : undefined,
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

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
