import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { backup, restore } from '../../../deploy/backup-command.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { openBlobStores, type BlobStores } from '../../../lib/blobs/index.ts';
import { loadConfig } from '../../../lib/config/index.ts';
import { OrgScope } from '../../../db/tenancy.ts';
import { filePart, multipartMessage, openInbox } from '../../../test/harness/inbox-desk.ts';
import { createEmptyDatabase } from '../../../test/harness/database.ts';
import { createContact, type Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { startS3, type S3World } from '../../../test/harness/s3.ts';
import { assertStatus, call, createWorld, testConfig, type World } from '../../../test/harness/world.ts';
import { claimSend } from '../../sending/claim.ts';
import { readBlob } from '../../platform/blobs.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { storeBytes } from '../../platform/blobs.ts';
import { expireFiles } from '../../inbox/threads/retention.ts';
import { moveBlobs, removeBlobs } from './move-blobs.ts';

/** Content of more than one PostgreSQL chunk. */
const BYTES = Buffer.from(Array.from({ length: 600_000 }, (_, i) => (i * 7) % 251));
/** Time one hour ahead of the database's clock, by which deletions become due. */
const NOW = new Date(Date.now() + 3_600_000);

let clock: ManualClock;
let world: World;
let s3: S3World;
let root: string;
test.before(async () => {
  clock = new ManualClock(NOW);
  s3 = await startS3();
  root = await mkdtemp(join(tmpdir(), 'heron-files-'));
  world = await createWorld({ clock, env: { ...s3.env, BLOB_ROOT: root, ROW_SECURITY: 'true' } });
});
test.after.always(async () => {
  await world?.close();
  await s3?.stop();
  if (root) await rm(root, { recursive: true, force: true });
});

/** Returns the dependencies of a worker with this BLOB_PROVIDER. */
function worker(provider: string, blobs?: (stores: BlobStores) => BlobStores) {
  const config = testConfig(world.databaseUrl, { ...s3.env, BLOB_ROOT: root, BLOB_PROVIDER: provider });
  const stores = openBlobStores(config);
  return { ...world.deps, config, blobs: blobs ? blobs(stores) : stores };
}

const inFolder = async (): Promise<string[]> => {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => name);
};
const kept = { disk: inFolder, s3: () => s3.objects() };

async function receiver(tenant: Tenant) {
  const { mailboxId, email, receive } = await openInbox(world, tenant);
  return {
    mailboxId,
    /** Receives a message with a file. Returns their ids. */
    async receive(from?: string): Promise<{ messageId: string; fileId: string; blobId: string }> {
      const messageId = await receive(multipartMessage(email, [filePart('a.pdf', BYTES)], from));
      const row = await world.deps.db('inbound_attachments').where({ message_id: messageId }).first();
      return { messageId, fileId: row.id, blobId: row.blob_id };
    },
  };
}

async function download(tenant: Tenant, messageId: string, fileId: string): Promise<Buffer> {
  const answer = await fetch(`${world.url}/v1/unibox/${messageId}/attachments/${fileId}`, {
    headers: { authorization: `Bearer ${tenant.apiKey}` },
  });
  return Buffer.from(await answer.arrayBuffer());
}

