import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { across } from '../../../db/across.ts';
import type { Trx } from '../../../db/connection.ts';
import type { Columns } from '../../../db/rows.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { ZERO_UUID } from '../../../lib/ids.ts';
import { writeIntents } from '../../../temporal/dispatch.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { forEachIsolated } from '../../platform/kernel/for-each-isolated.ts';
import type { DurableFamily, ExpectedRun, ExpectedRuns } from '../../platform/kernel/tx.ts';

/** Result of a search for missing workflows of one kind (family). */
export interface FamilyReport {
  family: string;
  /** Number of workflows that must be open according to PostgreSQL. */
  checked: number;
  /** Number of these workflows that were not open. They were started, except in a dry run. */
  missing: number;
  /** False when the search was interrupted. The next search continues after its last page. */
  finished: boolean;
}

interface ReconcileOptions {
  /** True to only count missing workflows. No workflow is started and no result is recorded. */
  dryRun?: boolean;
  /** True to continue an interrupted search. Otherwise a new search starts. */
  resume?: boolean;
  /** Signal that stops the search between two pages. */
  signal?: AbortSignal;
  /** Maximum number of workflow starts per second. */
  ratePerSecond?: number;
  /** Called after each page with the family and its number of workflows checked so far. */
  onPage?: (family: string, checked: number) => void;
  /** Called with the result of each family, even if another family fails. */
  onFamily?: (report: FamilyReport) => void;
}

type Parts = Pick<Deps, 'db' | 'workflows' | 'families' | 'log'>;

/** A family that defines which workflows must be open. */
type Reconciled = DurableFamily & { mustBeOpen: ExpectedRuns };

const PAGE = 1_000;
const DESCRIBE_AT_ONCE = 16;
const RATE_PER_SECOND = 100;

/**
 * Starts workflows that must be open according to PostgreSQL but are not open in Temporal. Workflows can be missing
 * because an operator has terminated them, or because Temporal's database was lost.
 *
 * For each family, reads the rows that require a workflow, in pages in the order of the workflow ids. Compares each
 * page with the open workflows in the same range of ids, which Temporal's visibility store lists (one request per
 * thousand). A healthy workflow therefore needs no separate request, and an interrupted search can continue with the
 * next page.
 *
 * The visibility store is updated with a delay, so a workflow that it does not list is only suspected to be missing. It
 * is missing if the outbox has no waiting intent for it, Temporal reports it as not open, and its row still requires it
 * afterwards. It is then started through the outbox. This changes nothing if the workflow is open after all. If a
 * parked intent of the workflow exists, that intent is retried immediately instead.
 *
 * An error in one family does not stop the others. If the search may be interrupted, it begins with the family whose
 * last search is the oldest. One slow family therefore does not use the time of every search.
 * @returns the families in the order of their search
 * @throws AggregateError after all families, if some of them failed; while Temporal does not respond, all fail
 */
export async function reconcile(parts: Parts, options: ReconcileOptions = {}): Promise<FamilyReport[]> {
  const reports: FamilyReport[] = [];
  const families = reconciledFamilies(parts);
  await forEachIsolated(parts, options.dryRun ? families : await byLastSearch(parts, families), async (family) => {
    const report = await reconcileFamily(parts, family, options);
    options.onFamily?.(report);
    reports.push(report);
  });
  return reports;
}

/** Returns the families that define which workflows must be open. */
export function reconciledFamilies({ families }: Pick<Deps, 'families'>): Reconciled[] {
  return families.filter((family): family is Reconciled => 'page' in family.mustBeOpen);
}

/** Sorts the families by their last search, oldest first. */
async function byLastSearch({ db }: Pick<Parts, 'db'>, families: readonly Reconciled[]): Promise<Reconciled[]> {
  const rows = await across(db, 'maintenance').table('reconciliations').orderBy('began_at').select('family');
  const had = rows.map(({ family }) => family);
  return [...families].sort((a, b) => had.indexOf(a.contract.kind) - had.indexOf(b.contract.kind));
}

async function reconcileFamily(
  { db, workflows }: Pick<Parts, 'db' | 'workflows'>,
  { contract, mustBeOpen }: Reconciled,
  { dryRun = false, resume = false, signal, ratePerSecond = RATE_PER_SECOND, onPage }: ReconcileOptions,
): Promise<FamilyReport> {
  const report: FamilyReport = { family: contract.kind, checked: 0, missing: 0, finished: false };
  if (signal?.aborted) return report;
  let after = ZERO_UUID;
  if (!dryRun) {
    const begun = await beginSearch({ db }, contract.kind, resume);
    after = begun.position;
    report.checked = begun.checked;
    report.missing = begun.missing;
  }
  while (!signal?.aborted) {
    const page = await mustBeOpen.page(db, after, PAGE);
    const suspected = await notVisible(workflows, contract, page);
    const lost = suspected.length > 0 ? await notOpen({ db, workflows }, suspected) : [];
    const started = await startMissing({ db }, mustBeOpen, lost, { dryRun, ratePerSecond });
    report.checked += page.length;
    report.missing += started;
    onPage?.(contract.kind, report.checked);
    if (page.length < PAGE) {
      if (!dryRun) await endSearch({ db }, report);
      return { ...report, finished: true };
    }
    after = page.at(-1)!.position;
    if (!dryRun) await recordPage({ db }, report, after);
    if (!dryRun && started > 0) await sleep((started / ratePerSecond) * 1_000, undefined, { signal }).catch(() => {});
  }
  return report;
}

