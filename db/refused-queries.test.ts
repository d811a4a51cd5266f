import test from 'ava';
import { newId } from '../lib/ids.ts';
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts';
import { across } from './across.ts';
import type { Db, Trx } from './connection.ts';
import { Contacts } from './models/contact.ts';
import { Mailboxes } from './models/mailbox.ts';
import { OrgScope } from './tenancy.ts';

/** This function must not compile, because a column that was not selected cannot be read. */
export async function unread(org: OrgScope): Promise<unknown> {
  const row = await org.table('sends').first('id');
  // @ts-expect-error only the id was selected
  return row?.recipient;
}

/** This function must not compile, because a pool or transaction has no query methods. Only a scope can create them. */
export function unscoped(db: Db, trx: Trx): unknown[] {
  return [
    // @ts-expect-error a query on a pool
    db('contacts'),
    // @ts-expect-error SQL on a pool
    db.raw('select 1'),
    // @ts-expect-error a transaction without inTransaction
    db.transaction(() => Promise.resolve()),
    // @ts-expect-error a query on a transaction
    trx('contacts'),
    // @ts-expect-error SQL on a transaction
    trx.raw('select 1'),
    // @ts-expect-error work across organizations without a reason
    across(db),
    // @ts-expect-error a reason that is none
    across(db, 'because'),
    // @ts-expect-error a misspelt column, across organizations as well
    across(db, 'operator').table('users').where({ mail: 'x' }),
  ];
}

/** Queries that must not compile. The type checker fails if one of the queries compiles. No code here is executed. */
export function refused(org: OrgScope): unknown[] {
  const now = new Date();
  return [
    // @ts-expect-error a table that is not there
    org.table('contact'),
    // @ts-expect-error a table that belongs to no organization
    org.table('users'),
    // @ts-expect-error a misspelt column in a condition
    org.table('sends').where({ mailbox: 'x' }),
    // @ts-expect-error a misspelt column in a comparison
    org.table('sends').where('sent', '<', now),
    // @ts-expect-error a value of another type
    org.table('sends').where('sent_at', '<', 5),
    // @ts-expect-error a value that the column's check refuses
    org.table('sends').where({ state: 'posted' }),
    // @ts-expect-error a misspelt column in a test for null
    org.table('sends').whereNull('sent'),
    // @ts-expect-error a misspelt column in a list
    org.table('contacts').whereIn('mail', ['x']),
    // @ts-expect-error a misspelt column in an order
    org.table('sends').orderBy('sent'),
    // @ts-expect-error a misspelt column in a select
    org.table('sends').select('id', 'recipent'),
    // @ts-expect-error a misspelt column in a first
    org.table('sends').first('recipent'),
    // @ts-expect-error a misspelt column in an update
    org.table('sends').update({ sent: now }),
    // @ts-expect-error null in a column that is never null
    org.table('sends').update({ recipient: null }),
    // @ts-expect-error an insert without a column that has no default
    org.insert('labels', { id: newId(), registry: 'tag', title: 'x', position: 0, created_at: now, updated_at: now }),
    // @ts-expect-error an insert with a column that is not there
    org.insert('mailbox_tags', { mailbox_id: newId(), label_id: newId(), colour: 'red' }),
    // @ts-expect-error a bare object in a jsonb column, which node-postgres may write as an array of its own
    org.insert('campaign_advanced', { campaign_id: newId(), overrides: {}, updated_at: now }),
    // @ts-expect-error a misspelt column of an entity
    org.query(Contacts).where('mail', 'x'),
    // @ts-expect-error a misspelt column in a patch
    org.query(Contacts).findById('x').patch({ mail: 'x' }),
    // @ts-expect-error a jsonb value of another shape
    org.query(Mailboxes).patch({ smtp: { host: 'x' } }),
    // @ts-expect-error an entity without what it needs
    org.create(Contacts, { id: newId(), first_name: 'x', created_at: now, updated_at: now }),
    // @ts-expect-error SQL that does not bind its organization
    org.sql('select 1'),
  ];
}

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database?.drop());

test('what compiles reads and writes an organization’s rows, with values in jsonb columns', async (t) => {
  const now = new Date();
  const [mine, theirs] = await Promise.all([organization(now), organization(now)]);
  const contact = await mine.create(Contacts, {
    id: newId(),
    email: 'ann@example.org',
    custom_fields: { plan: 'pro' },
    created_at: now,
    updated_at: now,
  });
  t.deepEqual(contact.custom_fields, { plan: 'pro' });
  t.deepEqual(await mine.table('contacts').where({ email: 'ann@example.org' }).select('id', 'custom_fields'), [
    { id: contact.id, custom_fields: { plan: 'pro' } },
  ]);
  t.is(await theirs.table('contacts').update({ company: 'Theirs' }), 0);
  t.is(
    await mine
      .query(Contacts)
      .findById(contact.id)
      .patch({ custom_fields: { plan: 'free' } }),
    1,
  );
  t.like(await mine.query(Contacts).findOne({ email: 'ann@example.org' }), { custom_fields: { plan: 'free' } });
  t.is(await theirs.query(Contacts).findById(contact.id), undefined);
});

async function organization(now: Date): Promise<OrgScope> {
  const id = newId();
  await database.db('organizations').insert({ id, name: 'An organization', created_at: now, updated_at: now });
  return new OrgScope(database.db, id);
}
