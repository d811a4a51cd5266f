import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { SMTPServer } from 'smtp-server';
import type { DnsRecords } from '../../../lib/dns.ts';
import { probeRecipients, type ProbeOptions } from '../../../lib/smtp/probe.ts';
import { startScriptedSmtp, type SmtpMove } from '../../../test/harness/smtp-script.ts';
import { noRecords, testConfig } from '../../../test/harness/world.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { addressChecker } from './checker.ts';
import { checkByProbe } from './by-probe.ts';

const FROM = 'checks@ours.example';
const settings = (port: number, more: Record<string, string> = {}): Deps['config'] =>
  testConfig('postgres://nobody@127.0.0.1/none', {
    EMAIL_VERIFICATION_PROBE_FROM: FROM,
    EMAIL_VERIFICATION_PROBE_NAME: 'probe.ours.example',
    EMAIL_VERIFICATION_PROBE_PORT: String(port),
    ALLOW_PRIVATE_MAIL_HOSTS: 'true',
    ...more,
  });
const at = (...hosts: string[]): DnsRecords => ({ ...noRecords, mx: async () => hosts });

test('a real server: there, not there, taking everything, full, putting off, and refusing us; nothing is sent', async (t) => {
  const seen = { names: new Set<string>(), from: new Set<string>(), to: [] as string[], data: 0 };
  const refusals: Record<string, [number, string]> = {
    'grey.example': [451, '4.7.1 Greylisted, try again in five minutes'],
    'full.example': [552, '5.2.2 Mailbox full'],
    'blocked.example': [550, '5.7.1 Service unavailable; client host blocked using zen.spamhaus.org'],
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onMailFrom({ address }, session, done) {
      seen.from.add(address);
      seen.names.add(session.hostNameAppearsAs || '');
      done();
    },
    onRcptTo({ address }, _session, done) {
      seen.to.push(address);
      const [name, domain] = address.split('@') as [string, string];
      if (domain === 'all.example' || name === 'ann') return done();
      const [code, words] = refusals[domain] ?? [550, '5.1.1 User unknown'];
      done(Object.assign(new Error(words), { responseCode: code }));
    },
    onData(stream, _session, done) {
      seen.data += 1;
      stream.resume().on('end', () => done());
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  const deps = { config: settings(port), dns: at('127.0.0.1') } as Deps;
  const check = addressChecker(deps)!;
  const found = async (email: string) => {
    const verdict = await check(deps, email);
    return verdict === 'later' ? verdict : [verdict.status, verdict.reason, verdict.isCatchAll];
  };
  t.deepEqual(await found('ann@real.example'), ['valid', 'mailbox_answers', false]);
  t.deepEqual(await found('bob@real.example'), ['invalid', 'no_mailbox', false]);
  t.deepEqual(await found('bob@all.example'), ['risky', 'catch_all', true]);
  t.deepEqual(await found('bob@full.example'), ['risky', 'mailbox_full', false]);
  t.deepEqual(await found('bob@grey.example'), ['unknown', 'greylisted', false]);
  t.deepEqual(await found('ann@grey.example'), ['unknown', 'takes_mail', false]);
  t.deepEqual(await found('bob@blocked.example'), ['unknown', 'probe_refused', false]);
  // Contacts no server, because the check without a mail server already gives a verdict for this address.
  t.deepEqual(await found('info@real.example'), ['risky', 'role_address', false]);
  t.deepEqual([...seen.from], [FROM]);
  t.deepEqual([...seen.names], ['probe.ours.example']);
  t.is(seen.data, 0);
  const strangers = seen.to.filter((address) => !/^(ann|bob)@/.test(address));
  t.is(new Set(strangers.map((address) => address.split('@')[0])).size, 7, 'another random one for each');
  t.false(seen.to.includes('info@real.example'));
  // Without EMAIL_VERIFICATION_PROBE_FROM no server is contacted.
  const { EMAIL_VERIFICATION_PROBE_FROM: _from, ...plain } = deps.config;
  const off = { ...deps, config: plain } as Deps;
  t.like(await addressChecker(off)!(off, 'bob@real.example'), { reason: 'takes_mail' });
});

/** Probes a server that misbehaves, and returns the result. */
const probe = async (
  t: { teardown(work: () => Promise<void>): void },
  move: Parameters<typeof startScriptedSmtp>[0],
  more: Partial<ProbeOptions> = {},
) => {
  const server = await startScriptedSmtp(move);
  t.teardown(() => server.stop());
  const options = { port: server.port, allowPrivate: true, name: 'a.example', from: FROM, timeoutMs: 5_000, ...more };
  return { server, result: await probeRecipients(server.host, ['a@b.example', 'c@b.example'], options) };
};
const answering = (moment: string, ...moves: SmtpMove[]) => ({
  move: (asked: string, _line: string, nth: number) => (asked === moment ? (moves[nth] ?? 'ok') : ('ok' as const)),
});

test('a server that refuses to talk is told apart from one that cannot be reached', async (t) => {
  const refused = async (moment: string, reply: string) => (await probe(t, answering(moment, { reply }))).result;
  t.like(await refused('greeting', '554-no\r\n554 mail from you'), {
    kind: 'refused',
    at: 'greeting',
    reply: { code: 554, words: 'no mail from you' },
  });
  // The server refuses HELO as well as EHLO.
  t.like(await refused('ehlo', '500 what'), { kind: 'refused', at: 'ehlo', reply: { code: 502 } });
  t.like(await refused('mail', '421 later'), { kind: 'refused', at: 'mail', reply: { code: 421 } });
  t.deepEqual((await probe(t, answering('greeting', 'cut'))).result, { kind: 'unreachable' });
  t.deepEqual(await refused('greeting', 'hello there'), { kind: 'unreachable' });
  t.deepEqual(await refused('ehlo', `250-${'x'.repeat(100_000)}`), { kind: 'unreachable' });
  t.deepEqual(await refused('mail', '250-more\r\n'.repeat(500)), { kind: 'unreachable' });
});

test('a conversation that breaks off keeps what was said', async (t) => {
  const { result } = await probe(t, answering('rcpt', 'ok', 'cut'));
  t.deepEqual(result, { kind: 'asked', replies: [{ code: 250, words: 'fine' }] });
  const { result: going } = await probe(t, answering('rcpt', { reply: '421 4.3.2 going down' }));
  t.deepEqual(going, { kind: 'asked', replies: [{ code: 421, words: '4.3.2 going down' }] });
});

test('silence ends with the time, and a private address is refused without a connection', async (t) => {
  const { result } = await probe(t, answering('mail', 'hush'), { timeoutMs: 200 });
  t.deepEqual(result, { kind: 'unreachable' });
  const { server, result: refused } = await probe(t, {}, { allowPrivate: false });
  t.deepEqual(refused, { kind: 'unreachable' });
  t.is(server.connections(), 0);
  const deps = { config: settings(server.port, { ALLOW_PRIVATE_MAIL_HOSTS: 'false' }), dns: at('127.0.0.3') };
  t.is(await checkByProbe(deps, 'a@b.example'), 'later');
  t.is(server.connections(), 0);
});

test('the second exchanger is asked where the first cannot be reached; one has two conversations at once', async (t) => {
  let open = 0;
  let peak = 0;
  let asked = 0;
  let meet = (): void => {};
  // Waits long enough for a third session to begin if the limit failed.
  const met = new Promise<void>((resolve) => (meet = resolve)).then(() => sleep(200));
  const server = await startScriptedSmtp({
    move: (moment, line) => {
      if (moment === 'mail') {
        peak = Math.max(peak, (open += 1));
        asked += 1;
        if (open === 2) meet();
        // The first session is answered at once, because no second session is open yet.
        return asked === 1 ? 'ok' : { reply: '250 fine', after: met };
      }
      if (moment !== 'rcpt' || line.includes('<ann')) return 'ok';
      open -= 1;
      return { reply: '550 5.1.1 no such user' };
    },
  });
  t.teardown(() => server.stop());
  const config = settings(server.port);
  // No server listens at this address.
  t.like(await checkByProbe({ config, dns: at('127.0.0.2', 'localhost') }, 'ann@b.example'), { status: 'valid' });
  const verdicts = await Promise.all(
    Array.from({ length: 8 }, (_, index) => checkByProbe({ config, dns: at('localhost') }, `ann${index}@b.example`)),
  );
  t.true(verdicts.every((verdict) => verdict !== 'later' && verdict.status === 'valid'));
  t.is(peak, 2);
});
