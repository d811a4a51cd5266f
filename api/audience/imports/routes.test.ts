import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { suggestMapping } from '../../../domain/audience/imports/columns.ts';
import { runImport } from '../../../domain/audience/imports/run.ts';
import { newId } from '../../../lib/ids.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

const LEADS = fileURLToPath(new URL('../../../examples/leads.csv', import.meta.url));

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

function form(text: string | Buffer, options?: unknown): FormData {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(Buffer.from(text as string))], { type: 'text/csv' }), 'people.csv');
  if (options !== undefined) body.append('options', typeof options === 'string' ? options : JSON.stringify(options));
  return body;
}

test.serial('a file is previewed, imported as a job, followed and corrected', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const leads = await readFile(LEADS);
  const preview = await call(world, 'POST', '/v1/contacts/import/preview', { token, body: form(leads) });
  assertStatus(t, preview, 200);
  t.deepEqual(
    [preview.body.filename, preview.body.encoding, preview.body.delimiter, preview.body.has_header],
    ['people.csv', 'utf-8', ',', true],
  );
  t.is(preview.body.total_rows, 344);
  t.is(preview.body.sample_rows.length, 20);
  t.deepEqual(
    preview.body.suggested_mapping.map((column: any) => column.target),
    [
      'email',
      'first_name',
      'last_name',
      'company',
      'phone',
      'custom:plan',
      'custom:city',
      'custom:last_order',
      'custom:notes',
      'unsubscribed',
    ],
  );

  const { id: category } = (await call(world, 'POST', '/v1/categories', { token, body: { title: 'Fair' } })).body;
  const mapping = preview.body.suggested_mapping.map((column: any) =>
    column.index === 8 ? { index: 8, target: 'ignore' } : column,
  );
  const started = await call(world, 'POST', '/v1/contacts/import', {
    token,
    body: form(leads, { mapping, categories: [category] }),
  });
  assertStatus(t, started, 202);
  t.deepEqual([started.body.status, started.body.progress, started.body.total_bytes], ['queued', 0, leads.length]);
  const intent = await world.deps
    .db('outbox')
    .where({ workflow_id: `contact-import/${started.body.id}` })
    .first();
  t.is(intent.kind, 'start');
  t.deepEqual(intent.payload.args, { organizationId, importId: started.body.id });
  t.is((await world.deps.db('audit_logs').where({ entity_id: started.body.id }).first()).action, 'create');

  await runImport(world.system(organizationId), started.body.id);
  const path = `/v1/contacts/imports/${started.body.id}`;
  const done = await call(world, 'GET', path, { token });
  t.deepEqual(
    [done.body.status, done.body.progress, done.body.imported + done.body.failed + done.body.skipped],
    ['completed', 1, 344],
  );
  t.deepEqual(
    (await call(world, 'GET', '/v1/contacts/imports', { token })).body.data.map((job: any) => job.id),
    [started.body.id],
  );
  const filed = await call(world, 'GET', `/v1/contacts?category=${category}&limit=1`, { token });
  t.deepEqual(
    filed.body.data[0].categories.map((label: any) => label.title),
    ['Fair'],
  );
  t.false('notes' in filed.body.data[0].custom_fields);

  const lines: number[] = [];
  for (let cursor = ''; ;) {
    const page = await call(world, 'GET', `${path}/problems?limit=7${cursor && `&cursor=${cursor}`}`, { token });
    assertStatus(t, page, 200);
    lines.push(...page.body.data.map((problem: any) => problem.line));
    if (!page.body.pagination.has_more) break;
    cursor = page.body.pagination.next_cursor;
  }
  t.is(lines.length, done.body.failed + done.body.skipped + done.body.unclear);
  t.deepEqual(
    lines,
    [...new Set(lines)].sort((a, b) => a - b),
  );
  const csv = await call(world, 'GET', `${path}/problems.csv`, { token });
  t.is(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.regex(csv.headers.get('content-disposition')!, /attachment/);
  t.regex(csv.text, /^\ufeff?Email Address,First Name,.*,import_line,import_reason,import_surplus\r\n/);
  assertStatus(t, await call(world, 'POST', `${path}/cancel`, { token }), 409);
});

