import { randomBytes } from 'node:crypto';
import test from 'ava';
import { defaultPayloadConverter as converter } from '@temporalio/common';
import { createTemporalClient } from '../../temporal/client.ts';
import { searchAttributes } from '../../temporal/attributes.ts';
import { plainRun, plainText } from './plain-history.ts';
import { testConfig } from './world.ts';

const payload = (value: unknown) => converter.toPayload(value);
const payloads = (value: unknown) => ({ payloads: [payload(value)] });
const secret = () => `planted "${randomBytes(8).toString('hex')}"`;

// A check that histories contain no secret is only meaningful if it would find one.
test('a secret is found wherever a run of a real server may hold it', async (t) => {
  const config = testConfig('postgres://nowhere/none');
  const client = createTemporalClient(config);
  t.teardown(() => client.connection.close());
  const planted = Object.fromEntries(
    ['argument', 'memo', 'summary', 'details', 'attribute', 'signal', 'reason'].map((place) => [place, secret()]),
  ) as Record<string, string>;
  const workflowId = `plain-history/${randomBytes(6).toString('hex')}`;
  const handle = await client.workflow.signalWithStart('nobody', {
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    workflowId,
    args: [{ deep: [{ in: planted.argument }] }],
    memo: { note: planted.memo },
    staticSummary: planted.summary!,
    staticDetails: planted.details!,
    typedSearchAttributes: searchAttributes({ State: planted.attribute }),
    signal: 'look',
    signalArgs: [{ at: planted.signal }],
  });
  await handle.terminate(planted.reason!);
  const text = await plainRun(client, workflowId);
  for (const [place, value] of Object.entries(planted)) t.true(text.includes(value), place);
  const encoded = JSON.stringify(await handle.fetchHistory());
  t.false(encoded.includes(planted.argument!), 'the encoded form hides it, which is why it is decoded');
});

for (const [place, message] of Object.entries({
  'an activity result': (value: string) => ({ activityTaskCompletedEventAttributes: { result: payloads({ value }) } }),
  'a failure': (value: string) => ({ failure: { message: value, cause: { stackTrace: 'x' } } }),
  'details of a failure': (value: string) => ({
    failure: { cause: { applicationFailureInfo: { details: payloads([value]) } } },
  }),
  'an encoded failure': (value: string) => ({ failure: { encodedAttributes: payload({ message: value }) } }),
  'a heartbeat': (value: string) => ({ pendingActivities: [{ heartbeatDetails: payloads({ value }) }] }),
  'a timer summary': (value: string) => ({ userMetadata: { summary: payload(value) } }),
  'bytes that are no JSON': (value: string) => ({ data: Buffer.from(`\u0001${value}`) }),
}))
  test(`a secret is found in ${place}`, (t) => {
    const value = secret();
    t.true(plainText(message(value)).includes(value));
    t.false(plainText(message('nothing')).includes(value));
  });
