import test from 'ava';
import { loadConfig } from '../../lib/config/index.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { startForms } from './forms.ts';

test('the forms service is alive, shows metrics to their token alone, and has no form', async (t) => {
  const config = loadConfig({ METRICS_TOKEN: 'scrape-me' });
  const forms = await startForms({ config }, createMetrics(), { port: 0 });
  t.teardown(() => forms.close());
  t.is(loadConfig({}).FORMS_PORT, 8090);
  const ask = (path: string, init?: RequestInit) => fetch(`${forms.url}${path}`, init);
  const health = await ask('/health');
  t.is(health.status, 200);
  t.deepEqual(await health.json(), { status: 'ok' });
  t.is((await ask('/metrics')).status, 404);
  t.is((await ask('/metrics', { headers: { authorization: 'Bearer scrape-me' } })).status, 200);
  for (const init of [{}, { method: 'POST', body: 'a=b' }]) {
    const answer = await ask('/f/unknown', init);
    t.is(answer.status, 404);
    t.like(await answer.json(), { code: 'not_found', message: 'There is no such form' });
  }
});
