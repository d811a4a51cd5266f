import { defaultPayloadConverter } from '@temporalio/common';
import test from 'ava';
import { signalControl } from '../domain/sending/control/signals.ts';
import { transact } from '../domain/platform/kernel/transact.ts';
import { loadConfig } from '../lib/config/index.ts';
import { silentLogger } from '../lib/log.ts';
import { startEngine, type Engine } from '../test/harness/engine.ts';
import { eventually } from '../test/harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../test/harness/factories.ts';
import { plainText } from '../test/harness/plain-history.ts';
import { createWorld, testConfig } from '../test/harness/world.ts';
import { workflowBundle } from '../workers/bundle.ts';
import { replayNamespace } from '../workers/replay.ts';
import { createCodec } from './codec.ts';

const [ONE, TWO] = [`one:${'1a'.repeat(32)}`, `two:${'2b'.repeat(32)}`];
/** Names that occur in the arguments and results of a contact's workflow. */
const SAID = /"(?:campaignId|enrollmentId|sendId|stepRunId)"/;
const codec = (env: Record<string, string>) => createCodec(loadConfig(env));

test('a payload names its key, is read by whoever has it, and by nobody else', async (t) => {
  const plain = defaultPayloadConverter.toPayload({ contactId: 'c-1' })!;
  const [sealed] = await codec({ CODEC_PROVIDER: 'aes', CODEC_KEYS: ONE }).encode([plain]);
  t.is(Buffer.from(sealed!.metadata!['encryption-key-id']!).toString(), 'one');
  t.false(plainText(sealed).includes('contactId'));
  for (const env of [
    { CODEC_PROVIDER: 'aes', CODEC_KEYS: `${TWO},${ONE}` },
    { CODEC_PROVIDER: 'none', CODEC_KEYS: ONE },
  ]) {
    const [read, untouched] = await codec(env).decode([sealed!, plain]);
    t.deepEqual(defaultPayloadConverter.fromPayload(read!), { contactId: 'c-1' });
    t.is(untouched, plain, 'what is in the clear is read');
  }
  await t.throwsAsync(codec({ CODEC_PROVIDER: 'aes', CODEC_KEYS: TWO }).decode([sealed!]), {
    message: /the key one, which CODEC_KEYS/,
  });
  const damaged = { ...sealed!, data: Buffer.from(sealed!.data!) };
  damaged.data[20]! ^= 1;
  await t.throwsAsync(codec({ CODEC_PROVIDER: 'aes', CODEC_KEYS: ONE }).decode([damaged]));
  const [again] = await codec({ CODEC_PROVIDER: 'aes', CODEC_KEYS: `${TWO},${ONE}` }).encode([plain]);
  t.is(Buffer.from(again!.metadata!['encryption-key-id']!).toString(), 'two');
  t.is((await codec({ CODEC_KEYS: ONE }).encode([plain]))[0], plain, 'none encrypts nothing');
});

test('keys that are none are refused at the start', (t) => {
  for (const [env, fault] of [
    [{ CODEC_PROVIDER: 'aes' }, /CODEC_KEYS: needed/],
    [{ CODEC_KEYS: 'one:ab' }, /CODEC_KEYS: each needs/],
    [{ CODEC_KEYS: `${ONE},one:${'2b'.repeat(32)}` }, /CODEC_KEYS: .*twice/],
  ] as const)
    t.throws(() => loadConfig(env), { message: fault });
});

test('runs go on when encryption begins and when its key is replaced; every history replays, and new ones hold nothing in the clear', async (t) => {
  t.timeout(120_000);
  const world = await createWorld({ env: { WORKER_ROLES: 'temporal,relay' } });
  const { TEMPORAL_TASK_QUEUE } = world.deps.config;
  let engine: Engine | undefined;
  t.teardown(async () => {
    await engine?.stop();
    await world.close();
  });
  const restart = async (env: Record<string, string>): Promise<Engine> => {
    await engine?.stop();
    world.deps.config = testConfig(world.databaseUrl, { WORKER_ROLES: 'temporal,relay', TEMPORAL_TASK_QUEUE, ...env });
    return (engine = await startEngine(world));
  };
  const { organizationId } = await world.tenant();
  // No server listens on the mailbox's ports, so the workflows stay open.
  const nowhere = { host: '127.0.0.1', port: 1 };
  await createMailbox(world.deps, organizationId, 'sam@sender.example.com', { smtp: nowhere, imap: nowhere });
  /**
   * Starts a campaign with one contact. Returns the campaign, and a function that reads the history of the contact's
   * workflow.
   */
  const begin = async () => {
    const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'Hello', body_plain: 'Hi' }]);
    const contact = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {});
    await enroll(world.deps, organizationId, campaignId, [contact]);
    await engine!.launch(organizationId, campaignId);
    const history = async (): Promise<string> => {
      const handle = engine!.temporal.workflow.getHandle(`enrollment/${campaignId}/${contact}`);
      return plainText(await handle.fetchHistory());
    };
    await eventually(async () => (await history().catch(() => '')).includes('deliverSend'));
    return { campaignId, history };
  };
  const wake = async ({ campaignId }: { campaignId: string }) => {
    const run = await world.deps.db('enrollments').where({ campaign_id: campaignId }).first();
    await transact(world.system(organizationId), async (tx) => signalControl(tx, run, 'campaign'));
  };
  const replays = async () => {
    const { failures, replayed } = await replayNamespace(engine!.temporal, world.deps.config, silentLogger, {
      bundle: await workflowBundle(silentLogger),
      recentMs: 3_600_000,
      perType: 100,
    });
    t.deepEqual(failures, []);
    return replayed;
  };

  await restart({});
  const plain = await begin();
  t.regex(await plain.history(), SAID);
  await restart({ CODEC_PROVIDER: 'aes', CODEC_KEYS: ONE });
  const sealed = await begin();
  t.notRegex(await sealed.history(), SAID);
  await wake(plain);
  await eventually(async () => (await plain.history()).includes('binary/encrypted'));
  t.is((await replays()).enrollment, 2);
  await restart({ CODEC_PROVIDER: 'aes', CODEC_KEYS: `${TWO},${ONE}` });
  await wake(sealed);
  await eventually(async () => /^two$/m.test(await sealed.history()));
  t.regex(await sealed.history(), /^one$/m);
  t.is((await replays()).enrollment, 2);
});
