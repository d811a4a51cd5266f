import type { IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import test from 'ava';
import { WebSocket } from 'ws';
import { loadConfig } from '../../lib/config/index.ts';
import { listenHttp } from '../../lib/listen.ts';
import { createLogger } from '../../lib/log.ts';
import { startTracing, traceparent } from '../../lib/trace.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { startMailWorld } from '../harness/mail.ts';
import { startForms } from '../../api/servers/forms.ts';
import { startRealtime } from '../../api/servers/realtime.ts';
import { startTracking } from '../../api/servers/tracking.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { assertStatus, call, createWorld } from '../harness/world.ts';
import { assertNowhere, randomSecret } from '../harness/secrets.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number; message?: string };
  links?: { traceId: string }[];
}

/** Starts a collector for traces by OTLP over HTTP. */
async function startCollector() {
  const spans: Span[] = [];
  let text = '';
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    text += body;
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
    if (request.url === '/v1/traces')
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  const server = await listenHttp((request, response) => void take(request, response), '127.0.0.1', 0);
  return { url: server.url, spans, text: () => text, close: () => server.close() };
}

test.serial(
  'the start of a campaign and the email that follows are one trace: request, outbox, workflow, activity, SMTP',
  async (t) => {
    t.timeout(120_000);
    const [collector, mail] = await Promise.all([startCollector(), startMailWorld()]);
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const world = await createWorld({ log: createLogger({ level: 'info', service: 'test', destination }) });
    const { deps } = world;
    const tenant = await world.tenant();
    const [sender, recipient] = ['ann@sender.example.com', 'bob@lead.example.org'];
    const [subject, text] = [randomSecret('Hello'), randomSecret('Hi')];
    const box = await mail.addMailbox({ email: sender, password: 'secret' });
    await createMailbox(deps, tenant.organizationId, box.email, { smtp: box.smtp, imap: box.imap });
    const steps = [{ name: 'Opening', subject, body_plain: text }];
    const { campaignId } = await createCampaign(deps, tenant.organizationId, steps, { status: 'paused' });
    const contact = await createContact(deps.db, deps.clock.now(), tenant.organizationId, { email: recipient });
    await enroll(deps, tenant.organizationId, campaignId, [contact]);

    const untraced = await call(world, 'GET', '/v1/contacts/unknown', { token: tenant.apiKey });
    t.false('trace_id' in untraced.body, 'off: nothing is recorded');
    t.is(traceparent(), undefined);
    t.is(await startTracing(deps.config, 'test'), undefined);

    const tracing = await startTracing(loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }), 'test');
    const engine = await startEngine(world);
    t.teardown(async () => {
      await engine.stop();
      await world.close();
      await Promise.all([mail.stop(), collector.close()]);
    });
    const refused = await call(world, 'GET', '/v1/contacts/unknown', { token: tenant.apiKey });
    t.regex(refused.body.trace_id, /^[0-9a-f]{32}$/);
    const started = await call(world, 'POST', `/v1/campaigns/${campaignId}/start`, { token: tenant.sessionToken });
    assertStatus(t, started, 200);
    await eventually(async () => mail.messages.length === 1);
    await eventually(() => deps.db('sends').where({ campaign_id: campaignId, state: 'sent' }).first());
    // Stops the engine like the end of a process. The activity of the sent email may still be running, and its span is
    // recorded only when it ends.
    await engine.stop();
    await tracing!.stop();

    const named = new Map(collector.spans.map((span) => [span.spanId, span]));
    const sent = collector.spans.find(({ name }) => name === 'smtp send')!;
    const way = [sent];
    while (way[0]!.parentSpanId) way.unshift(named.get(way[0]!.parentSpanId)!);
    t.true(
      way.every(({ traceId }) => traceId === sent.traceId),
      'one trace',
    );
    t.deepEqual(
      way.map(({ name }) => name),
      ['request POST', 'outbox signal', 'activity beginLauncher', 'outbox signal', 'activity deliverSend', 'smtp send'],
    );
    const ids = Object.fromEntries(way[4]!.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
    t.is(ids['heron.workflow_id'], `enrollment/${campaignId}/${contact}`);
    t.true(collector.spans.some(({ traceId }) => traceId === refused.body.trace_id));
    assertNowhere(t, collector.text(), [sender, recipient, subject, text, tenant.apiKey]);
    const line = lines.map((one) => JSON.parse(one)).find(({ operation }) => operation === 'campaigns.start');
    t.is(line?.trace_id, sent.traceId, 'a line of the log names its trace');
  },
);

