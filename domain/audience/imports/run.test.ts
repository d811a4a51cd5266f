import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import test from 'ava';
import { leadsCsv, SUPPRESSED_BEFOREHAND } from '../../../examples/leads.ts';
import { newId } from '../../../lib/ids.ts';
import { xlsxOf } from '../../../test/harness/zip.ts';
import { createApiKey, createContact, createLabel } from '../../../test/harness/factories.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { addSuppressions } from '../suppressions/entries.ts';
import { getImport, listProblems, problemsCsv } from './read.ts';
import { failImport, runImport } from './run.ts';
import { cancelImport, startImport, type ImportRequest } from './start.ts';
import type { AppError } from '../../../lib/errors.ts';
import { render } from '../../../messages/render.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));

let world: World;
let folder: string;
test.before(async () => {
  world = await createWorld();
  folder = await mkdtemp(join(tmpdir(), 'heron-import-'));
});
test.after.always(async () => {
  await world?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function workspace(): Promise<Ctx> {
  return world.system((await world.tenant()).organizationId);
}

async function upload(ctx: Ctx, text: string | Buffer, options: Omit<ImportRequest, 'file'> = {}): Promise<string> {
  const path = join(folder, `${newId()}.csv`);
  await writeFile(path, text);
  return (await startImport(ctx, { file: { path, filename: 'leads.csv', size: Buffer.byteLength(text) }, ...options }))
    .id;
}

async function reasons(ctx: Ctx, id: string): Promise<Record<string, number>> {
  const { rows } = await listProblems(ctx, id, { limit: 200 });
  const counts: Record<string, number> = {};
  for (const row of rows) counts[row.reason] = (counts[row.reason] ?? 0) + 1;
  return counts;
}

test('examples/leads.csv is what its recipe makes, and imports as its README says', async (t) => {
  const bytes = await readFile(join(EXAMPLES, 'leads.csv'));
  t.true(bytes.equals(leadsCsv()));
  const text = bytes.toString();
  const readme = await readFile(join(EXAMPLES, 'README.md'), 'utf8');
  const said = (what: string) => Number(new RegExp(`^\\| ${what} \\| (\\d+) \\|`, 'm').exec(readme)?.[1]);
  for (const entry of [SUPPRESSED_BEFOREHAND.domain, ...SUPPRESSED_BEFOREHAND.addresses])
    t.true(readme.includes(`\`${entry}\``), entry);

  const ctx = await workspace();
  await addSuppressions(
    ctx,
    [SUPPRESSED_BEFOREHAND.domain, ...SUPPRESSED_BEFOREHAND.addresses].map((value) => ({ value })),
    'earlier opt-out',
  );
  const id = await upload(ctx, bytes);
  await runImport(ctx, id);
  const job = await getImport(ctx, id);
  t.is(job.status, 'completed');
  t.deepEqual(await reasons(ctx, id), {
    too_many_cells: said('with more cells than columns'),
    broken_characters: said('with a character that cannot be read'),
    unclear_permission: 1,
    duplicate_in_file: said('duplicates of an earlier row'),
    suppressed: said('suppressed'),
    missing_email: said('without an address'),
    invalid_email: said('with something that is no address'),
    malformed_row: said('not readable as CSV'),
  });
  t.is(job.imported, said('imported, of them 2 unsubscribed'));
  t.is(job.unclear, 1);
  t.true(job.imported >= 300);
  t.is(job.total, said('all'));
  t.is(job.total, job.imported + job.updated + job.skipped + job.failed);
  const stored = await world.deps.db('contacts').where({ organization_id: ctx.actor.organizationId });
  t.is(stored.length, job.imported);
  t.true(stored.every((row) => row.source === 'import' && row.source_detail === 'leads.csv'));
  t.deepEqual(stored.flatMap((row) => (row.subscribed ? [] : row.email)).sort(), [
    'maya.stone@tidewater.example.org',
    'noah.berg@green-grey.test',
  ]);
  const [taken] = await world.deps.db('suppressions').where({ email: 'maya.stone@tidewater.example.org' });
  t.like(taken, { source: 'import', metadata: { import_id: id, column: 'Do Not Email' } });
  const zoe = stored.find((row) => row.email === 'zoe@smith-jones.example.com');
  t.deepEqual(
    [zoe.first_name, zoe.company, zoe.custom_fields],
    ['Zoë', 'Smith, Jones & Co', { plan: 'pro', city: 'Cork', notes: 'address with a display name' }],
  );
  t.true(stored.some((row) => row.custom_fields.notes === 'Two offices:\n- Oslo\n- Bergen'));
  t.is(
    (await world.deps.db('domain_events').where({ organization_id: ctx.actor.organizationId, type: 'contact.created' }))
      .length,
    0,
  );
  // Each problem is reported with its physical line number, as shown in an editor.
  const { rows } = await listProblems(ctx, id, { limit: 200 });
  const lines = text.split('\r\n').flatMap((line) => line.split('\n'));
  for (const row of rows)
    if (row.email) t.true(lines[row.line - 1]!.toLowerCase().includes(row.email.toLowerCase()), `line ${row.line}`);
});

test('a job killed mid-way goes on behind its checkpoint and ends with exact counts', async (t) => {
  const ctx = await workspace();
  const N = 50_000;
  const address = (i: number) =>
    i % 50 === 49 ? `P${i - 25}@Example.com` : i % 1000 === 7 ? `broken ${i}` : `p${i}@example.com`;
  const text = `email,first_name,notes\n${Array.from({ length: N }, (_, i) => `${address(i)},First ${i},"note, ${i}"`).join('\n')}\n`;
  const broken = N / 1000;
  // Counts the rows that repeat the address of the row 25 above. If that row is malformed, its address is not repeated.
  let duplicates = 0;
  const seen = new Set<string>();
  for (let i = 0; i < N; i += 1) {
    const email = address(i).toLowerCase();
    if (email.startsWith('broken')) continue;
    if (seen.has(email)) duplicates += 1;
    seen.add(email);
  }
  const id = await upload(ctx, text);

  // Interrupts the import three times: between batches, by cancelling the attempt, and inside a batch before its
  // commit.
  await t.throwsAsync(
    runImport(ctx, id, {
      onProgress: (rows) => {
        if (rows === 9000) throw new Error('killed');
      },
    }),
    { message: 'killed' },
  );
  const abort = new AbortController();
  await t.throwsAsync(
    runImport(ctx, id, {
      signal: abort.signal,
      onProgress: (rows) => {
        if (rows >= 20_000) abort.abort(new Error('worker stopped'));
      },
    }),
    { message: 'worker stopped' },
  );
  t.is((await getImport(ctx, id)).checkpoint, 20_000);
  await world.deps.db.raw(
    `create or replace function die() returns trigger language plpgsql as $$ begin raise exception 'killed in a batch'; end $$`,
  );
  await world.deps.db.raw(
    `create trigger die before insert on contacts for each row when (new.email = 'p31500@example.com') execute function die()`,
  );
  await t.throwsAsync(runImport(ctx, id), { message: /killed in a batch/ });
  t.is((await getImport(ctx, id)).checkpoint, 31_000);
  await world.deps.db.raw('drop trigger die on contacts');
  await runImport(ctx, id);

  const job = await getImport(ctx, id);
  t.deepEqual(
    [job.status, job.total, job.imported, job.updated, job.skipped, job.failed],
    ['completed', N, seen.size, 0, duplicates, broken],
  );
  t.is(
    Number((await world.deps.db('contacts').where({ organization_id: ctx.actor.organizationId }).count())[0]!.count),
    seen.size,
  );
  t.is(
    Number((await world.deps.db('contact_import_problems').where({ import_id: id }).count())[0]!.count),
    duplicates + broken,
  );
  t.is(job.blob_id, null);
  t.is((await world.deps.db('blobs').where({ organization_id: ctx.actor.organizationId })).length, 0);
  await runImport(ctx, id);
  t.is((await getImport(ctx, id)).total, N);
});

test('two workers on one job apply every row once', async (t) => {
  const ctx = await workspace();
  const id = await upload(ctx, `email\n${Array.from({ length: 12_000 }, (_, i) => `p${i}@example.com`).join('\n')}\n`);
  await Promise.all([runImport(ctx, id), runImport(ctx, id)]);
  await runImport(ctx, id);
  const job = await getImport(ctx, id);
  t.deepEqual([job.status, job.total, job.imported, job.updated, job.skipped], ['completed', 12_000, 12_000, 0, 0]);
});

test('known contacts are updated, or left alone', async (t) => {
  const ctx = await workspace();
  const organizationId = ctx.actor.organizationId!;
  await createContact(world.deps.db, world.deps.clock.now(), organizationId, {
    email: 'ada@example.com',
    first_name: 'Ada',
    company: 'Old',
    custom_fields: { plan: 'free', city: 'London' },
  });
  const text = 'Email;First name;Company;Plan;Subscribed\nADA@example.com;;New;pro;no\nbo@example.com;Bo;;;yes\n';
  const keep = await upload(ctx, text, { updateExisting: false });
  await runImport(ctx, keep);
  t.deepEqual(await reasons(ctx, keep), { already_exists: 1 });
  const kept = await world.deps
    .db('contacts')
    .where({ email: 'ada@example.com', organization_id: organizationId })
    .first();
  t.deepEqual([kept.company, kept.subscribed], ['Old', false], 'an opt-out counts all the same');

  const update = await upload(ctx, text);
  await runImport(ctx, update);
  const job = await getImport(ctx, update);
  t.deepEqual([job.imported, job.updated], [0, 2]);
  const ada = await world.deps
    .db('contacts')
    .where({ email: 'ada@example.com', organization_id: organizationId })
    .first();
  t.deepEqual(
    [ada.first_name, ada.company, ada.custom_fields, ada.subscribed],
    ['Ada', 'New', { plan: 'pro', city: 'London' }, false],
  );
});

test('imported contacts are filed and enrolled; a campaign that goes away ends the job with its reason', async (t) => {
  const ctx = await workspace();
  const organizationId = ctx.actor.organizationId!;
  const now = world.deps.clock.now();
  const campaign = newId();
  await world.deps
    .db('campaigns')
    .insert({ id: campaign, organization_id: organizationId, name: 'Spring', created_at: now, updated_at: now });
  const category = await createLabel(world.deps, organizationId, 'category', 'Imported');
  const named = await createLabel(world.deps, organizationId, 'category', 'VIP');
  const id = await upload(ctx, 'email,tags\na@example.com,vip; other\nb@example.com,\n', {
    campaignId: campaign,
    categories: [category],
  });
  await runImport(ctx, id);
  const filed = await world.deps
    .db('contact_categories')
    .join('contacts', 'contacts.id', 'contact_id')
    .where({ 'contacts.organization_id': organizationId })
    .select('email', 'label_id')
    .orderBy(['email', 'label_id']);
  t.deepEqual(
    filed,
    [
      ['a@example.com', category],
      ['a@example.com', named],
      ['b@example.com', category],
    ].map(([email, label_id]) => ({ email, label_id })),
  );
  t.is((await world.deps.db('enrollments').where({ campaign_id: campaign })).length, 2);

  const late = await upload(ctx, 'email\nc@example.com\n', { campaignId: campaign });
  await world.deps.db('campaigns').where({ id: campaign }).delete();
  const error = await t.throwsAsync(runImport(ctx, late));
  await failImport(ctx, late, (error as AppError).said);
  const job = await getImport(ctx, late);
  t.deepEqual([job.status, job.error && render(job.error), job.imported], ['failed', 'Campaign not found', 0]);
});

test('leads that a key imports wait once the campaign was started; those of a person do not', async (t) => {
  const { organizationId, userId } = await world.tenant();
  const { db, clock } = world.deps;
  const system = world.system(organizationId);
  const { apiKeyId } = await createApiKey(world.deps, organizationId, userId);
  const byKey: Ctx = { ...system, actor: { ...system.actor, kind: 'api_key', userId, apiKeyId } };
  for (const [ctx, waiting] of [
    [byKey, 1_000],
    [system, 0],
  ] as const)
    for (const status of ['active', 'completed'] as const) {
      const campaign = newId();
      const now = clock.now();
      await db('campaigns').insert({
        id: campaign,
        organization_id: organizationId,
        name: 'Spring',
        created_at: now,
        updated_at: now,
      });
      const text = `email\n${Array.from({ length: 2_000 }, (_, i) => `p${i}@example.com`).join('\n')}\n`;
      const id = await upload(ctx, text, { campaignId: campaign });
      let started: Promise<unknown> | undefined;
      // Runs the import like a worker, without the caller's rights.
      const run = () =>
        runImport(system, id, {
          onProgress: () => {
            started ??= db('campaigns').where({ id: campaign }).update({ status }).then();
            throw new Error('the worker is lost');
          },
        });
      await t.throwsAsync(run(), { message: 'the worker is lost' });
      await started;
      await runImport(system, id);
      const leads = await db('enrollments').where({ campaign_id: campaign });
      t.is(leads.length, 2_000, `${ctx.actor.kind}, ${status}`);
      t.is(leads.filter((lead) => lead.hold_source === 'approval').length, waiting, 'those after the start');
      const { approval_id: approval } = await getImport(system, id);
      t.is(approval !== null, ctx === byKey);
    }
});

test('a cancelled job stops at its next batch and keeps what it has', async (t) => {
  const ctx = await workspace();
  const id = await upload(ctx, `email\n${Array.from({ length: 5000 }, (_, i) => `p${i}@example.com`).join('\n')}\n`);
  let cancelled: Promise<unknown> | undefined;
  await runImport(ctx, id, {
    onProgress: () => {
      cancelled ??= cancelImport(ctx, id);
    },
  });
  await cancelled;
  const job = await getImport(ctx, id);
  t.is(job.status, 'cancelled');
  t.true(job.total > 0 && job.total < 5000, String(job.total));
  await t.throwsAsync(cancelImport(ctx, id), { code: 'conflict' });
  await runImport(ctx, id);
  t.is((await getImport(ctx, id)).blob_id, null);
});

test('the file of problems holds the original rows and can be imported again', async (t) => {
  const ctx = await workspace();
  const id = await upload(ctx, 'email,company,phone\nbad,"A, ""B""",=1+1\nok@example.com,,\n,,+47 1\n');
  await runImport(ctx, id);
  let csv = '';
  for await (const part of await problemsCsv(ctx, id)) csv += part;
  t.is(
    csv,
    `\ufeffemail,company,phone,import_line,import_reason,import_surplus\r\nbad,"A, ""B""",'=1+1,2,invalid_email,\r\n,,'+47 1,4,missing_email,\r\n`,
  );
  const again = await upload(ctx, csv.replace('bad,', 'good@example.com,'));
  await runImport(ctx, again);
  const fixed = await world.deps
    .db('contacts')
    .where({ email: 'good@example.com', organization_id: ctx.actor.organizationId })
    .first();
  t.deepEqual([fixed.company, fixed.phone], ['A, "B"', '=1+1']);
});

test('windows-1252 and UTF-16 files keep their accents', async (t) => {
  const ctx = await workspace();
  const text = 'email;name;Vorname\njurgen@example.com;x;Jürgen\n';
  for (const bytes of [Buffer.from(text, 'latin1'), Buffer.from(`\ufeff${text}`, 'utf16le')]) {
    const id = await upload(ctx, bytes);
    await runImport(ctx, id);
    t.is(
      (
        await world.deps
          .db('contacts')
          .where({ email: 'jurgen@example.com', organization_id: ctx.actor.organizationId })
          .first()
      ).first_name,
      'Jürgen',
    );
    await world.deps.db('contacts').where({ email: 'jurgen@example.com' }).delete();
  }
});

test('a row that would give a contact more custom fields than it may have is reported, and changes nothing', async (t) => {
  const ctx = await workspace();
  const organizationId = ctx.actor.organizationId!;
  const fields = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, 'x']));
  const email = 'full@lead.test';
  const id = await createContact(world.deps.db, ctx.clock.now(), organizationId, { email, custom_fields: fields });
  const wide = Array.from({ length: 11 }, (_, n) => `w${n}`);
  const cells = wide.map(() => 'x'.repeat(4_900));
  const text = `email,${wide.join(',')}\n${email},more${','.repeat(10)}\nnew@lead.test,fits${','.repeat(10)}\nlarge@lead.test,${cells.join(',')}\n`;
  const mapping = [
    { index: 0, target: 'email' },
    ...wide.map((name, n) => ({ index: n + 1, target: `custom:${name}` })),
  ];
  const job = await upload(ctx, text, { mapping, hasHeader: true });
  await runImport(ctx, job);
  t.deepEqual(await reasons(ctx, job), { too_many_fields: 2 });
  t.like(await getImport(ctx, job), { status: 'completed', imported: 1, updated: 0, failed: 2 });
  t.deepEqual((await world.deps.db('contacts').where({ id }).first()).custom_fields, fields);
});