for (const provider of ['disk', 's3'] as const)
  test.serial(`files go to ${provider}, are read from there, and go from there with what they belong to`, async (t) => {
    const { db } = world.deps;
    const tenant = await world.tenant();
    const { receive, mailboxId } = await receiver(tenant);
    const contactId = await createContact(db, clock.now(), tenant.organizationId, {
      email: `kim-${provider}@lead.test`,
    });
    const [first, theirs, third] = [await receive(), await receive(`kim-${provider}@lead.test`), await receive()];
    const composed = await call(world, 'POST', '/v1/unibox/compose', {
      token: tenant.sessionToken,
      body: {
        email_account_id: mailboxId,
        to: ['lea@else.test'],
        subject: 'The offer',
        body_plain: 'See the file.',
        attachments: [{ filename: 'offer.txt', content_type: 'text/plain', content: 'T2ZmZXI=' }],
      },
    });
    assertStatus(t, composed, 200);
    const parts = worker(provider);
    t.is(await moveBlobs(parts), 0, 'a file rests first');
    clock.advance(61_000);
    t.is(await moveBlobs(parts), 4);
    t.is(await moveBlobs(parts), 0);
    t.is((await kept[provider]()).length, 4);
    t.is((await db('blob_chunks')).length, 0);
    t.true((await download(tenant, first.messageId, first.fileId)).equals(BYTES));

    // Files outside PostgreSQL are read before the rows of their email are locked.
    await db('sends').where({ id: composed.body.task_id }).update({ state: 'reserved', slot_at: clock.now() });
    await db('direct_sends').where({ id: composed.body.task_id }).update({ state: 'queued' });
    const claim = await claimSend(
      { ...world.system(tenant.organizationId), blobs: parts.blobs },
      composed.body.task_id,
    );
    t.is(claim.kind, 'claimed');
    if (claim.kind === 'claimed') t.regex(claim.raw.toString(), /T2ZmZXI=/);

    await db('inbound_attachments')
      .where({ id: first.fileId })
      .update({ created_at: new Date(clock.now().getTime() - 366 * DAY_MS) });
    t.is(await expireFiles(world.deps), 1);
    assertStatus(t, await call(world, 'DELETE', `/v1/contacts/${contactId}`, { token: tenant.apiKey }), 204);
    t.is((await db('blobs').where({ id: theirs.blobId })).length, 0);
    t.is(await removeBlobs(parts), 2, 'at the end of retention, and with the contact');
    t.is((await kept[provider]()).length, 2);
    t.true((await download(tenant, third.messageId, third.fileId)).equals(BYTES));
    await db('organizations').where({ id: tenant.organizationId }).delete();
    t.is(await removeBlobs(parts), 2, 'with the workspace');
    t.deepEqual(await kept[provider](), []);
    t.is((await db('blob_removals')).length, 0);
  });

test.serial('a file that is too large for the memory of a worker stays in PostgreSQL', async (t) => {
  const { db } = world.deps;
  const { organizationId } = await world.tenant();
  const [largest, larger] = await transact(world.system(organizationId), async (tx) => [
    await storeBytes(tx, Buffer.alloc(64 * 1024 * 1024)),
    await storeBytes(tx, BYTES),
  ]);
  await db('blobs')
    .where({ id: larger })
    .update({ size: 64 * 1024 * 1024 + 1 });
  clock.advance(61_000);
  t.is(await moveBlobs(worker('disk')), 1);
  t.like(await db('blobs').where({ id: largest }).first(), { store: 'disk' });
  t.like(await db('blobs').where({ id: larger }).first(), { store: 'postgres', moving_since: null });
  await db('organizations').where({ id: organizationId }).delete();
  t.is(await removeBlobs(worker('disk')), 1);
});

test.serial('files follow BLOB_PROVIDER wherever they are, and back into PostgreSQL', async (t) => {
  const { db } = world.deps;
  const tenant = await world.tenant();
  const { receive } = await receiver(tenant);
  const { messageId, fileId, blobId } = await receive();
  clock.advance(61_000);
  for (const [provider, disk, bucket] of [
    ['disk', 1, 0],
    ['s3', 0, 1],
    ['postgres', 0, 0],
  ] as const) {
    t.is(await moveBlobs(worker(provider)), 1, provider);
    await removeBlobs(worker(provider));
    t.deepEqual([(await inFolder()).length, (await s3.objects()).length], [disk, bucket], provider);
    t.like(await db('blobs').where({ id: blobId }).first(), { store: provider, moving_to: null });
    t.true((await download(tenant, messageId, fileId)).equals(BYTES), provider);
  }
  await db('organizations').where({ id: tenant.organizationId }).delete();
});

