import { json } from '../db/connection.ts';
import { across } from '../db/across.ts';
import { externalText } from '../domain/platform/external-text.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { transact, type Tx } from '../domain/platform/kernel/transact.ts';
import { launchDueLeads } from '../domain/sending/enrollment/launch.ts';
import { activateCampaign, lockCampaign, pauseCampaign } from '../domain/sending/control/status.ts';
import { message } from '../messages/index.ts';
import { createCampaign, createMailbox, createTenant } from '../test/harness/factories.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { fillContacts } from './data.ts';
import { median } from './measure.ts';

const RUNS = 1_000_000;
/** Number of open workflows in the smaller of the two compared campaigns. */
const FEW = 1_000;
const REPETITIONS = 5;
/** Maximum number of rows that a pause and a resume may write in either campaign. */
const MOST_ROWS = 50;

interface Measured {
  pauseMs: number;
  resumeMs: number;
  /** Duration (ms) of the launcher's iterations after the resume, until the launcher waits. */
  launcherMs: number;
  /** Number of rows inserted, updated or deleted by the pause and the resume, without their events and intents. */
  rows: number;
  /** Number of workflows that the launcher signals. */
  signalled: number;
}

/**
 * Measures a pause and a resume of a campaign with a million open workflows that wait in a step, and of one with a
 * thousand. Its figures are time, written rows and signalled workflows. The workflows exist only as rows, because
 * neither action queries Temporal for them.
 */
export async function run({ assembly, quick, scale, log }: BenchContext): Promise<BenchResult> {
  const { deps } = assembly;
  const { organizationId } = await createTenant(deps, 'Bench');
  await createMailbox(deps, organizationId, 'sender@bench.example.com');
  const many = quick ? 10_000 : Math.round(RUNS * scale);
  log(`writing ${many} contacts`);
  await fillContacts(assembly, organizationId, many);
  const ctx = systemCtx(deps, organizationId, 'bench');

  /** Creates a campaign whose leads all wait in its second step. */
  async function fill(count: number): Promise<string> {
    const wait = { type: 'wait', wait_minutes: 60 * 24 * 30 };
    const { campaignId, stepIds } = await createCampaign(deps, organizationId, [
      { subject: 'S', body_plain: 'b' },
      { kind: 'wait', action: wait },
      { subject: 'S', body_plain: 'b' },
    ]);
    const waiting = message('wait.at_step', { step: externalText('step 2 of 3'), what: message('wait.waiting') });
    await deps.db.raw(
      `insert into enrollments (id, organization_id, campaign_id, contact_id, state, current_step_id, step_started_at, waiting_for, waiting_until,
         entered_at, launched_at, last_activity_at, signalled_epoch)
       select gen_random_uuid(), organization_id, :campaign, id, 'active', :step, now(), cast(:waiting as jsonb), now() + interval '30 days',
         now(), now(), now(), 1
       from contacts where organization_id = :org limit :count`,
      { campaign: campaignId, org: organizationId, step: stepIds[1]!, waiting: json(waiting), count },
    );
    await deps.db.raw('vacuum analyze enrollments');
    return campaignId;
  }

  async function writing(work: (tx: Tx) => Promise<unknown>): Promise<{ ms: number; rows: number }> {
    const startedAt = performance.now();
    let rows = 0;
    await transact(ctx, async (tx) => {
      await work(tx);
      const [written] = await across(tx.trx, 'operator').sql<{ rows: number }>(
        'select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as rows from pg_stat_xact_user_tables',
      );
      rows = written!.rows;
    });
    return { ms: performance.now() - startedAt, rows };
  }

  async function measure(campaignId: string): Promise<Measured> {
    const paused = await writing((tx) => pauseCampaign(tx, campaignId, 'paused', message('log.no_mailbox')));
    const resumed = await writing(async (tx) =>
      activateCampaign(tx, await lockCampaign(tx, campaignId), {
        type: 'campaign_restarted',
        message: message('log.no_mailbox'),
      }),
    );
    const startedAt = performance.now();
    for (let n = 0; n < 100; n += 1) if ('report' in (await launchDueLeads(ctx, campaignId))) break;
    const launcherMs = performance.now() - startedAt;
    const { rows: found } = (await deps.db.raw(
      `select count(*)::int as signalled from enrollments e join campaigns k on k.id = e.campaign_id
       where k.id = :campaign and e.signalled_epoch >= k.control_epoch`,
      { campaign: campaignId },
    )) as { rows: { signalled: number }[] };
    return {
      pauseMs: paused.ms,
      resumeMs: resumed.ms,
      launcherMs,
      rows: paused.rows + resumed.rows,
      signalled: found[0]!.signalled,
    };
  }

  log(`writing ${FEW} and ${many} open runs`);
  const [few, all] = [await fill(FEW), await fill(many)];
  await measure(few);
  const measured: Record<'few' | 'all', Measured[]> = { few: [], all: [] };
  for (let n = 0; n < REPETITIONS; n += 1) {
    measured.few.push(await measure(few));
    measured.all.push(await measure(all));
  }
  const middle = (of: 'few' | 'all', field: keyof Measured): number => median(measured[of].map((one) => one[field]));
  const told = (of: 'few' | 'all'): string =>
    `pause ${middle(of, 'pauseMs').toFixed(1)} ms, resume ${middle(of, 'resumeMs').toFixed(1)} ms, launcher ${middle(of, 'launcherMs').toFixed(1)} ms, ${middle(of, 'rows')} rows written, ${middle(of, 'signalled')} runs signalled`;
  log(told('few'));
  log(told('all'));
  const rows = middle('all', 'rows');
  const signalled = Math.max(...measured.all.map((one) => one.signalled));
  return {
    figures: [
      { label: `${FEW} open runs in a wait`, value: told('few') },
      { label: `${many} open runs in a wait`, value: told('all') },
    ],
    targets: [
      {
        what: `rows written by a pause and a resume of ${many} open runs`,
        target: `<= ${MOST_ROWS}, as of ${FEW}`,
        got: `${rows}, of ${FEW}: ${middle('few', 'rows')}`,
        met: rows <= MOST_ROWS && rows <= middle('few', 'rows'),
      },
      { what: 'runs signalled', target: '0', got: String(signalled), met: signalled === 0 },
    ],
    raw: { ...measured },
  };
}
