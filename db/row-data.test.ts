import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { ApplicationFailure } from '@temporalio/common';
import test from 'ava';
import { errorKind, errorSummary, withoutRowData } from '../lib/error-report.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { createLogger } from '../lib/log.ts';
import { createTestDatabase, type RawDb, type TestDatabase } from '../test/harness/database.ts';
import { connectRaw } from './connection.ts';
import { isDatabaseUnavailable } from './errors.ts';
import { Campaigns } from './models/campaign.ts';
import { OrgScope } from './tenancy.ts';
import { awaitStatement } from '../test/harness/statements.ts';
import { message } from '../messages/index.ts';

const SECRET = 'argon2-hash-of-somebody';

let database: TestDatabase;
let unguarded: RawDb;
test.before(async () => {
  database = await createTestDatabase();
  unguarded = connectRaw({ url: database.url, max: 1 });
});
test.after.always(async () => {
  await unguarded?.destroy();
  await database?.drop();
});

/**
 * Runs failing statements whose values contain a secret, and returns their errors. They cover all ways in which
 * PostgreSQL, knex and objection report an error.
 */
async function failures(): Promise<Error[]> {
  const { db } = database;
  const failing: (() => PromiseLike<unknown>)[] = [
    () => db('users').insert({ id: newId(), email: null, password_hash: SECRET }),
    () => db.raw('select cast(? as uuid)', [SECRET]),
    () => db.raw(`select '${SECRET}'::int`),
    () =>
      // Uses a pool without row-level security. With row-level security, PostgreSQL would omit the row from its error.
      new OrgScope(unguarded, newId()).create(Campaigns, {
        id: newId(),
        name: SECRET,
        status: SECRET as never,
        created_at: new Date(),
        updated_at: new Date(),
      }),
  ];
  return Promise.all(
    failing.map((run) =>
      Promise.resolve(run()).then(
        () => new Error('it passed'),
        (error: Error) => error,
      ),
    ),
  );
}

test('errors of the database are logged without statements, rows and values, wherever they stand in a chain', async (t) => {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(line) } });
  for (const error of await failures()) {
    t.true(JSON.stringify([error.message, error]).includes(SECRET), 'the secret is in what was thrown');
    log.error({ err: error }, 'failed');
    log
      .child({ requestId: 'r' })
      .warn({ err: new AppError('internal_error', message('request.failed'), { cause: error }) }, 'failed');
    log.error(error);
    log.error({ error });
  }
  t.is(lines.length, 16);
  for (const line of lines) {
    t.false(line.includes(SECRET), line);
    t.regex(line, /"code":"[0-9A-Z]{5}"|PostgreSQL [0-9A-Z]{5}/, 'what went wrong is still said');
  }
});

test('what an activity throws keeps its class and properties, and loses the values of a failed statement', async (t) => {
  for (const error of await failures()) {
    const bare = withoutRowData(error) as Error & { code: string };
    t.regex(bare.code, /^[0-9A-Z]{5}$/);
    t.false([bare.message, bare.stack, JSON.stringify(bare)].join().includes(SECRET));
    const failure = ApplicationFailure.create({
      message: 'gave up',
      type: 'import_refused',
      nonRetryable: true,
      cause: error,
    });
    const kept = withoutRowData(failure);
    t.true(kept instanceof ApplicationFailure);
    t.like(kept, { message: 'gave up', type: 'import_refused', nonRetryable: true });
    t.false(String((kept as ApplicationFailure).cause).includes(SECRET));
  }
  const plain = new Error('plain', { cause: new Error('inner') });
  t.is(withoutRowData(plain), plain);
  t.is(withoutRowData('text'), 'text');
});

test('what is stored of an error says its kind and holds no values', async (t) => {
  for (const error of await failures()) {
    for (const thrown of [error, new AppError('conflict', message('row.exists'), { cause: error })]) {
      t.regex(errorKind(thrown), /^PostgreSQL [0-9A-Z]{5}( \((table|constraint) .+\))?$/);
      t.false(`${errorKind(thrown)} ${errorSummary(thrown)}`.includes(SECRET));
    }
    t.is(errorSummary(error), errorKind(error));
  }
  t.is(errorKind(new TypeError(SECRET)), 'TypeError');
  t.is(errorKind('text'), 'Error');
  t.is(errorSummary(new Error('two\nlines')), 'two');
  t.is(errorSummary(new RangeError()), 'RangeError');
  t.is(errorSummary(new Error('x'.repeat(900))).length, 500);
});

test('a connection that breaks in the middle of a statement is known as such, and shows none of its values', async (t) => {
  const { hostname, port } = new URL(database.url);
  const sockets = new Set<Socket>();
  const proxy = createServer((inner) => {
    const outer = connect(Number(port), hostname);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {}).pipe(to);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = new URL(database.url);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const db = connectRaw({ url: url.href, max: 1 });
  await db.raw('select 1');
  const broken = t.throwsAsync(async () => db.raw('select pg_sleep(60), cast(? as text)', [SECRET]));
  await awaitStatement(database.db, 'select pg_sleep(60)');
  sockets.forEach((socket) => socket.destroy());
  const error = (await broken) as Error;
  t.true(isDatabaseUnavailable(error), error.message);
  const lines: string[] = [];
  createLogger({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(line) } }).error(
    { err: error },
    'failed',
  );
  t.false([...lines, errorSummary(error)].join().includes(SECRET));
  t.regex(lines[0]!, /pg_sleep/, 'the statement is still said');
  await db.destroy();
  await new Promise((resolve) => proxy.close(resolve));
});
