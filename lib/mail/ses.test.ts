import type { IncomingMessage, ServerResponse } from 'node:http';
import test from 'ava';
import { simpleParser } from 'mailparser';
import { loadConfig, type Config } from '../config/index.ts';
import { listenHttp } from '../listen.ts';
import { silentLogger } from '../log.ts';
import { refusalOfSignature } from '../../test/harness/sigv4.ts';
import { createSystemMail, signInToTransport, type MailFailure } from './index.ts';

const ACCOUNT = { id: 'AKIDHERON', secret: 'the-secret-of-the-account', region: 'eu-west-1', service: 'ses' };

/** Starts a fake SES (v2), which checks signatures, accepts whole messages, and refuses like the real service. */
async function startSes() {
  const messages: { from: string; to: string[]; raw: Buffer }[] = [];
  const next: { status: number; name: string }[] = [];
  let cuts = 0;
  let isSending = true;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const reply = (status: number, content: object, name?: string) => {
      response.writeHead(status, { 'content-type': 'application/json', ...(name ? { 'x-amzn-errortype': name } : {}) });
      response.end(JSON.stringify(content));
    };
    const refusal = refusalOfSignature(request, body, ACCOUNT);
    if (refusal) return reply(403, { message: refusal }, refusal);
    if (request.url === '/v2/email/account') return reply(200, { SendingEnabled: isSending });
    const { FromEmailAddress: from, Destination: to, Content: content } = JSON.parse(body.toString());
    messages.push({ from, to: to.ToAddresses, raw: Buffer.from(content.Raw.Data, 'base64') });
    if (cuts-- > 0) return void request.socket.destroy();
    const refused = next.shift();
    if (refused) return reply(refused.status, { message: 'no' }, refused.name);
    return reply(200, { MessageId: 'ses-1' });
  };
  const server = await listenHttp((request, response) => void answer(request, response), '127.0.0.1', 0);
  return {
    url: server.url,
    messages,
    refuse: (status: number, name: string) => void next.push({ status, name }),
    cutNext: () => (cuts = 1),
    switchOff: () => (isSending = false),
    close: () => server.close(),
  };
}

function settings(endpoint: string, more: Record<string, string> = {}): Config {
  return loadConfig({
    MAIL_TRANSPORT: 'ses',
    SES_REGION: ACCOUNT.region,
    SES_ENDPOINT: endpoint,
    SES_ACCESS_KEY_ID: ACCOUNT.id,
    SES_SECRET_ACCESS_KEY: ACCOUNT.secret,
    MAIL_FROM: 'Heron <no-reply@heron.example.com>',
    ...more,
  });
}

const message = { to: 'ann@theirs.test', subject: 'Grüße', text: 'Hello', headers: { 'X-Kind': 'code' } };

test('a message goes to SES whole and signed; what was refused and what may have been taken are different things', async (t) => {
  const ses = await startSes();
  t.teardown(() => ses.close());
  const mail = createSystemMail(settings(ses.url), silentLogger);
  t.teardown(() => mail.close());
  await mail.send(message);
  const [taken] = ses.messages;
  t.is(taken!.from, 'Heron <no-reply@heron.example.com>');
  t.deepEqual(taken!.to, [message.to]);
  const read = await simpleParser(taken!.raw);
  t.is(read.subject, message.subject);
  t.is(read.text?.trim(), message.text);
  t.is(read.headers.get('auto-submitted'), 'auto-generated');
  t.is(read.headers.get('x-kind'), 'code');

  const fate = async () => (await t.throwsAsync<MailFailure>(mail.send(message))).fate;
  ses.refuse(400, 'MessageRejected');
  t.is(await fate(), 'never');
  ses.refuse(429, 'TooManyRequestsException');
  t.is(await fate(), 'later');
  ses.refuse(400, 'SendingPausedException');
  t.is(await fate(), 'later');
  ses.refuse(500, 'InternalFailure');
  t.is(await fate(), 'unknown');
  const before = ses.messages.length;
  ses.cutNext();
  t.is(await fate(), 'unknown', 'the answer was lost');
  t.is(ses.messages.length, before + 1, 'and the message was offered once');
  const wrong = createSystemMail(settings(ses.url, { SES_SECRET_ACCESS_KEY: 'another' }), silentLogger);
  t.is((await t.throwsAsync<MailFailure>(wrong.send(message))).fate, 'later');
  t.is(ses.messages.length, before + 1);
});

test('doctor and the health page ask SES whether it would take mail', async (t) => {
  const ses = await startSes();
  await t.notThrowsAsync(signInToTransport(settings(ses.url)));
  await t.throwsAsync(signInToTransport(settings(ses.url, { SES_ACCESS_KEY_ID: 'AKIDOTHER' })));
  ses.switchOff();
  await t.throwsAsync(signInToTransport(settings(ses.url)), { message: /switched off/ });
  const gone = createSystemMail(settings(ses.url), silentLogger);
  await ses.close();
  t.is((await t.throwsAsync<MailFailure>(gone.send(message))).fate, 'later', 'nothing can have been taken');
});
