import { createMailbox } from '../harness/factories.ts';
import { createSentHistory } from '../harness/sent-history.ts';
import { HOSTILE, type PageToSee, type Stage } from './stage.ts';

/** Two weeks of letters with what came of them, and goals. */
export async function sceneOfReports({ world, tenant, post }: Stage): Promise<PageToSee[]> {
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
  const goal = (name: string, kind: string, event: string) =>
    post('/goals', { name, kind, definition: { event_name: event }, is_primary: true });
  const signup = await goal('Signed up for the trial', 'signup', 'user.signed_up');
  await goal(HOSTILE, 'paid', 'invoice.paid');
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
    ['reports-funnels-goal', `/reports/funnels?steps=sent~reply~goal:${signup.id}`],
    ['reports-funnel-people', '/reports/people?of=funnel&figure=lost&steps=sent~reply&step=2&lost=true'],
    ['reports-deliverability-empty', '/reports/deliverability', 'empty'],
  ];
}
