import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import {
  startScriptedSmtp,
  type ScriptedSmtp,
  type ScriptedSmtpOptions,
  type SmtpMove,
  type SmtpMoment,
} from '../../test/harness/smtp-script.ts';
import { startMailWorld } from '../../test/harness/mail.ts';
import {
  createSmtpSender,
  type SmtpOutcome,
  type SmtpSender,
  type SmtpSenderOptions,
  type SmtpTarget,
} from './index.ts';
import { assignedIdIn } from './outcome.ts';
import { assertNowhere, randomSecret } from '../../test/harness/secrets.ts';
import { eventually } from '../../test/harness/eventually.ts';

const PASSWORD = randomSecret('password');

interface Given {
  server: ScriptedSmtp;
  sender: SmtpSender;
  target: SmtpTarget;
  /** Sends a message with the given id to the given recipients. */
  send(id: string, to?: string[], timeoutMs?: number): Promise<SmtpOutcome>;
}

/**
 * Short timeout for servers that never answer. All other servers get the long default, because the machine may be busy.
 */
const IMPATIENT = { socketTimeoutMs: 1_000 };

async function given(
  t: Pick<ExecutionContext, 'teardown'>,
  script: ScriptedSmtpOptions = {},
  options: Partial<SmtpSenderOptions> = {},
  security: SmtpTarget['security'] = 'none',
): Promise<Given> {
  const server = await startScriptedSmtp(script);
  const sender = createSmtpSender({
    allowPrivate: true,
    connectTimeoutMs: 10_000,
    socketTimeoutMs: 10_000,
    idleMs: 60_000,
    ...options,
  });
  t.teardown(async () => {
    await sender.close();
    await server.stop();
  });
  const target: SmtpTarget = { host: server.host, port: server.port, security, username: 'sam', password: PASSWORD };
  return {
    server,
    sender,
    target,
    send: (id, to = ['a@example.org'], timeoutMs = 5000) =>
      sender.send(
        'box',
        target,
        { from: 'sam@example.com', to },
        Buffer.from(`X-Id: ${id}\r\nSubject: s\r\n\r\nbody\r\n`),
        { timeoutMs },
      ),
  };
}

/** Creates a server that misbehaves at the `nth` occurrence of one step, and otherwise behaves correctly. */
const at = (moment: SmtpMoment, todo: SmtpMove, nth?: number): ScriptedSmtpOptions => ({
  move: (now, _line, count) => (now === moment && (nth === undefined || count === nth) ? todo : 'ok'),
});

test('messages share sessions, at most so many at once, and none is offered twice', async (t) => {
  const { server, send } = await given(t, {}, { maxSessions: 3 });
  const ids = Array.from({ length: 40 }, (_, n) => `m${n}`);
  const outcomes = await Promise.all(ids.map((id) => send(id)));
  t.true(outcomes.every(({ kind }) => kind === 'accepted'));
  t.deepEqual([...server.taken].sort(), [...ids].sort());
  t.is(server.peak(), 3);
  t.is(server.connections(), 3);
});

test('a session is replaced after so many messages', async (t) => {
  const { server, send } = await given(t, {}, { maxSessions: 1, maxMessages: 2 });
  for (const id of ['1', '2', '3', '4', '5']) t.is((await send(id)).kind, 'accepted');
  t.is(server.connections(), 3);
});

test('a server that hangs up while we sign in is unreachable, and its slot in the pool is free again', async (t) => {
  const { send } = await given(t, at('auth', 'cut'), { maxSessions: 1 });
  for (const id of ['1', '2', '3']) t.like(await send(id), { kind: 'unreachable', stage: 'session' });
});

test('a server that never answers the sign-in is given up', async (t) => {
  const { send } = await given(t, at('auth', 'hush'), { maxSessions: 1, ...IMPATIENT });
  t.like(await send('1'), { kind: 'unreachable' });
  t.like(await send('2'), { kind: 'unreachable' });
});