test.serial('every fault of an import is named, nothing is stored, no file is left on disk', async (t) => {
  const { apiKey: token } = await world.tenant();
  const before = new Set(await readdir(tmpdir()));
  const marker = newId();
  const refuse = async (body: FormData) => {
    const answer = await call(world, 'POST', '/v1/contacts/import', { token, body });
    assertStatus(t, answer, 400);
    return answer.body.problems.map((problem: { path: string }) => problem.path);
  };
  const csv = `email,name\na@example.com,${marker}\n`;
  t.deepEqual(await refuse(form(csv, '{nonsense')), ['body.options']);
  t.deepEqual(
    await refuse(
      form(csv, {
        mapping: [
          { index: 0, target: 'email' },
          { index: -1, target: 'shoe' },
        ],
        surprise: 1,
        delimiter: '#',
      }),
    ),
    ['body.options.mapping.1.index', 'body.options.delimiter', 'body.options.surprise'],
  );
  t.deepEqual(await refuse(form(csv, { mapping: [{ index: 0, target: 'shoe' }] })), ['body.options.mapping.0.target']);
  t.deepEqual(
    await refuse(
      form(csv, {
        mapping: [
          { index: 7, target: 'email' },
          { index: 1, target: 'email' },
        ],
      }),
    ),
    ['body.options.mapping.0.index', 'body.options.mapping.1.target'],
  );
  t.deepEqual(await refuse(form(csv, { mapping: [{ index: 1, target: 'company' }] })), ['body.options.mapping']);
  for (const key of ['', 'x'.repeat(65), '__proto__'])
    t.deepEqual(await refuse(form(csv, { mapping: [{ index: 1, target: `custom:${key}` }] })), [
      'body.options.mapping.0.target',
    ]);
  const wide = ['email', ...Array.from({ length: 101 }, (_, index) => `field ${index}`)];
  const all = wide.map((_, index) => ({ index, target: index === 0 ? 'email' : `custom:f${index}` }));
  t.deepEqual(await refuse(form(`${wide.join(',')}\n`, { mapping: all })), ['body.options.mapping']);
  t.is(suggestMapping(wide, { hasHeader: true, sample: [] }).filter(({ target }) => target !== 'ignore').length, 101);
  t.deepEqual(await refuse(form(csv, { categories: [newId()], campaign_id: newId() })), [
    'body.options.categories.0',
    'body.options.campaign_id.0',
  ]);
  t.deepEqual(await refuse(form('\n \n')), ['body.file']);
  t.deepEqual(await refuse(new FormData()), ['body.file']);
  const named = new FormData();
  named.append('file', new Blob([csv]), 'a\0.csv');
  t.deepEqual(await refuse(named), ['body.file.filename']);
  assertStatus(t, await call(world, 'POST', '/v1/contacts/import', { token, body: { file: 'x' } }), 400);
  t.is((await call(world, 'GET', '/v1/contacts/imports', { token })).body.data.length, 0);
  const fresh = (await readdir(tmpdir(), { withFileTypes: true })).filter(
    (entry) => entry.isFile() && !before.has(entry.name),
  );
  for (const entry of fresh) {
    const text = await readFile(join(tmpdir(), entry.name), 'utf8').catch(() => '');
    t.false(text.includes(marker), `${entry.name} was left behind`);
  }
});

test.serial('the same Idempotency-Key starts one job', async (t) => {
  const { apiKey: token } = await world.tenant();
  const key = { 'idempotency-key': newId() };
  const csv = 'email\na@example.com\n';
  const first = await call(world, 'POST', '/v1/contacts/import', { token, body: form(csv), headers: key });
  const second = await call(world, 'POST', '/v1/contacts/import', { token, body: form(csv), headers: key });
  t.deepEqual([first.status, second.status, second.body.id], [202, 202, first.body.id]);
  const other = await call(world, 'POST', '/v1/contacts/import', {
    token,
    body: form('email\nb@example.com\n'),
    headers: key,
  });
  t.is(other.status, 409, 'another file is another request');
  t.is((await call(world, 'GET', '/v1/contacts/imports', { token })).body.data.length, 1);
});

test.serial('a queued job is cancelled, and another organization sees none of it', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const { id } = (await call(world, 'POST', '/v1/contacts/import', { token, body: form('email\na@example.com\n') }))
    .body;
  const other = await world.tenant('Other');
  for (const wanted of [id, newId(), 'x']) {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/problems'],
      ['GET', '/problems.csv'],
      ['POST', '/cancel'],
    ] as const) {
      t.is(
        (await call(world, method, `/v1/contacts/imports/${wanted}${path}`, { token: other.apiKey })).status,
        404,
        `${method} ${path}`,
      );
    }
  }
  t.is((await call(world, 'POST', `/v1/contacts/imports/${id}/cancel`, { token })).body.status, 'cancelled');
  await runImport(world.system(organizationId), id);
  t.deepEqual((await call(world, 'GET', `/v1/contacts/imports/${id}`, { token })).body.total, 0);
  t.is((await world.deps.db('blobs').where({ organization_id: organizationId })).length, 0);
});

test('a file has so many bytes and rows, and a workspace so many imports at a time, as the installation allows', async (t) => {
  const small = await createWorld({
    env: { IMPORT_MAX_ROWS: '3', IMPORT_MAX_BYTES: '2000', ORG_IMPORTS: '2', ORG_IMPORT_BYTES: '2500' },
  });
  t.teardown(() => small.close());
  const { apiKey: token } = await small.tenant();
  const file = (rows: number, note = '') =>
    form(`email,note\n${Array.from({ length: rows }, (_, n) => `p${n}@example.com,${note}\n`).join('')}`);
  const send = (body: FormData, as = token) => call(small, 'POST', '/v1/contacts/import', { token: as, body });
  const long = await send(file(4));
  t.deepEqual([long.status, long.body.problems?.[0].path], [400, 'body.file'], long.text);
  t.is((await send(file(1, 'x'.repeat(3000)))).status, 400, 'too large');
  const quoted = form(`email,note\np@example.com,"${'a\n'.repeat(20)}"\n\n\n`);
  const first = await send(quoted);
  t.is(first.status, 202, 'lines inside a field and empty ones are no rows');
  assertStatus(t, await send(file(3)), 202);
  const third = await send(file(1));
  t.deepEqual([third.status, third.body.code], [409, 'conflict']);
  assertStatus(t, await call(small, 'POST', `/v1/contacts/imports/${first.body.id}/cancel`, { token }), 200);
  assertStatus(t, await send(file(1)), 202);

  const { apiKey: other } = await small.tenant();
  assertStatus(t, await send(file(1, 'x'.repeat(1500)), other), 202);
  t.is((await send(file(1, 'x'.repeat(1500)), other)).status, 409, 'bytes of all together');
  const racing = await small.tenant();
  const answers = await Promise.all(Array.from({ length: 6 }, () => send(file(1), racing.apiKey)));
  t.is(answers.filter(({ status }) => status === 202).length, 2, 'many at once find room for two');
});
