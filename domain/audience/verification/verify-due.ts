import { setTimeout as sleep } from 'node:timers/promises';
import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { announceUpdate } from '../../directory/announce-contact.ts';
import { addressChecker, type AddressChecker } from './checker.ts';
import { completeVerifications } from './complete.ts';
import type { Verdict } from './verdict.ts';

/** Number of addresses checked concurrently. */
const AT_ONCE = 10;
/** Time (ms) after which an address can be claimed again if the worker that claimed it has crashed. */
const CLAIM_MS = 10 * 60_000;
const RETRY_BASE_MS = 5 * 60_000;
const RETRY_CAP_MS = 24 * 3_600_000;
/**
 * Maximum number of attempts without a verdict, including failed checks. After the last attempt the address is not
 * checked again and its verdict is `unknown`.
 */
const MAX_ATTEMPTS = 8;
/** Duration (ms) after which one sweep ends. The next sweep continues. */
const SWEEP_MS = 3 * 60_000;

interface Due {
  contact_id: string;
  organization_id: string;
  email: string;
  attempts: number;
}

/**
 * Verifies due addresses, oldest first, at most EMAIL_VERIFICATIONS_PER_MINUTE. Addresses without an answer are retried
 * at growing intervals. Completes the bulk edits that requested these verifications. Returns the number of verdicts.
 */
export async function verifyDueAddresses(deps: Deps): Promise<number> {
  const done = await checkDueAddresses(deps);
  await completeVerifications(deps);
  return done;
}

async function checkDueAddresses(deps: Deps): Promise<number> {
  const check = addressChecker(deps);
  if (!check) return 0;
  const paceMs = (AT_ONCE * 60_000) / deps.config.EMAIL_VERIFICATIONS_PER_MINUTE;
  const until = performance.now() + SWEEP_MS;
  for (let done = 0; ;) {
    const began = performance.now();
    const due = await claimDue(deps);
    const outcomes = await Promise.all(due.map((address) => verify(deps, check, address)));
    done += outcomes.filter(Boolean).length;
    if (due.length < AT_ONCE || performance.now() > until) return done;
    await sleep(Math.max(0, paceMs - (performance.now() - began)));
  }
}

/**
 * Claims the next addresses, so that no other worker gets them within {@link CLAIM_MS}. Skips workspaces whose deletion
 * is scheduled.
 */
function claimDue({ db, clock }: Deps): Promise<Due[]> {
  const now = clock.now();
  return across(db, 'maintenance').sql<Due>(
    `with due as materialized (
       select d.contact_id from contact_verifications d
       join organizations o on o.id = d.organization_id and o.deletion_scheduled_for is null
       where d.due_at <= :now order by d.due_at limit ${AT_ONCE} for update of d skip locked
     )
     update contact_verifications v set attempts = v.attempts + 1, due_at = :taken_until
     from due join contacts c on c.id = due.contact_id where v.contact_id = due.contact_id
     returning v.contact_id, v.organization_id, c.email, v.attempts`,
    { now, taken_until: new Date(now.getTime() + CLAIM_MS) },
  );
}

/**
 * Checks one address and stores the result. A failed check does not affect other addresses, and is retried like an
 * address without an answer. Returns true if there is a verdict.
 */
async function verify(deps: Deps, check: AddressChecker, due: Due): Promise<boolean> {
  try {
    // Stops after the last attempt. Its check was made, but the result could not be stored.
    if (due.attempts > MAX_ATTEMPTS) return await stopChecking(deps, due);
    const found = await check(deps, due.email);
    return await (found === 'later' ? postponeCheck(deps, due, 'no_answer') : settle(deps, due, found));
  } catch (error) {
    // The error message may quote the address, so it is not logged.
    deps.log.error({ contactId: due.contact_id, kind: (error as Error).name }, 'an address could not be verified');
    return postponeCheck(deps, due, 'check_failed');
  }
}

/** Schedules another check of an address. After the last attempt the address stays unknown with this reason. */
async function postponeCheck(deps: Deps, due: Due, reason: string): Promise<boolean> {
  if (due.attempts === MAX_ATTEMPTS) return settle(deps, due, { status: 'unknown', reason, isCatchAll: false });
  const waitMs = Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** (due.attempts - 1));
  await across(deps.db, 'maintenance').run(
    'update contact_verifications set due_at = :due_at where contact_id = :contact_id',
    { contact_id: due.contact_id, due_at: new Date(deps.clock.now().getTime() + waitMs) },
  );
  return false;
}

/** Stops checking an address whose verdict cannot be stored. */
async function stopChecking({ db }: Deps, { contact_id: contact }: Due): Promise<boolean> {
  await across(db, 'maintenance').run('delete from contact_verifications where contact_id = :contact', { contact });
  return false;
}

/**
 * Stores a verdict, unless the address changed or its check was cancelled in the meantime. A changed address is checked
 * again.
 */
function settle(deps: Deps, due: Due, verdict: Verdict): Promise<boolean> {
  return transact(systemCtx(deps, due.organization_id, 'verification'), async (tx) => {
    // Locks the contact before its schedule, in the same order as when a person marks an address.
    const [contact] = await tx.org.sql<Columns<'contacts', 'email'>>(
      'select email from contacts where organization_id = :org and id = :id for update',
      { id: due.contact_id },
    );
    const scheduled = tx.org.table('contact_verifications').where({ contact_id: due.contact_id });
    if (contact?.email !== due.email) {
      await scheduled.update({ attempts: 0, due_at: tx.now });
      return false;
    }
    if ((await scheduled.delete()) === 0) return false;
    await tx.org.sql(
      `update contacts set verification_status = :status, verification_reason = :reason, is_catch_all = :catch_all,
         verification_checked_at = :now, updated_at = :now where organization_id = :org and id = :id`,
      {
        id: due.contact_id,
        status: verdict.status,
        reason: verdict.reason,
        catch_all: verdict.isCatchAll,
        now: tx.now,
      },
    );
    await announceUpdate(tx, due.contact_id);
    return true;
  });
}