test('refused credentials are distinguished from a sign-in that may pass later', async (t) => {
  const refused = await given(t, at('auth', { reply: '535 5.7.8 no' }));
  t.like(await refused.send('1'), { kind: 'refused', stage: 'auth', permanent: true, code: 535 });
  const busy = await given(t, at('auth', { reply: '454 4.7.0 busy' }));
  t.like(await busy.send('1'), { kind: 'refused', stage: 'auth', permanent: false, code: 454 });
  const none = await given(t, {
    extensions: ['PIPELINING'],
    move: (moment) => (moment === 'auth' ? { reply: '502 no' } : 'ok'),
  });
  t.like(await none.send('1'), { kind: 'refused', stage: 'auth', permanent: true });
  t.deepEqual([...refused.server.taken, ...busy.server.taken, ...none.server.taken], []);
});

test('STARTTLS that is asked for and not there never falls back to plain text', async (t) => {
  const { send, server } = await given(t, at('starttls', { reply: '502 no' }), {}, 'starttls');
  t.like(await send('1'), { kind: 'refused', stage: 'tls' });
  t.deepEqual(server.taken, []);
});

test('with STARTTLS, a certificate of an unknown authority is not trusted', async (t) => {
  const mail = await startMailWorld({ startTls: true });
  const sender = createSmtpSender({ allowPrivate: true });
  t.teardown(async () => {
    await sender.close();
    await mail.stop();
  });
  await mail.addMailbox({ email: 'sam@example.com', password: 'secret' });
  const target: SmtpTarget = { ...mail.smtp, security: 'starttls', username: 'sam@example.com', password: 'secret' };
  t.like(await sender.send('box', target, { from: 'sam@example.com', to: ['a@example.org'] }, Buffer.from('x')), {
    kind: 'unreachable',
    stage: 'tls',
  });
});

test('greetings that refuse, that break off and that never come', async (t) => {
  t.like(await (await given(t, at('greeting', { reply: '554 go away' }))).send('1'), {
    kind: 'refused',
    stage: 'connect',
    permanent: true,
  });
  t.like(await (await given(t, at('greeting', { reply: '421 later', cut: true }))).send('1'), {
    kind: 'refused',
    stage: 'connect',
    permanent: false,
  });
  t.like(await (await given(t, at('greeting', 'cut'))).send('1'), { kind: 'unreachable' });
  t.like(await (await given(t, at('greeting', 'hush'), { connectTimeoutMs: 1_000 })).send('1'), {
    kind: 'unreachable',
    stage: 'greeting',
  });
});

test('a port on which no server listens is unreachable', async (t) => {
  const { send, server } = await given(t);
  await server.stop();
  server.stop = async () => {};
  t.like(await send('1'), { kind: 'unreachable', stage: 'connect' });
});

test('a refusal followed by a cut line gives its answer at once and leaves the pool whole', async (t) => {
  for (const pipelined of [true, false]) {
    const { send, server } = await given(
      t,
      {
        extensions: ['AUTH PLAIN', ...(pipelined ? ['PIPELINING'] : [])],
        move: (moment, line) =>
          moment === 'rcpt' && line.includes('bad') ? { reply: '550 5.1.1 no such user', cut: true } : 'ok',
      },
      { maxSessions: 1 },
    );
    for (const id of ['1', '2', '3']) {
      const outcome = await send(id, ['bad@example.org']);
      // With pipelining, the client reads this answer only together with the answer to DATA, which never arrives.
      if (pipelined) t.like(outcome, { kind: 'unreachable' });
      else t.like(outcome, { kind: 'refused', stage: 'recipient', code: 550, permanent: true });
    }
    t.is((await send('good')).kind, 'accepted');
    t.deepEqual(server.taken, ['good']);
  }
});

test('a server that never answers RSET delays no other email', async (t) => {
  const { send, server } = await given(
    t,
    {
      move: (moment, line) =>
        moment === 'rset' ? 'hush' : moment === 'rcpt' && line.includes('bad') ? { reply: '550 no' } : 'ok',
    },
    { maxSessions: 1, connectTimeoutMs: 1_000 },
  );
  t.like(await send('1', ['bad@example.org']), { kind: 'refused', stage: 'recipient' });
  t.is((await send('2')).kind, 'accepted');
  t.deepEqual(server.taken, ['2']);
});

test('a refused message leaves the session fit for the next', async (t) => {
  const { send, server } = await given(
    t,
    { move: (moment, line) => (moment === 'rcpt' && line.includes('bad') ? { reply: '451 later' } : 'ok') },
    { maxSessions: 1 },
  );
  t.like(await send('1', ['bad@example.org']), { kind: 'refused', stage: 'recipient', permanent: false });
  t.is((await send('2')).kind, 'accepted');
  t.is(server.connections(), 1);
});

