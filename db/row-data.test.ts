import { ApplicationFailure } from '@temporalio/common';
import test from 'ava';
import { withoutRowData } from '../lib/error-report.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { createLogger } from '../lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts';
import { Campaigns } from './models/campaign.ts';
import { OrgScope } from './tenancy.ts';

const SECRET = 'argon2-hash-of-somebody';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database?.drop());

/** Statements that fail with a secret among their values, in every way PostgreSQL, knex and objection report it. */
async function failures(): Promise<Error[]> {
  const { db } = database;
  const failing: (() => PromiseLike<unknown>)[] = [
    () => db('users').insert({ id: newId(), email: null, password_hash: SECRET }),
    () => db.raw('select cast(? as uuid)', [SECRET]),
    () => db.raw(`select '${SECRET}'::int`),
    () =>
      new OrgScope(db, newId()).create(Campaigns, {
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
      .warn({ err: new AppError('internal_error', 'Something went wrong', { cause: error }) }, 'failed');
    log.error(error);
    log.error({ error });
  }
  t.is(lines.length, 16);
  for (const line of lines) {
    t.false(line.includes(SECRET), line);
    t.regex(line, /"code":"[0-9A-Z]{5}"|PostgreSQL refused a statement: [0-9A-Z]{5}/, 'what went wrong is still said');
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
