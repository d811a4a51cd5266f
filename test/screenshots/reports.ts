import { createGoal } from '../harness/acquisition.ts';
import { createMailbox } from '../harness/factories.ts';
import { createSentHistory } from '../harness/sent-history.ts';
import { HOSTILE, type PageToSee, type Stage } from './stage.ts';

/** Two weeks of letters with what came of them, and goals. */
export async function sceneOfReports({ world, tenant }: Stage): Promise<PageToSee[]> {
  const { organizationId } = tenant;
  const email = 'mia@northwind.example';
  const servers = { smtp: { host: '127.0.0.1', port: 2525 }, imap: { host: '127.0.0.1', port: 1143 } };
  const id = await createMailbox(world.deps, organizationId, email, servers);
  const { campaignId } = await createSentHistory(
    world,
    organizationId,
    { id, email },
    { days: 14, perDay: (ago) => [4, 5, 3, 2, 4, 1, 1][ago % 7]! },
  );
  await createGoal(world, organizationId, 'signup', { name: 'Signed up for the trial' });
  await createGoal(world, organizationId, 'paid', { name: HOSTILE });
  return [
    ['reports', '/reports'],
    ['reports-empty', '/reports', 'empty'],
    ['reports-people', `/reports/people?figure=replies&campaign_id=${campaignId}`],
    ['reports-deliverability', '/reports/deliverability'],
    ['reports-campaigns', '/reports/campaigns'],
    ['reports-campaigns-empty', '/reports/campaigns', 'empty'],
    ['reports-attribution', '/reports/attribution'],
    ['reports-attribution-empty', '/reports/attribution', 'empty'],
    ['reports-goals', '/reports/goals'],
    ['reports-goals-empty', '/reports/goals', 'empty'],
    ['reports-funnels', '/reports/funnels'],
  ];
}