test('sessions the server has closed meanwhile are not held against the message', async (t) => {
  for (const farewell of [undefined, '421 idle too long']) {
    const { send, server } = await given(t, {}, { maxSessions: 2 });
    await Promise.all([send('1'), send('2')]);
    server.cutAll(farewell);
    const outcomes = await Promise.all([send('3'), send('4'), send('5')]);
    t.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['accepted', 'accepted', 'accepted'],
    );
    t.deepEqual([...server.taken].sort(), ['1', '2', '3', '4', '5']);
  }
});

test('a kept session that says 421 to the next message is replaced; a fresh one that does defers it', async (t) => {
  const kept = await given(t, at('mail', { reply: '421 closing', cut: true }, 1), { maxSessions: 1 });
  t.is((await kept.send('1')).kind, 'accepted');
  t.is((await kept.send('2')).kind, 'accepted');
  t.is(kept.server.connections(), 2);
  const fresh = await given(t, at('mail', { reply: '421 closing', cut: true }));
  t.like(await fresh.send('1'), { kind: 'refused', code: 421, permanent: false });
});

test('copies that are refused are named with what the server said of them', async (t) => {
  const { send } = await given(t, {
    move: (moment, line) => (moment === 'rcpt' && line.includes('bad') ? { reply: '450 4.2.2 full' } : 'ok'),
  });
  t.like(await send('1', ['a@example.org', 'bad@example.org']), {
    kind: 'accepted',
    rejected: [{ recipient: 'bad@example.org', code: 450, response: '450 4.2.2 full' }],
  });
});

test('what breaks once the body may be out is unknown; what breaks before is not', async (t) => {
  for (const todo of [
    'cut',
    'hush',
    'take-and-cut',
    'take-and-hush',
    { reply: '', cut: true },
    { reply: 'what?', cut: true },
  ] satisfies SmtpMove[]) {
    t.like(await (await given(t, at('body', todo), IMPATIENT)).send('1'), { kind: 'unknown' }, JSON.stringify(todo));
  }
  for (const moment of ['mail', 'rcpt', 'data'] as const) {
    for (const todo of ['cut', 'hush', { reply: 'what?', cut: true }] satisfies SmtpMove[]) {
      t.like(
        await (await given(t, at(moment, todo), IMPATIENT)).send('1'),
        { kind: 'unreachable' },
        `${moment} ${JSON.stringify(todo)}`,
      );
    }
  }
  t.like(await (await given(t, at('body', { reply: '554 spam' }))).send('1'), {
    kind: 'refused',
    stage: 'data',
    permanent: true,
  });
  t.like(await (await given(t, at('body', { reply: '421 full', cut: true }))).send('1'), {
    kind: 'refused',
    stage: 'data',
    permanent: false,
  });
});

test('nothing is handed over after its time, whether it waits for a session or for the server', async (t) => {
  const slow = await given(t, at('mail', 'hush'), { maxSessions: 1, socketTimeoutMs: 60_000 });
  const outcomes = await Promise.all([
    slow.send('1', undefined, 300),
    slow.send('2', undefined, 300),
    slow.send('3', undefined, 300),
  ]);
  t.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['unreachable', 'unreachable', 'unreachable'],
  );
  t.deepEqual(slow.server.taken, []);
  const mute = await given(t, at('body', 'take-and-hush'), { socketTimeoutMs: 60_000 });
  t.like(await mute.send('1', undefined, 2_000), { kind: 'unknown' });
});

test('a message larger than the server takes is refused without being offered', async (t) => {
  const { send, server, sender, target } = await given(t, { extensions: ['AUTH PLAIN', 'SIZE 10'] });
  t.deepEqual(await sender.verify(target), { kind: 'ok', maxBytes: 10 });
  t.like(await send('1'), { kind: 'refused', stage: 'data', permanent: true });
  t.deepEqual(server.taken, []);
});