test('opt-outs and bounces of a list are taken over, whatever becomes of their rows', async (t) => {
  const ctx = await workspace();
  const organizationId = ctx.actor.organizationId!;
  for (const name of ['known', 'kept', 'faulty'])
    await createContact(world.deps.db, ctx.clock.now(), organizationId, { email: `${name}@example.com` });
  const text = `Email,Company,Unsubscribed,Bounced
out@example.com,Acme,yes,
bounce@example.com,,,550 no such user
twice@example.com,,,
TWICE@example.com,,2025-11-03,
known@example.com,,x,0
faulty@example.com,${'x'.repeat(300)},1,
unclear@example.com,,ask Bo,
fine@example.com,,no,0
`;
  const id = await upload(ctx, text);
  await runImport(ctx, id);
  const subscribed = Object.fromEntries(
    (await world.deps.db('contacts').where({ organization_id: organizationId })).map((row) => [
      row.email.replace('@example.com', ''),
      row.subscribed,
    ]),
  );
  t.deepEqual(subscribed, {
    out: false,
    bounce: false,
    twice: false,
    known: false,
    faulty: false,
    unclear: false,
    fine: true,
    kept: true,
  });
  t.deepEqual(
    (await world.deps.db('suppressions').where({ organization_id: organizationId }).orderBy('email')).map((row) => [
      row.email,
      row.source,
      row.reason.code,
      row.metadata.column,
    ]),
    [
      ['bounce@example.com', 'import', 'suppressed.imported_bounced', 'Bounced'],
      ['faulty@example.com', 'import', 'suppressed.imported_opted_out', 'Unsubscribed'],
      ['known@example.com', 'import', 'suppressed.imported_opted_out', 'Unsubscribed'],
      ['out@example.com', 'import', 'suppressed.imported_opted_out', 'Unsubscribed'],
      ['twice@example.com', 'import', 'suppressed.imported_opted_out', 'Unsubscribed'],
    ],
  );
  t.like(await getImport(ctx, id), { total: 8, imported: 5, updated: 1, skipped: 1, failed: 1, unclear: 1 });
  t.deepEqual(await reasons(ctx, id), { duplicate_in_file: 1, field_too_long: 1, unclear_permission: 1 });

  const kept = await upload(ctx, 'Email,DNC\nkept@example.com,1\n', { updateExisting: false });
  await runImport(ctx, kept);
  t.deepEqual(await reasons(ctx, kept), { already_exists: 1 });
  t.false(
    (await world.deps.db('contacts').where({ email: 'kept@example.com', organization_id: organizationId }).first())
      .subscribed,
  );
});

