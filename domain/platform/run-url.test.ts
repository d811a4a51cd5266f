import test from 'ava';
import { campaignWorkflow } from '../../workflows/campaign/contract.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';
import { runUrl } from './run-url.ts';

test('a run is linked by the id of its contract, encoded, and not at all without a UI', (t) => {
  const config = { TEMPORAL_UI_URL: 'https://temporal.example/ui/', TEMPORAL_NAMESPACE: 'heron' };
  const base = 'https://temporal.example/ui/namespaces/heron/workflows';
  const [campaignId, contactId] = ['c', 'p'];
  t.deepEqual(runUrl(config, campaignWorkflow, { campaignId }), { temporal_url: `${base}/campaign%2Fc` });
  t.deepEqual(runUrl(config, enrollmentWorkflow, { campaignId, contactId }), {
    temporal_url: `${base}/enrollment%2Fc%2Fp`,
  });
  t.deepEqual(runUrl({ ...config, TEMPORAL_UI_URL: undefined }, campaignWorkflow, { campaignId }), {});
});