const move = fc.oneof(
  { weight: 6, arbitrary: fc.constant<SmtpMove>('ok') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<SmtpMove>(
      'cut',
      'hush',
      { reply: '421 bye', cut: true },
      { reply: '451 later' },
      { reply: '550 no' },
      { reply: '550 no', cut: true },
      { reply: 'what?' },
      { reply: '250 odd' },
    ),
  },
);
const bodyMove = fc.oneof(
  { weight: 3, arbitrary: fc.constant<SmtpMove>('ok') },
  {
    weight: 2,
    arbitrary: fc.constantFrom<SmtpMove>(
      'cut',
      'hush',
      'take-and-cut',
      'take-and-hush',
      { reply: '451 later' },
      { reply: '554 no', cut: true },
      { reply: 'what?' },
      { reply: '421 bye', cut: true },
    ),
  },
);
const MOMENTS = ['greeting', 'ehlo', 'auth', 'mail', 'rcpt', 'data', 'rset'] as const;

test('whatever a server does, the outcome agrees with its record, and every message gets one', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.record(Object.fromEntries(MOMENTS.map((moment) => [moment, fc.array(move, { maxLength: 12 })]))),
      fc.array(bodyMove, { maxLength: 12 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 3 }),
      async (moves, bodies, pipelined, maxSessions) => {
        const teardowns: (() => unknown)[] = [];
        let calm = false;
        const { send, server } = await given(
          { teardown: (work) => void teardowns.push(work) },
          {
            extensions: ['AUTH PLAIN', ...(pipelined ? ['PIPELINING'] : [])],
            move: (moment, _line, nth) =>
              (calm
                ? undefined
                : (moment === 'body' ? bodies : ((moves as Record<string, SmtpMove[]>)[moment] ?? []))[nth]) ?? 'ok',
          },
          { maxSessions, connectTimeoutMs: 60, socketTimeoutMs: 60 },
        );
        try {
          const ids = Array.from({ length: 8 }, (_, n) => `m${n}`);
          const outcomes = await Promise.all(ids.map((id) => send(id, undefined, 20_000)));
          for (const [index, outcome] of outcomes.entries()) {
            const times = server.taken.filter((id) => id === ids[index]).length;
            if (outcome.kind === 'accepted' && times !== 1)
              throw new Error(`${ids[index]} accepted, taken ${times} times`);
            if ((outcome.kind === 'refused' || outcome.kind === 'unreachable') && times !== 0)
              throw new Error(`${ids[index]} ${JSON.stringify(outcome)}, taken ${times} times`);
            if (times > 1) throw new Error(`${ids[index]} taken ${times} times`);
          }
          // The pool still works: messages are sent once the server behaves correctly and the old sessions are
          // replaced.
          calm = true;
          await eventually(async () => (await send('after')).kind === 'accepted');
        } finally {
          for (const work of teardowns) await work();
        }
      },
    ),
    { numRuns: 60, includeErrorInReport: true },
  );
  t.pass();
});

test('a host has so many sessions over all mailboxes; one that is idle makes room for another mailbox', async (t) => {
  const { server, sender, target } = await given(t, {}, { maxHostSessions: 2 });
  const raw = (id: string) => Buffer.from(`X-Id: ${id}\r\nSubject: s\r\n\r\nbody\r\n`);
  const boxes = Array.from({ length: 6 }, (_, n) => `box${n}`);
  for (let round = 0; round < 2; round += 1) {
    const outcomes = await Promise.all(
      boxes.map((box) =>
        sender.send(box, target, { from: 'sam@example.com', to: ['a@example.org'] }, raw(`${box}/${round}`), {
          timeoutMs: 5_000,
        }),
      ),
    );
    t.true(outcomes.every(({ kind }) => kind === 'accepted'));
  }
  t.deepEqual(await sender.verify(target), { kind: 'ok', maxBytes: null });
  t.is(new Set(server.taken).size, 12);
  t.true(server.peak() <= 4, 'sessions that make room may still be saying goodbye');
});

test('a session for which there is no room in time is unreachable, and nothing was handed over', async (t) => {
  const { server, sender, target } = await given(t, at('mail', 'hush'), { maxHostSessions: 1, socketTimeoutMs: 5_000 });
  const send = (box: string, timeoutMs: number) =>
    sender.send(box, target, { from: 'sam@example.com', to: ['a@example.org'] }, Buffer.from('X-Id: 1\r\n\r\nb\r\n'), {
      timeoutMs,
    });
  const first = send('one', 1_000);
  t.like(await send('two', 300), { kind: 'unreachable', stage: 'session' });
  t.like(await first, { kind: 'unreachable' });
  t.is(server.connections(), 1);
});

