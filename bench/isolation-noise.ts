import { setTimeout as sleep } from 'node:timers/promises';
import { createAppConnection } from '../domain/connect/app-connections/connections.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { newId } from '../lib/ids.ts';
import { createCampaign, createMailbox, type Tenant } from '../test/harness/factories.ts';
import { createEndpoint } from '../test/harness/webhooks.ts';
import type { BenchContext, Helper } from './context.ts';
import { launchCampaign, makeCampaign } from './data.ts';

const BODY = 'Hi {{.FirstName}}, I saw what {{.Company}} does in {{.City}}. Would you have ten minutes next week?';
/**
 * Numbers of the tenant's mailboxes. Each of the `senders` sends one email per gap (s); the IMAP servers of the others
 * hang.
 */
const MAILBOXES = { senders: 20, gapSeconds: 8, imap: 10 };
/** Number of leads whose app call hangs. */
const CALLS = 500;
/** Number of the tenant's webhook endpoints that hang. */
const ENDPOINTS = 10;
/** Searches per minute (the default limit of a key). `WRITES_PER_MINUTE` is the limit of a workspace. */
const QUESTIONS_PER_MINUTE = 60;
const WRITES_PER_MINUTE = 600;
/** Number of contacts that one write creates, each with an event. */
const PER_WRITE = 100;
/** Number of searches that are sent concurrently. */
const AT_ONCE = 24;

/** Tenant that uses up its limits until it is stopped. */
interface Noise {
  /** Stops the requests. Returns the number of requests of each kind. */
  stop(): Promise<Record<string, number>>;
}

/** Starts the campaigns of a tenant whose servers all hang, and sends its searches and writes. */
export async function makeNoise(
  context: BenchContext,
  { sink, hang, crowd }: { sink: Helper; hang: Helper; crowd: number },
): Promise<Noise> {
  const { assembly, stack } = context;
  const { deps } = assembly;
  const { ports } = await hang.ask<{ ports: number[] }>('ports');
  const [appPort, webhookPort, ...imapPorts] = ports as [number, number, ...number[]];
  const big = await makeCampaign(assembly, {
    contacts: crowd,
    mailboxes: MAILBOXES.senders,
    gapSeconds: MAILBOXES.gapSeconds,
    smtpPort: sink.port,
    steps: [{ subject: 'A question for {{.Company}}', body_plain: BODY }],
  });
  const { organizationId } = big.tenant;
  for (let n = 0; n < MAILBOXES.imap; n += 1) {
    const port = imapPorts[n % imapPorts.length]!;
    const servers = { smtp: { host: '127.0.0.1', port: sink.port }, imap: { host: '127.0.0.1', port } };
    await createMailbox(deps, organizationId, `reader${n}@bench.example.com`, servers);
  }
  for (let n = 0; n < ENDPOINTS; n += 1)
    await createEndpoint(deps, organizationId, `http://127.0.0.1:${webhookPort}/hook${n}`);
  await launchCalls(context, big.tenant, appPort);
  await launchCampaign(assembly, big.tenant, big.campaignId);

  let isOver = false;
  const done = { questions: 0, writes: 0, refusals: 0 };
  const send = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${stack.urls.api}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${big.tenant.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    if (!response.ok) done.refusals += 1;
  };
  const repeat = async (everyMs: number, work: () => Promise<unknown>): Promise<void> => {
    while (!isOver) await Promise.all([work().catch(() => (done.refusals += 1)), sleep(everyMs)]);
  };
  const running = Promise.all([
    repeat((60_000 * AT_ONCE) / QUESTIONS_PER_MINUTE, async () => {
      done.questions += AT_ONCE;
      await Promise.all(Array.from({ length: AT_ONCE }, () => send('/lead-database/people', largeQuestion())));
    }),
    repeat(60_000 / WRITES_PER_MINUTE, async () => {
      done.writes += 1;
      await send(
        '/contacts',
        Array.from({ length: PER_WRITE }, () => ({ email: `${newId()}@example.org` })),
      );
    }),
  ]);
  return {
    async stop() {
      isOver = true;
      await running;
      return done;
    },
  };
}

/** Returns a search with as many patterns as a workspace with 100,000 contacts may send. */
function largeQuestion(): object {
  const values = () => Array.from({ length: 20 }, () => `company ${Math.floor(Math.random() * 1e6)}`);
  const conditions = Array.from({ length: 10 }, () => ({ field: 'company', operator: 'contains', values: values() }));
  return { match: 'any', conditions };
}

/** Starts a campaign whose first step calls an app that hangs. */
async function launchCalls({ assembly }: BenchContext, tenant: Tenant, appPort: number): Promise<void> {
  const { deps } = assembly;
  const { organizationId } = tenant;
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
    { campaign: campaignId, org: organizationId, calls: CALLS },
  );
  await launchCampaign(assembly, tenant, campaignId);
}
