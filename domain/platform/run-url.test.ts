import test from 'ava';
import { runUrl } from './run-url.ts';

test('a run is linked by the id of its contract, encoded, and not at all without a UI', (t) => {
  const config = { TEMPORAL_UI_URL: 'https://temporal.example/ui/', TEMPORAL_NAMESPACE: 'heron' };
  const base = 'https://temporal.example/ui/namespaces/heron/workflows';
  const [campaignId, contactId] = ['c', 'p'];
  t.deepEqual(runUrl(config, { campaignId }), { temporal_url: `${base}/campaign%2Fc` });
  t.deepEqual(runUrl(config, { campaignId, contactId }), { temporal_url: `${base}/enrollment%2Fc%2Fp` });
  t.deepEqual(runUrl(config, { importId: 'i' }), { temporal_url: `${base}/contact-import%2Fi` });
  t.deepEqual(runUrl(config, { replayId: 'r' }), { temporal_url: `${base}/goal-replay%2Fr` });
  t.deepEqual(runUrl(config, { deliveryId: 'd' }), { temporal_url: `${base}/webhook-delivery%2Fd` });
  t.deepEqual(runUrl({ ...config, TEMPORAL_UI_URL: undefined }, { campaignId }), {});
});