/**
 * Returns the workflows of a page that the visibility store does not list as open. Keeps at most the ids of the page in
 * memory.
 */
async function notVisible(
  workflows: Parts['workflows'],
  contract: Reconciled['contract'],
  page: readonly ExpectedRun[],
): Promise<ExpectedRun[]> {
  const suspected = new Map(page.map((run) => [run.intent.workflowId, run]));
  const [from] = suspected.keys();
  if (from === undefined) return [];
  const to = page.at(-1)!.intent.workflowId;
  for await (const ids of workflows.openRuns(contract, { from, to })) for (const id of ids) suspected.delete(id);
  return [...suspected.values()];
}

/**
 * Returns the workflows that are not open in Temporal and that no waiting intent will start. Parked intents, and
 * intents that wait for them, are ignored.
 */
async function notOpen(
  { db, workflows }: Pick<Parts, 'db' | 'workflows'>,
  suspected: readonly ExpectedRun[],
): Promise<ExpectedRun[]> {
  const ids = suspected.map(({ intent }) => intent.workflowId);
  // Reads the outbox before it queries Temporal. An intent that is no longer in the outbox has then already reached
  // Temporal.
  const waiting = new Set<string>(
    (
      await across(db, 'maintenance').sql<Columns<'outbox', 'workflow_id'>>(
        `select workflow_id from outbox where workflow_id = any(:ids::text[])
         group by workflow_id having count(parked_at) = 0`,
        { ids },
      )
    ).map((row) => row.workflow_id),
  );
  const limit = pLimit(DESCRIBE_AT_ONCE);
  const answers = await Promise.all(
    suspected.map((run) =>
      limit(async () => !waiting.has(run.intent.workflowId) && !(await workflows.isOpen(run.intent.workflowId))),
    ),
  );
  return suspected.filter((_run, index) => answers[index]);
}

/**
 * Starts the missing workflows whose rows still require them, because the work of some rows may have ended in the
 * meantime. If a parked intent of the workflow exists, a start would have to wait for it. In this case the parked
 * intent is retried immediately instead.
 */
async function startMissing(
  { db }: Pick<Deps, 'db'>,
  expected: ExpectedRuns,
  lost: readonly ExpectedRun[],
  { dryRun, ratePerSecond }: { dryRun: boolean; ratePerSecond: number },
): Promise<number> {
  if (lost.length === 0) return 0;
  const positions = lost.map(({ position }) => position);
  if (dryRun) return (await expected.only(db, positions)).length;
  return inTransaction(db, async (trx) => {
    const still = await expected.only(trx, positions);
    const parked = new Set(await hurryParked(trx, still));
    await writeIntents(
      trx,
      still.map(({ intent }) => intent).filter(({ workflowId }) => !parked.has(workflowId)),
      // Distributes the starts over the time until the next page, so that new intents do not have to wait for all of
      // them.
      { withinMs: (still.length / ratePerSecond) * 1_000 },
    );
    return still.length;
  });
}

/** Makes the parked intents of these workflows due immediately. Returns their workflow ids. */
async function hurryParked(trx: Trx, runs: readonly ExpectedRun[]): Promise<string[]> {
  const rows = await across(trx, 'maintenance').sql<Columns<'outbox', 'workflow_id'>>(
    `update outbox set available_at = now() where parked_at is not null and workflow_id = any(:ids::text[])
     returning workflow_id`,
    { ids: runs.map(({ intent }) => intent.workflowId) },
  );
  return rows.map((row) => row.workflow_id);
}

/** Starts the search in a family, or continues an interrupted one. */
async function beginSearch(
  { db }: Pick<Deps, 'db'>,
  family: string,
  resume: boolean,
): Promise<{ position: string; checked: number; missing: number }> {
  const [look] = await across(db, 'maintenance').sql<{ position: string; checked: number; missing: number }>(
    `insert into reconciliations as r (family, position, began_at) values (:family, :first, now())
     on conflict (family) do update set
       began_at = excluded.began_at,
       checked = case when :resume and r.position is not null then r.checked else 0 end,
       missing = case when :resume and r.position is not null then r.missing else 0 end,
       position = case when :resume then coalesce(r.position, :first) else :first end
     returning position, checked::int, missing::int`,
    { family, first: ZERO_UUID, resume },
  );
  return look!;
}

async function recordPage(
  { db }: Pick<Deps, 'db'>,
  { family, checked, missing }: FamilyReport,
  position: string,
): Promise<void> {
  await across(db, 'maintenance').table('reconciliations').where({ family }).update({ position, checked, missing });
}

async function endSearch({ db }: Pick<Deps, 'db'>, { family, checked, missing }: FamilyReport): Promise<void> {
  await across(db, 'maintenance')
    .table('reconciliations')
    .where({ family })
    .update({
      position: null,
      checked,
      missing,
      ended_at: across(db, 'maintenance').raw('now()'),
      last_checked: checked,
      last_missing: missing,
    });
}

/**
 * Returns the result of the latest search in each family. This is the last completed search, or the current one if it
 * has already found more.
 */
export async function lastSearches(db: Deps['db']): Promise<{ family: string; missing: number; at: Date }[]> {
  const rows = await across(db, 'maintenance').table('reconciliations').orderBy('family');
  return rows.flatMap((row) => {
    const underWay = row.position === null ? 0 : Number(row.missing);
    if (!row.ended_at && underWay === 0) return [];
    const missing = Math.max(Number(row.last_missing ?? 0), underWay);
    return [{ family: row.family, missing, at: row.ended_at ?? row.began_at }];
  });
}