test('the end of a message waits until the caller allows it, when the server has the rest', async (t) => {
  let bytes = 0;
  const { server, sender, target, send } = await given(t, {
    move: (moment, line) => {
      if (moment === 'body') bytes = Math.max(bytes, line.length);
      return 'ok';
    },
  });
  const envelope = { from: 'sam@example.com', to: ['a@example.org'] };
  const raw = Buffer.from(`X-Id: big\r\nSubject: s\r\n\r\n${'a line of the body\r\n'.repeat(20_000)}`);
  let asked = 0;
  const beforeEnd = async () => {
    asked += 1;
    // Sends another message. If the end of the first had been sent, the server would have received it before.
    t.is((await send('marker')).kind, 'accepted');
    t.deepEqual(server.taken, ['marker'], 'nothing is taken before');
    return true;
  };
  t.like(await sender.send('box', target, envelope, raw, { beforeEnd }), { kind: 'accepted' });
  t.is(asked, 1);
  t.deepEqual(server.taken, ['marker', 'big']);
  t.true(bytes > 300_000);
});

for (const [what, beforeEnd] of [
  ['the caller does not allow it', async () => false],
  [
    'it cannot be asked',
    async () => {
      throw new Error('the database is away');
    },
  ],
] as const) {
  test(`a message does not end when ${what}, and the next one gets a session of its own`, async (t) => {
    const { server, sender, target, send } = await given(t, {}, { maxSessions: 1 });
    const envelope = { from: 'sam@example.com', to: ['a@example.org'] };
    const raw = Buffer.from('X-Id: no\r\n\r\nbody\r\n');
    t.like(await sender.send('box', target, envelope, raw, { beforeEnd }), { kind: 'withheld' });
    t.is((await send('yes')).kind, 'accepted');
    t.deepEqual(server.taken, ['yes']);
    t.is(server.connections(), 2);
  });
}

test('a line that breaks before the end has handed nothing over', async (t) => {
  const { server, sender, target, send } = await given(t);
  let marker: Promise<SmtpOutcome> | undefined;
  const envelope = { from: 'sam@example.com', to: ['a@example.org'] };
  const beforeEnd = async () => {
    server.cutAll();
    // Sends another message. After that, the client has noticed the disconnect.
    await (marker = send('marker'));
    return true;
  };
  const outcome = await sender.send('box', target, envelope, Buffer.from('X-Id: cut\r\n\r\nbody'), { beforeEnd });
  t.like(outcome, { kind: 'unreachable', stage: 'session' });
  t.is((await marker)?.kind, 'accepted');
  t.is((await send('later')).kind, 'accepted');
  t.deepEqual(server.taken, ['marker', 'later']);
});

test('the Message-ID that a relay gives is read from its answer', (t) => {
  const ses = 'email-smtp.eu-west-1.amazonaws.com';
  t.is(
    assignedIdIn('250 2.0.0 OK <DB9P250MB01@DB9P250MB01.EURP250.PROD.OUTLOOK.COM> [Hostname=x]', 'smtp.office365.com'),
    '<DB9P250MB01@DB9P250MB01.EURP250.PROD.OUTLOOK.COM>',
  );
  t.is(
    assignedIdIn('250 Ok 0102018b5c3c0a4f-ab12-000000', ses),
    '<0102018b5c3c0a4f-ab12-000000@eu-west-1.amazonses.com>',
  );
  t.is(
    assignedIdIn('250 Ok 0100018b5c3c0a4f-ab12-000000', 'email-smtp.us-east-1.amazonaws.com'),
    '<0100018b5c3c0a4f-ab12-000000@email.amazonses.com>',
  );
  t.is(assignedIdIn('250 Ok 0102018b5c3c0a4f-ab12-000000', 'mail.example.com'), undefined);
  t.is(assignedIdIn('250 2.0.0 Ok: queued as 4F1C2A0B3D', ses), undefined);
});

test('a server that repeats what it was given tells nobody the password', async (t) => {
  const { send } = await given(t, {
    move: (now, line) => (now === 'auth' ? { reply: `535 wrong: ${line} of ${PASSWORD}` } : 'ok'),
  });
  const outcome = await send('1');
  t.like(outcome, { kind: 'refused', stage: 'auth' });
  const said = JSON.stringify(outcome);
  t.regex(said, /wrong: .*\[redacted\]/);
  assertNowhere(t, said, [PASSWORD]);
});
