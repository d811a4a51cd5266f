import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAppConnection } from '../domain/connect/app-connections/connections.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { createCampaign, createMailbox } from '../test/harness/factories.ts';
import { createEndpoint } from '../test/harness/webhooks.ts';
import type { BenchContext, BenchResult, Helper } from './context.ts';
import { launchCampaign, makeCampaign } from './data.ts';
import { describeLateness, lateness, TENANTS } from './lateness.ts';
import { percentile } from './measure.ts';

const BODY = 'Hi {{.FirstName}}, I saw what {{.Company}} does in {{.City}}. Would you have ten minutes next week?';
/** Mailboxes of the noisy tenant: some send one email per gap, some have an IMAP server that hangs. */
const NOISY = { mailboxes: 20, gapSeconds: 8, imap: 10 };
/** Time (ms) of noise before the other tenants start. */
const HEAD_START_MS = 10_000;
/** Load per core above which the rest of the machine is measured, not Heron. */
const BUSY_PER_CORE = 4;

/**
 * Measures the lateness of emails of 19 tenants: first while no other tenant is active. Then a twentieth tenant has a
 * hanging app, IMAP servers and webhook endpoint, and a running campaign of 100,000 leads.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const leads = context.quick ? 5 : 15;
  const crowd = context.quick ? 2_000 : 100_000;
  const calls = context.quick ? 150 : 500;
  const sink = await context.helper('sink');
  const hang = await context.helper('hang');

  await lateness(context, sink, 3);
  const quiet = await lateness(context, sink, leads);
  const quietLoad = loadavg()[0]!;
  context.log(`quiet: ${describeLateness(quiet)}`);
  await makeNoise(context, sink, hang, crowd, calls);
  await sleep(HEAD_START_MS);
  const { open: hanging } = await hang.ask<{ open: number }>('open');
  const noisy = await lateness(context, sink, leads);
  const noisyLoad = loadavg()[0]!;
  context.log(`noisy: ${describeLateness(noisy)}, ${hanging} connections hung as it began`);

  const isBusy = Math.max(quietLoad, noisyLoad) > BUSY_PER_CORE * cpus().length;
  const ratio = percentile(noisy, 0.99) / percentile(quiet, 0.99);
  return {
    figures: [
      { label: `slot to sent, ${TENANTS} tenants with ${leads} leads each, quiet`, value: describeLateness(quiet) },
      { label: `the same while a twentieth hangs and launches ${crowd} leads`, value: describeLateness(noisy) },
      { label: 'connections that hung as it began', value: String(hanging) },
      {
        label: 'load of the machine at the end, quiet and noisy',
        value: `${quietLoad.toFixed(1)} and ${noisyLoad.toFixed(1)}${isBusy ? ': busy with other work, the ratio says little' : ''}`,
      },
    ],
    targets: [
      {
        what: "the others' p99 from slot to sent, against the quiet run",
        target: '<= 1.5 x',
        got: `${ratio.toFixed(2)} x`,
        met: ratio <= 1.5 && !isBusy,
      },
    ],
    raw: { leads, crowd, calls, quiet, noisy, hanging, quietLoad, noisyLoad },
  };
}

/** Makes all servers of the twentieth tenant hang, and starts its campaigns. */
async function makeNoise(context: BenchContext, sink: Helper, hang: Helper, crowd: number, calls: number) {
  const { assembly } = context;
  const { deps } = assembly;
  const { ports } = await hang.ask<{ ports: number[] }>('ports');
  const [appPort, webhookPort, ...imapPorts] = ports as [number, number, ...number[]];
  const big = await makeCampaign(assembly, {
    contacts: crowd,
    mailboxes: NOISY.mailboxes,
    gapSeconds: NOISY.gapSeconds,
    smtpPort: sink.port,
    steps: [{ subject: 'A question for {{.Company}}', body_plain: BODY }],
  });
  const { organizationId } = big.tenant;
  for (let n = 0; n < NOISY.imap; n += 1) {
    const port = imapPorts[n % imapPorts.length]!;
    const servers = { smtp: { host: '127.0.0.1', port: sink.port }, imap: { host: '127.0.0.1', port } };
    await createMailbox(deps, organizationId, `reader${n}@bench.example.com`, servers);
  }
  await createEndpoint(deps, organizationId, `http://127.0.0.1:${webhookPort}/hook`);
  const { connection } = await createAppConnection(systemCtx(deps, organizationId, 'bench'), {
    name: 'App',
    baseUrl: `http://127.0.0.1:${appPort}`,
  });
  const { campaignId } = await createCampaign(
    deps,
    organizationId,
    [
      {
        kind: 'action',
        action: { type: 'app_action', app_connection_id: connection.id, path: '/', output_key: 'answer', inputs: {} },
      },
      { subject: 'A question', body_plain: BODY },
    ],
    { daily_limit: 1_000_000 },
  );
  await deps.db.raw(
    `insert into enrollments (id, organization_id, campaign_id, contact_id, entered_at, last_activity_at)
     select gen_random_uuid(), organization_id, :campaign, id, now(), now() from contacts where organization_id = :org limit :calls`,
    { campaign: campaignId, org: organizationId, calls },
  );
  await launchCampaign(assembly, big.tenant, campaignId);
  await launchCampaign(assembly, big.tenant, big.campaignId);
}