test('an opt-out survives a list that says yes, and a second import of the same list', async (t) => {
  const ctx = await workspace();
  const organizationId = ctx.actor.organizationId!;
  const text = await readFile(new URL('fixtures/reimport-unsubscribed.csv', import.meta.url));
  const email = 'ru@example.com';
  await createContact(world.deps.db, ctx.clock.now(), organizationId, { email, subscribed: false });
  for (let time = 0; time < 2; time += 1) await runImport(ctx, await upload(ctx, text));
  t.false((await world.deps.db('contacts').where({ email, organization_id: organizationId }).first()).subscribed);
});

test('a sheet of a workbook is imported as a job, with the numbers of its rows', async (t) => {
  const ctx = await workspace();
  const cell = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const bytes = xlsxOf({
    People: `<row r="2">${cell('A2', 'Email')}${cell('B2', 'First name')}</row>
      <row r="3">${cell('A3', 'a@example.com')}${cell('B3', 'two\nlines')}</row>
      <row r="9">${cell('A9', 'nobody')}</row><row r="10">${cell('A10', 'b@example.com')}</row>`,
  });
  const id = await upload(ctx, bytes);
  await runImport(ctx, id);
  t.like(await getImport(ctx, id), { status: 'completed', imported: 2, failed: 1, options: { format: 'xlsx' } });
  const { rows } = await listProblems(ctx, id, { limit: 10 });
  t.deepEqual(
    rows.map(({ line, reason }) => [line, reason]),
    [[9, 'invalid_email']],
  );
});

test('a row whose cells have moved is listed with all of them', async (t) => {
  const ctx = await workspace();
  const id = await upload(ctx, 'email,company,first_name\na@example.com,Acme, Inc.,Ada\n');
  await runImport(ctx, id);
  t.deepEqual(await reasons(ctx, id), { too_many_cells: 1 });
  let csv = '';
  for await (const part of await problemsCsv(ctx, id)) csv += part;
  t.regex(csv, /a@example\.com,Acme,Inc\.,2,too_many_cells,Ada\r\n$/);
});