test.serial('a store that fails keeps nothing from being read or deleted later', async (t) => {
  const { db } = world.deps;
  const tenant = await world.tenant();
  const { receive } = await receiver(tenant);
  const { messageId, fileId, blobId } = await receive();
  clock.advance(61_000);
  s3.fail(true);
  t.is(await moveBlobs(worker('s3')), 0);
  t.true((await download(tenant, messageId, fileId)).equals(BYTES), 'it is where it was');
  s3.fail(false);
  t.is(await moveBlobs(worker('s3')), 0, 'it is left alone for a while');
  clock.advance(600_000);
  t.is(await moveBlobs(worker('s3')), 1);
  await removeBlobs(worker('s3'));
  t.is((await s3.objects()).length, 1);
  await db('organizations').where({ id: tenant.organizationId }).delete();
  s3.fail(true);
  t.is(await removeBlobs(worker('s3')), 0);
  t.regex((await db('blob_removals').first()).last_error, /\S/);
  s3.fail(false);
  t.is(await removeBlobs(worker('s3')), 0);
  clock.advance(60_000);
  t.is(await removeBlobs(worker('s3')), 1);
  t.deepEqual(await s3.objects(), []);
  t.is((await db('blobs').where({ id: blobId })).length, 0);
});

test.serial(
  'a worker that dies between copy and commit leaves no copy behind; a file that goes meanwhile leaves none either',
  async (t) => {
    const { db } = world.deps;
    const tenant = await world.tenant();
    const { receive } = await receiver(tenant);
    const { messageId, fileId, blobId } = await receive();
    clock.advance(61_000);
    /** Returns a worker whose store calls `then` between the copy and the commit. */
    const after = (then: () => Promise<void>) =>
      worker('disk', (stores) => ({
        ...stores,
        current: {
          ...stores.current!,
          async put(key, bytes) {
            await stores.current!.put(key, bytes);
            await then();
          },
        },
      }));
    await moveBlobs(after(() => Promise.reject(new Error('killed'))));
    t.is((await inFolder()).length, 1);
    t.true((await download(tenant, messageId, fileId)).equals(BYTES));
    clock.advance(600_001);
    t.is(await moveBlobs(worker('disk')), 1);
    t.is((await inFolder()).length, 2);
    t.is(await removeBlobs(worker('disk')), 1);
    t.is((await inFolder()).length, 1);
    t.true((await download(tenant, messageId, fileId)).equals(BYTES));

    // A read that began in PostgreSQL is continued in the new store.
    const org = new OrgScope(db, tenant.organizationId);
    await moveBlobs(worker('postgres'));
    const reading = readBlob(org, worker('disk').blobs, blobId);
    const read = [(await reading.next()).value as Buffer];
    t.true(read[0]!.length < BYTES.length);
    t.is(await moveBlobs(worker('disk')), 1);
    for await (const chunk of reading) read.push(chunk);
    t.true(Buffer.concat(read).equals(BYTES));

    await moveBlobs(worker('postgres'));
    t.is(await moveBlobs(after(async () => void (await db('blobs').where({ id: blobId }).delete()))), 0);
    await removeBlobs(worker('disk'));
    t.deepEqual(await inFolder(), []);
  },
);

