import { id, PAGE } from './arguments.ts';
import type { ToolSpec } from './tool.ts';

/**
 * Tools for reports, for the credential's rights and for finding the ids that other tools need, each with the operation
 * id of its route.
 */
export const REPORT_TOOLS: readonly (readonly [operationId: string, spec: Omit<ToolSpec, 'route'>])[] = [
  [
    'agentPolicies.getEffective',
    {
      name: 'get_policy',
      title: 'Read the agent policy',
      description:
        'Returns what this credential may do without a person: which actions, from which mailboxes, to how many people, until when, and how much of it is used today. Anything beyond it is answered with awaiting_approval and waits for a person.',
      arguments: {},
    },
  ],
  [
    'analytics.getCampaign',
    {
      name: 'get_campaign_report',
      title: 'Report the numbers of a campaign',
      group: 'reports',
      description:
        "Reports the outcomes of a campaign's emails since its start, in total and by step: sent, opened, clicked, answered, bounced, opted out. Rates are percent of the emails sent. Opens by people are unique_opens minus machine_opens. search_leads finds the people behind a number.",
      arguments: { campaign_id: id('campaign', 'list_campaigns or create_campaign_draft') },
    },
  ],
  [
    'analytics.getDashboard',
    {
      name: 'get_workspace_report',
      title: 'Report the numbers of the workspace',
      group: 'reports',
      description:
        'Reports the emails of all campaigns in the last 7, 30 or 90 UTC days, including today, in total and by day. Rates are percent of the emails sent.',
      arguments: { period: { at: 'query.period', description: '7d, 30d or 90d. Default: 7d' } },
    },
  ],
  [
    'acquisition.getSummary',
    {
      name: 'get_outcomes_report',
      title: 'Report results of emails',
      group: 'reports',
      description:
        'Counts the people emailed by campaigns who answered, signed up, became active or paid, with revenue and cost by currency, in minor units (cents). Counts events within window_days after an email to the person.',
      arguments: {
        from: { at: 'query.from', description: 'RFC 3339, included. Default: 30 days before `to`' },
        to: { at: 'query.to', description: 'RFC 3339, not included. Default: now' },
        window_days: 'query.window_days',
        campaign_id: { at: 'query.campaign_id', description: 'Only this campaign, from list_campaigns' },
      },
    },
  ],
  [
    'segments.list',
    {
      name: 'list_segments',
      title: 'List segments',
      group: 'campaigns',
      description:
        'Lists the saved conditions over contacts, newest first. Use their ids as the audience of a run or of add_contacts_to_campaign.',
      arguments: { ...PAGE },
    },
  ],
  [
    'categories.list',
    {
      name: 'list_categories',
      title: 'List contact categories',
      group: 'campaigns',
      description: 'Lists the categories of contacts with their ids.',
      arguments: {},
    },
  ],
  [
    'tags.list',
    {
      name: 'list_mailbox_tags',
      title: 'List mailbox tags',
      group: 'mailboxes',
      description: 'Lists the tags that group mailboxes, with their ids.',
      arguments: {},
    },
  ],
];
