import { setTimeout as sleep } from 'node:timers/promises';
import { across } from '../../../db/across.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { announceUpdate } from '../../directory/announce-contact.ts';
import { addressChecker, type AddressChecker } from './checker.ts';
import type { Verdict } from './verdict.ts';

/** Addresses that are looked at side by side. */
const AT_ONCE = 10;
/** A worker that took an address and died leaves it for this long (ms). */
const TAKEN_MS = 10 * 60_000;
const RETRY_BASE_MS = 5 * 60_000;
const RETRY_CAP_MS = 24 * 3_600_000;
/** After so many tries without a verdict, whether nothing answered or the look failed, the address counts as looked at, and stays unknown. */
const MAX_ATTEMPTS = 8;
/** How long (ms) one sweep verifies; the next one goes on. */
const SWEEP_MS = 3 * 60_000;

interface Due {
  contact_id: string;
  organization_id: string;
  email: string;
  attempts: number;
}

/**
 * Verifies addresses that are due, oldest first, no more per minute than EMAIL_VERIFICATIONS_PER_MINUTE. What gives no answer is asked again later, after
 * longer and longer times. Returns how many got a verdict.
 */
export async function verifyDueAddresses(deps: Deps): Promise<number> {
  const check = addressChecker(deps);
  if (!check) return 0;
  const paceMs = (AT_ONCE * 60_000) / deps.config.EMAIL_VERIFICATIONS_PER_MINUTE;
  const until = performance.now() + SWEEP_MS;
  for (let done = 0; ;) {
    const began = performance.now();
    const due = await takeDue(deps);
    const outcomes = await Promise.all(due.map((address) => verify(deps, check, address)));
    done += outcomes.filter(Boolean).length;
    if (due.length < AT_ONCE || performance.now() > until) return done;
    await sleep(Math.max(0, paceMs - (performance.now() - began)));
  }
}

/** Takes the next addresses: no other worker has them before {@link TAKEN_MS}. */
function takeDue({ db, clock }: Deps): Promise<Due[]> {
  const now = clock.now();
  return across(db, 'maintenance').sql<Due>(
    `with due as materialized (
       select contact_id from contact_verifications where due_at <= :now order by due_at limit ${AT_ONCE} for update skip locked
     )
     update contact_verifications v set attempts = v.attempts + 1, due_at = :taken_until
     from due join contacts c on c.id = due.contact_id where v.contact_id = due.contact_id
     returning v.contact_id, v.organization_id, c.email, v.attempts`,
    { now, taken_until: new Date(now.getTime() + TAKEN_MS) },
  );
}

/**
 * Looks at one address and stores what was found; one whose look fails holds up no other, and is tried as often as one that nothing answers for. Returns whether there is
 * a verdict.
 */
async function verify(deps: Deps, check: AddressChecker, due: Due): Promise<boolean> {
  try {
    // The look did not fail, but the storing of what it came to, and it has been tried often enough.
    if (due.attempts > MAX_ATTEMPTS) return await giveUp(deps, due);
    const found = await check(deps, due.email);
    return await (found === 'later' ? putOff(deps, due, 'no_answer') : settle(deps, due, found));
  } catch (error) {
    // The message may quote the address.
    deps.log.error({ contactId: due.contact_id, kind: (error as Error).name }, 'an address could not be verified');
    return putOff(deps, due, 'check_failed');
  }
}

/** Has an address looked at again later; after so many tries it stays unknown for this reason. */
async function putOff(deps: Deps, due: Due, reason: string): Promise<boolean> {
  if (due.attempts === MAX_ATTEMPTS) return settle(deps, due, { status: 'unknown', reason, isCatchAll: false });
  const waitMs = Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** (due.attempts - 1));
  await across(deps.db, 'maintenance').run(
    'update contact_verifications set due_at = :due_at where contact_id = :contact_id',
    { contact_id: due.contact_id, due_at: new Date(deps.clock.now().getTime() + waitMs) },
  );
  return false;
}

/** Looks at an address no more, whose verdict cannot be stored. */
async function giveUp({ db }: Deps, { contact_id: contact }: Due): Promise<boolean> {
  await across(db, 'maintenance').run('delete from contact_verifications where contact_id = :contact', { contact });
  return false;
}

/** Stores a verdict, unless the contact has another address or a verdict by now: an address that changed is looked at again. */
function settle(deps: Deps, due: Due, verdict: Verdict): Promise<boolean> {
  return transact(systemCtx(deps, due.organization_id, 'verification'), async (tx) => {
    const [stored] = await tx.org.sql(
      `update contacts set verification_status = :status, verification_reason = :reason, is_catch_all = :catch_all,
         verification_checked_at = :now, updated_at = :now
       where organization_id = :org and id = :id and email = :email and verification_status = 'unknown' returning id`,
      {
        id: due.contact_id,
        email: due.email,
        status: verdict.status,
        reason: verdict.reason,
        catch_all: verdict.isCatchAll,
        now: tx.now,
      },
    );
    await tx.org.sql(
      `delete from contact_verifications v using contacts c
       where v.organization_id = :org and v.contact_id = :id and c.id = v.contact_id and (c.email = :email or c.verification_status <> 'unknown')`,
      { id: due.contact_id, email: due.email },
    );
    if (stored) await announceUpdate(tx, due.contact_id);
    else
      await tx.org.sql(
        'update contact_verifications set attempts = 0, due_at = :now where organization_id = :org and contact_id = :id',
        {
          id: due.contact_id,
          now: tx.now,
        },
      );
    return stored !== undefined;
  });
}