test.serial(
  'a backup has the files of every store; restored, they are in PostgreSQL and go to the new store under keys of its own',
  async (t) => {
    const tenant = await world.tenant();
    const system = world.system(tenant.organizationId);
    const ids = await transact(system, async (tx) => [
      await storeBytes(tx, BYTES),
      await storeBytes(tx, Buffer.from('small')),
      await storeBytes(tx, Buffer.alloc(0)),
    ]);
    const move = async (provider: 'disk' | 's3', id: string) => {
      // Makes only one of the files old enough to move.
      await world.deps
        .db('blobs')
        .whereNot({ id })
        .update({ created_at: new Date(clock.now().getTime() + DAY_MS) });
      await world.deps
        .db('blobs')
        .where({ id })
        .update({ created_at: new Date(clock.now().getTime() - DAY_MS) });
      t.is(await moveBlobs(worker(provider)), 1);
    };
    await move('disk', ids[0]!);
    await move('s3', ids[1]!);
    const folder = await mkdtemp(join(tmpdir(), 'heron-backup-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const settings = { ...s3.env, BLOB_ROOT: root, BLOB_PROVIDER: 's3' };
    const manifest = await backup(loadConfig({ ...settings, PRIMARY_DB: world.databaseUrl }), folder, () => {});
    t.is(manifest.blobs.files.length, 2);
    t.deepEqual(manifest.blobs.missing, []);
    const into = await createEmptyDatabase();
    t.teardown(() => into.drop());
    await restore(loadConfig({ PRIMARY_DB: into.url }), folder, undefined, () => {});
    t.deepEqual(await into.db('blobs').distinct().pluck('store'), ['postgres']);
    const org = new OrgScope(into.db, tenant.organizationId);
    const read = async (id: string) => {
      const chunks: Buffer[] = [];
      for await (const chunk of readBlob(org, worker('s3').blobs, id)) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    const [big, small, empty] = [await read(ids[0]!), await read(ids[1]!), await read(ids[2]!)];
    t.true(big.equals(BYTES));
    t.is(small.toString(), 'small');
    t.is(empty.length, 0);

    const before = await s3.objects();
    clock.advance(2 * DAY_MS);
    const restored = { ...worker('s3'), db: into.db };
    t.is(await moveBlobs(restored), 3);
    t.is(await removeBlobs(restored), 0);
    t.is((await s3.objects()).length, before.length + 3);
    await into.db('organizations').where({ id: tenant.organizationId }).delete();
    await removeBlobs(restored);
    t.deepEqual(await s3.objects(), before, 'the files of the installation that was backed up are left alone');
    t.is((await read(ids[1]!)).length, 0);
    await rm(join(folder, manifest.blobs.files[0]!.file));
    const another = await createEmptyDatabase();
    t.teardown(() => another.drop());
    await t.throwsAsync(
      restore(loadConfig({ PRIMARY_DB: another.url }), folder, undefined, () => {}),
      { message: /is damaged: blobs\// },
    );
  },
);

test.serial('a folder that is not there, and a key that leads out of it, are refused', async (t) => {
  const config = (env: Record<string, string>) => testConfig(world.databaseUrl, env);
  const nowhere = openBlobStores(config({ BLOB_PROVIDER: 'disk', BLOB_ROOT: join(root, 'not-mounted') })).current!;
  for (const act of [() => nowhere.put('a/b', BYTES), () => nowhere.remove('a/b'), () => nowhere.check()])
    await t.throwsAsync(act(), { message: /BLOB_ROOT.* is not there/ });
  const disk = worker('disk').blobs.current!;
  await t.throwsAsync(disk.put('../out', BYTES), { message: /no key/ });
  await t.throwsAsync(s3Of({ BLOB_S3_SECRET_ACCESS_KEY: 'wrong' }).put('a/b', BYTES), {
    message: /SignatureDoesNotMatch/,
  });
  await t.throwsAsync(s3Of({ BLOB_S3_BUCKET: 'another' }).check(), { message: /BLOB_S3_BUCKET.*404/ });
  await t.notThrowsAsync(s3Of({}).check());
  t.throws(() => loadConfig({ BLOB_PROVIDER: 'disk' }), { message: /BLOB_ROOT: needed/ });
  t.throws(() => loadConfig({ BLOB_PROVIDER: 's3', BLOB_S3_ACCESS_KEY_ID: 'x' }), {
    message: /BLOB_S3_BUCKET: needed[^]*BLOB_S3_SECRET_ACCESS_KEY/,
  });
  function s3Of(env: Record<string, string>) {
    return openBlobStores(config({ ...s3.env, BLOB_PROVIDER: 's3', ...env })).current!;
  }
});