const STRANGER = '4bf92f3577b34da6a3ce929d0e0e4736';
/** Returns a `traceparent` header that requests the recording of its span. */
const traceparentOf = (traceId: string) => ({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });

test.serial(
  'a stranger cannot have a request recorded, nor choose the trace; errors in every form name theirs',
  async (t) => {
    const collector = await startCollector();
    const worlds = await Promise.all([createWorld(), createWorld({ env: { TRACE_TRUST_CALLERS: 'true' } })]);
    const [world, trusting] = worlds;
    const servers = await Promise.all([
      startTracking(world.deps, createMetrics(), { port: 0 }),
      startRealtime(world.deps, createMetrics(), { port: 0 }),
      startForms(world.deps, createMetrics(), { port: 0 }),
    ]);
    const [tracking, realtime, forms] = servers;
    t.teardown(async () => {
      await Promise.all(servers.map((server) => server.close()));
      await Promise.all(worlds.map((each) => each.close()));
      await collector.close();
    });
    const headers = traceparentOf(STRANGER);
    const recorded = async (ratio: number, work: () => Promise<void>): Promise<Span[]> => {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACE_SAMPLE_RATIO: String(ratio) };
      const tracing = await startTracing(loadConfig(env), 'test');
      await work();
      await tracing!.stop();
      return collector.spans.splice(0);
    };

    const none = await recorded(0, async () => {
      // The trace id decides if a trace is recorded: of all ids, only a share with the lowest values is.
      for (const id of [STRANGER, '00000000000000000000000000000001']) {
        const { body } = await call(world, 'GET', '/v1/nothing', { headers: traceparentOf(id) });
        t.regex(body.trace_id, /^[0-9a-f]{32}$/);
        t.not(body.trace_id, id);
      }
    });
    t.deepEqual(none, []);
    const kept = await recorded(0, async () => {
      t.is((await call(trusting, 'GET', '/v1/nothing', { headers })).body.trace_id, STRANGER);
    });
    t.deepEqual(
      kept.map(({ traceId, name }) => [traceId, name]),
      [[STRANGER, 'request GET']],
    );

    const seen: string[] = [];
    const all = await recorded(1, async () => {
      const oauth = await call(world, 'POST', '/v1/oauth/token', {
        body: new URLSearchParams({ grant_type: 'x' }),
        headers,
      });
      t.truthy(oauth.body.error_description, oauth.text);
      const page = await fetch(`${tracking.url}/u/unknown`, { headers });
      const reference = /Reference: (\S+) ([0-9a-f]{32})</.exec(await page.text())!;
      t.is(reference[1], page.headers.get('x-request-id') ?? 'none');
      const plain = (await (await fetch(`${realtime.url}/v1/realtime`, { headers })).json()) as { trace_id: string };
      const form = (await (await fetch(`${forms.url}/f`, { headers })).json()) as { trace_id: string };
      const refused = await new Promise<string>((resolve) => {
        const socket = new WebSocket(`${realtime.url.replace('http', 'ws')}/v1/realtime`, {
          headers: { ...headers, authorization: 'Bearer nobody' },
        });
        socket.on('unexpected-response', (_request, response) => {
          let text = '';
          response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(JSON.parse(text).trace_id));
        });
      });
      const message = await new Promise<string>((resolve) => {
        const socket = new WebSocket(`${realtime.url.replace('http', 'ws')}/v1/realtime`, { headers });
        socket.on('open', () => socket.send('{"type":"dance"}'));
        socket.on('message', (data) => resolve(JSON.parse((data as Buffer).toString('utf8')).trace_id));
      });
      seen.push(oauth.body.trace_id, reference[2]!, plain.trace_id, form.trace_id, refused, message);
    });
    t.is(new Set(seen).size, 6, 'each its own');
    for (const id of seen) {
      const span = all.find(({ traceId }) => traceId === id);
      t.truthy(span, 'what an error names is recorded');
      if (span!.name !== 'realtime message') t.is(span!.links![0]!.traceId, STRANGER, 'the caller is named');
    }
    t.false(seen.includes(STRANGER));
  },
);
