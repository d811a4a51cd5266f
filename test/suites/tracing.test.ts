import type { IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import test from 'ava';
import { loadConfig } from '../../lib/config/index.ts';
import { listenHttp } from '../../lib/listen.ts';
import { createLogger } from '../../lib/log.ts';
import { startTracing, traceparent } from '../../lib/trace.ts';
import { eventually, startEngine } from '../harness/engine.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { startMailWorld } from '../harness/mail.ts';
import { call, createWorld } from '../harness/world.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number; message?: string };
}

/** A collector that takes traces by OTLP over HTTP. */
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

test('the start of a campaign and the email that follows are one trace: request, outbox, workflow, activity, SMTP', async (t) => {
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
  const box = await mail.addMailbox({ email: 'ann@sender.example.com', password: 'secret' });
  await createMailbox(deps, tenant.organizationId, box.email, { smtp: box.smtp, imap: box.imap });
  const steps = [{ name: 'Opening', subject: 'Hello', body_plain: 'Hi' }];
  const { campaignId } = await createCampaign(deps, tenant.organizationId, steps, { status: 'paused' });
  const contact = await createContact(deps.db, deps.clock.now(), tenant.organizationId, {
    email: 'bob@lead.example.org',
  });
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
  t.is(started.status, 200, started.text);
  await eventually(async () => mail.messages.length === 1);
  await eventually(() => deps.db('sends').where({ campaign_id: campaignId, state: 'sent' }).first());
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
    ['request POST', 'outbox signal', 'activity runLauncher', 'outbox signal', 'activity deliverSend', 'smtp send'],
  );
  const ids = Object.fromEntries(way[4]!.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  t.is(ids['heron.workflow_id'], `enrollment/${campaignId}/${contact}`);
  t.true(collector.spans.some(({ traceId }) => traceId === refused.body.trace_id));
  for (const secret of ['bob@', 'ann@', 'Hello', '@lead', tenant.apiKey]) t.false(collector.text().includes(secret));
  const line = lines.map((one) => JSON.parse(one)).find(({ operation }) => operation === 'campaigns.start');
  t.is(line?.trace_id, sent.traceId, 'a line of the log names its trace');
});
