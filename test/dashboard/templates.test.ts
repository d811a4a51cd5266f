import test from 'ava';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
let provider: Receiver;
test.before(async () => {
  if (!findChromium()) return;
  provider = await startReceiver();
  world = await createDashboardWorld({
    env: {
      AI_BASE_URL: `${provider.url}/v1/`,
      AI_MODEL: 'judge-1',
      AI_API_KEY: 'sk-secret',
      AI_TOKENS_PER_DAY: '6000',
    },
  });
});
test.after.always(async () => {
  await world?.close();
  await provider?.stop();
});

browserTest(
  'a template is reviewed by the AI provider, and its suggestion for the subject is taken over',
  async (t) => {
    const judgement = {
      score: 41,
      verdict: 'Reads like an advertisement.',
      findings: [
        {
          severity: 'high',
          text: 'act now',
          field: 'body',
          issue: 'Pressure',
          suggestion: 'Drop it',
          category: 'tone',
        },
      ],
      suggested_subject: 'A question',
      improvements: ['Ask one thing'],
    };
    provider.respond({
      status: 200,
      body: {
        model: 'judge-1-2026',
        choices: [{ message: { content: JSON.stringify(judgement) } }],
        usage: { total_tokens: 900 },
      },
    });
    const tenant = await world.tenant();
    const { page, context, faults } = await world.open(tenant, '/settings/templates', { locale: 'en-GB' });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'New template' }).click();
    await dialog.getByLabel('Name').fill('Offer');
    await dialog.getByRole('textbox', { name: 'Subject' }).fill('FREE');
    await dialog.getByRole('textbox', { name: 'Text' }).fill('Hello\nact now please');
    await dialog.getByRole('button', { name: 'Review with AI' }).click();
    const review = dialog.getByRole('region', { name: 'Review' });
    await review.getByText('41 of 100').waitFor();
    await review.getByText('Reads like an advertisement.').waitFor();
    await review.getByText('act now: Pressure').waitFor();
    await review.getByText('Ask one thing').waitFor();
    await review.getByRole('button', { name: 'Use it' }).click();
    t.is(await dialog.getByRole('textbox', { name: 'Subject' }).inputValue(), 'A question');
    await dialog.getByRole('button', { name: 'Create template' }).click();
    await dialog.waitFor({ state: 'detached' });
    const stored = await world.deps.db('reply_templates').where({ organization_id: tenant.organizationId });
    t.like(stored, [{ name: 'Offer', subject: 'A question' }]);
    t.deepEqual(faults, []);
    await context.close();
  },
);
