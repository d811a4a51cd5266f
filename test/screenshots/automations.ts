import { createConnectionRow } from '../harness/integrations.ts';
import { HOSTILE, WIDE, type PageToSee, type Stage } from './stage.ts';
import { externalText } from '../../domain/platform/external-text.ts';

/**
 * Creates an automation with a condition and two branches, one with a very long name, and connected accounts of other
 * services.
 */
export async function sceneOfAutomations({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  const tag = await post('/categories', { title: 'Interested', color: '#16a34a' });
  const node = (id: string, type: string, x: number, y: number, more: object) => ({ id, type, x, y, ...more });
  const edge = (id: string, source: string, target: string, when = '') => ({ id, source, target, when });
  const { automation } = await post('/automations', {
    name: 'Answer the interested',
    trigger_event: 'email.replied',
    filter: { intents: ['positive'] },
    graph: {
      nodes: [
        node('trigger', 'trigger', 0, 0, {}),
        node('known', 'condition', 0, 130, {
          condition: { field: 'field', key: 'contact.company', operator: 'exists' },
        }),
        node('task', 'action', -140, 260, {
          action: 'sendsets.create_task',
          config: { title: 'Call {{ .contact.first_name }}', priority: 'high' },
        }),
        node('tag', 'action', 140, 260, { action: 'sendsets.add_tag', config: { category_id: tag.id } }),
        node('wait', 'action', -140, 390, { action: 'sendsets.wait', config: { wait_minutes: 60 } }),
        node('tell', 'action', -140, 520, { action: 'sendsets.notify', config: { message: HOSTILE } }),
      ],
      edges: [
        edge('e1', 'trigger', 'known'),
        edge('e2', 'known', 'task', 'true'),
        edge('e3', 'known', 'tag', 'false'),
        edge('e4', 'task', 'wait'),
        edge('e5', 'wait', 'tell'),
      ],
    },
  });
  await post('/automations', {
    name: WIDE,
    enabled: false,
    trigger_event: 'automation.called',
    graph: { nodes: [node('trigger', 'trigger', 0, 0, {})], edges: [] },
  });
  const connection = await createConnectionRow(world, tenant);
  await post(`/integrations/connections/${connection}/events`, {
    event_type: 'email.replied',
    action: 'n8n.send_webhook',
  });
  await world.deps
    .db('integration_connections')
    .where({ id: connection })
    .update({ label: HOSTILE.slice(0, 60), health: 'degraded', health_detail: externalText(HOSTILE) });
  const lapsed = await createConnectionRow(world, tenant);
  await world.deps
    .db('integration_connections')
    .where({ id: lapsed })
    .update({ label: 'Orders', status: 'reauth_required' });
  return [
    ['automations-empty', '/automations', 'empty'],
    ['automations', '/automations'],
    ['automation', `/automations/${automation.id}`],
    ['automation-condition', `/automations/${automation.id}?node=known`],
    ['automation-action', `/automations/${automation.id}?node=task`],
    ['integrations', '/integrations'],
    ['integrations-connect', '/integrations?connect=calendly', 'empty'],
    ['integration', `/integrations/${connection}`],
    ['integration-again', `/integrations/${lapsed}`],
  ];
}
