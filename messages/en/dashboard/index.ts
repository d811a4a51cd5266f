import { agents } from './agents.ts';
import { automations } from './automations.ts';
import { bulk } from './bulk.ts';
import { campaigns } from './campaigns.ts';
import { common } from './common.ts';
import { crm } from './crm.ts';
import { deletion } from './deletion.ts';
import { inbox } from './inbox.ts';
import { integrations } from './integrations.ts';
import { lead } from './lead.ts';
import { leads } from './leads.ts';
import { mailboxes } from './mailboxes.ts';
import { meetings } from './meetings.ts';
import { operator } from './operator.ts';
import { reports } from './reports.ts';
import { review } from './review.ts';
import { settings } from './settings.ts';
import { start } from './start.ts';
import { templates } from './templates.ts';
import { workspace } from './workspace.ts';

/** The dashboard's messages in English, by area. The browser loads an area with the first page that uses it. */
export const dashboard = {
  agents,
  automations,
  bulk,
  campaigns,
  common,
  crm,
  deletion,
  inbox,
  integrations,
  lead,
  leads,
  mailboxes,
  meetings,
  operator,
  reports,
  review,
  settings,
  start,
  templates,
  workspace,
};
