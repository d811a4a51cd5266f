import { setTimeout as sleep } from 'node:timers/promises';
import { rssMiB } from './measure.ts';
import { launchCampaign, makeCampaign } from './data.ts';
import type { BenchContext, BenchResult } from './context.ts';

const GAP_SECONDS = 30;
const MAILBOXES = 10;

/** Measures the start of a campaign with very many leads: time to the first email, and the cost of waiting leads. */
export async function run(context: BenchContext): Promise<BenchResult> {
  const leads = context.quick ? 10_000 : 100_000;
  const watchMs = context.quick ? 15_000 : 60_000;
  const { assembly, stack, log } = context;
  const sink = await context.helper('sink');
  const { tenant, campaignId } = await makeCampaign(assembly, {
    contacts: leads,
    mailboxes: MAILBOXES,
    gapSeconds: GAP_SECONDS,
    smtpPort: sink.port,
    steps: [
      { subject: 'Hello', body_plain: 'Hi {{.FirstName}}' },
      { body_plain: 'Once more', wait_after: 3 },
    ],
  });
  const before = stack.processes.worker.pid === undefined ? undefined : rssMiB(stack.processes.worker.pid);
  await sink.ask('reset');
  const startedAt = Date.now();
  await launchCampaign(assembly, tenant, campaignId);

  let firstAt: number | null = null;
  while (firstAt === null && Date.now() - startedAt < 60_000) {
    await sleep(5);
    ({ firstAt } = await sink.ask<{ firstAt: number | null }>('count'));
  }
  if (firstAt === null) throw new Error('no email left within a minute');
  log(`first email after ${firstAt - startedAt} ms`);
  await sleep(Math.max(0, startedAt + watchMs - Date.now()));

  const { count: sent } = await sink.ask<{ count: number }>('count');
  const { count: open } = await assembly.temporal.workflow.count(`ExecutionStatus = 'Running' AND Kind = 'enrollment'`);
  const [states] = (
    (await assembly.deps.db.raw(
      `select count(*) filter (where state = 'pending')::int as pending, count(*) filter (where state = 'active')::int as active,
       (select count(*)::int from sends where campaign_id = :campaign and state in ('reserved', 'sending')) as reserved
     from enrollments where campaign_id = :campaign`,
      { campaign: campaignId },
    )) as { rows: { pending: number; active: number; reserved: number }[] }
  ).rows;
  const after = stack.processes.worker.pid === undefined ? undefined : rssMiB(stack.processes.worker.pid);
  // Number of leads in progress: those with a reserved slot, and those that received the first email and wait for the
  // next.
  const inFlight = states!.reserved + sent;
  const mib = (value: number | undefined): string =>
    value === undefined ? 'not known here' : `${value.toFixed(0)} MiB`;
  return {
    figures: [
      {
        label: `campaign of ${leads} leads, ${MAILBOXES} mailboxes with a gap of ${GAP_SECONDS} s: first email after`,
        value: `${firstAt - startedAt} ms`,
      },
      { label: `after ${watchMs / 1000} s: emails sent`, value: String(sent) },
      {
        label: `after ${watchMs / 1000} s: open workflows`,
        value: `${open} (${states!.active} contacts launched, ${states!.pending} waiting as rows)`,
      },
      { label: 'memory of the worker before and then', value: `${mib(before)}, ${mib(after)}` },
    ],
    targets: [
      {
        what: 'open workflows follow contacts in flight',
        target: `<= ${inFlight + 10} of ${leads} leads`,
        got: String(open),
        met: open <= inFlight + 10,
      },
    ],
    raw: { leads, firstEmailMs: firstAt - startedAt, sent, openWorkflows: open, states, workerMiB: { before, after } },
  };
}
