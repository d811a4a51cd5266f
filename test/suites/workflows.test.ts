import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import test from 'ava';
import { FAMILIES } from '../../activities/index.ts';
import { deadLetterKinds } from '../../domain/operations/system/blocked-runs.ts';
import * as barrel from '../../workflows/index.ts';
import { loadConfig } from '../../lib/config/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { misfits } from './misfits.ts';
import { dataConverter } from '../../temporal/codec.ts';
import { workflowBundle } from '../../workers/bundle.ts';
import { installRuntime } from '../../workers/runtime.ts';

await installRuntime(silentLogger);
/** Encryption is on while unencrypted histories are replayed, because they must stay readable. */
const ENCRYPTING = dataConverter(loadConfig({ CODEC_PROVIDER: 'aes', CODEC_KEYS: `first:${'1a'.repeat(32)}` }));
const WORKFLOWS = new URL('../../workflows/', import.meta.url);
const families = readdirSync(WORKFLOWS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/workflow.ts`, WORKFLOWS)))
  .map((entry) => entry.name);

const readContract = (family: string): Promise<object> => import(`../../workflows/${family}/contract.ts`);

test('every family has a contract, stands in the barrel under its type, has activities under its name, and keeps a recorded history', async (t) => {
  t.true(families.length >= 3);
  for (const family of families) {
    const contracts = Object.values(await readContract(family)).filter(
      (value): value is { type: string; id: unknown } =>
        typeof value === 'object' && value !== null && 'type' in value && 'id' in value,
    );
    t.true(contracts.length > 0, `${family} has no contract`);
    for (const contract of contracts)
      t.is(
        typeof (barrel as Record<string, unknown>)[contract.type],
        'function',
        `${contract.type} is not in the barrel`,
      );
    t.true(histories(family).length > 0, `${family} has no recorded history`);
    t.true(existsSync(new URL(`../activities/${family}.ts`, WORKFLOWS)), `${family} has no activities/${family}.ts`);
  }
});

test('every family stands in the list of activities once, and every kind of dead letter belongs to one family', async (t) => {
  const types = FAMILIES.map(({ contract }) => contract.type);
  t.deepEqual([...types].sort(), Object.keys(barrel).sort());
  const kinds = deadLetterKinds(FAMILIES).map(({ taskType }) => taskType);
  t.is(new Set(kinds).size, kinds.length);
});

/** Replay result of each history, by its family and file. */
let replaying: ReturnType<typeof replayAll> | undefined;

for (const family of families) {
  for (const file of histories(family)) {
    test(`what stands in ${family}'s ${file} is what its contract says`, (t) => {
      const history = JSON.parse(readFileSync(new URL(`${family}/histories/${file}`, WORKFLOWS), 'utf8'));
      t.deepEqual(misfits(family, history), []);
    });

    test(`today's ${family} replays ${file}`, async (t) => {
      const errors = await (replaying ??= replayAll());
      const place = `${family}/${file}`;
      t.true(errors.has(place), 'the replay ended before this history');
      t.is(errors.get(place)?.message, undefined);
    });
  }
}

/** Replays every history in one worker, because each worker starts a thread that reads the whole bundle. */
async function replayAll(): Promise<Map<string, Error | undefined>> {
  const places = families.flatMap((family) => histories(family).map((file) => `${family}/${file}`));
  const recorded = places.map((place) => ({
    workflowId: place.replace(/^.*\/|\.json$/g, ''),
    history: historyFromJSON(JSON.parse(readFileSync(new URL(place.replace('/', '/histories/'), WORKFLOWS), 'utf8'))),
  }));
  const options = { workflowBundle: await workflowBundle(silentLogger), ...ENCRYPTING };
  const errors = new Map<string, Error | undefined>();
  // Results come in this order, because histories are replayed one after the other.
  for await (const { error } of Worker.runReplayHistories(options, recorded)) errors.set(places[errors.size]!, error);
  return errors;
}

function histories(family: string): string[] {
  const folder = new URL(`${family}/histories/`, WORKFLOWS);
  return existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];
}

test('a payload that is renamed or lacks a field is noticed', (t) => {
  const file = new URL('enrollment/histories/replied-while-waiting.json', WORKFLOWS);
  const recorded = readFileSync(file, 'utf8');
  const renamed = (from: string, to: string) =>
    recorded.replaceAll(/"data": "([A-Za-z0-9+/=]+)"/g, (_all, data: string) => {
      const text = Buffer.from(data, 'base64').toString().replaceAll(`"${from}"`, `"${to}"`);
      return `"data": "${Buffer.from(text).toString('base64')}"`;
    });
  for (const field of ['organizationId', 'sendId', 'stepRunId', 'outcome', 'until', 'where'])
    t.true(misfits('enrollment', JSON.parse(renamed(field, `${field}2`))).length > 0, field);
  t.deepEqual(misfits('enrollment', JSON.parse(renamed('nothing like this', 'x'))), []);
});
