import { id, PAGE } from './arguments.ts';
import type { ToolSpec } from './tool.ts';

/**
 * Tools for reports, the credential's rights and the ids that other tools take, each with the operation id of its
 * route.
 */
export const REPORT_TOOLS: readonly (readonly [operationId: string, spec: Omit<ToolSpec, 'route'>])[] = [
  [
    'agent-policies.effective',
    {
      name: 'get_policy',
      title: 'See what may be done without a person',
      description:
        'Says what this credential may do without a person: which actions, from which mailboxes, to how many people, until when, and how much of that is used today. ' +
        'What goes beyond it is answered with awaiting_approval and waits for a person.',
      arguments: {},
    },
  ],
  [
    'analytics.campaign',
    {
      name: 'get_campaign_report',
      title: 'Report the numbers of a campaign',
      description:
        "What became of a campaign's emails since it began, in all and by step: sent, opened, clicked, answered, bounced, opted out. Rates are percent of the emails sent. " +
        'Opens by people are unique_opens less machine_opens. Who is behind a number is in search_leads.',
      arguments: { campaign_id: id('campaign', 'list_campaigns or create_campaign_draft') },
    },
  ],
  [
    'analytics.dashboard',
    {
      name: 'get_workspace_report',
      title: 'Report the numbers of the workspace',
      description:
        'Emails of all campaigns in the last 7, 30 or 90 UTC days, today included, in all and by day. Rates are percent of the emails sent.',
      arguments: { period: { at: 'query.period', description: '7d, 30d or 90d; 7d when left out' } },
    },
  ],
  [
    'acquisition.summary',
    {
      name: 'get_outcomes_report',
      title: 'Report what emails led to',
      description:
        'How many people whom campaigns wrote to answered, signed up, became active and paid, with revenue and cost by currency, in minor units (cents). ' +
        'Counts people whose event came within window_days after an email to them.',
      arguments: {
        from: { at: 'query.from', description: 'RFC 3339, included; 30 days before `to` when left out' },
        to: { at: 'query.to', description: 'RFC 3339, not included; now when left out' },
        window_days: 'query.window_days',
        campaign_id: { at: 'query.campaign_id', description: 'One campaign, from list_campaigns' },
      },
    },
  ],
  [
    'segments.list',
    {
      name: 'list_segments',
      title: 'List segments',
      description:
        'Lists the saved conditions over contacts, newest first. Their ids say whom a run or add_contacts_to_campaign is for.',
      arguments: { ...PAGE },
    },
  ],
  [
    'categories.list',
    {
      name: 'list_categories',
      title: 'List contact categories',
      description: 'Lists the categories that contacts are sorted into, with their ids.',
      arguments: {},
    },
  ],
  [
    'tags.list',
    {
      name: 'list_mailbox_tags',
      title: 'List mailbox tags',
      description: 'Lists the tags of mailboxes that send together, with their ids.',
      arguments: {},
    },
  ],
];
