import type { automations } from './en/automations.ts';
import type { campaigns } from './en/campaigns.ts';
import type { crm } from './en/crm.ts';
import type { leads } from './en/leads.ts';
import type { inbox } from './en/inbox.ts';
import type { integrations } from './en/integrations.ts';
import type { mailboxes } from './en/mailboxes.ts';
import type { agents } from './en/agents.ts';
import type { operator } from './en/operator.ts';
import type { meetings } from './en/meetings.ts';
import type { reports } from './en/reports.ts';
import type { review } from './en/review.ts';
import type { said } from './en/said.ts';
import type { start } from './en/start.ts';
import type { way } from './en/way.ts';

/** The texts of each room: a file for each language, loaded with the room. A new room has a line here. */
export interface RoomTexts {
  automations: typeof automations;
  campaigns: typeof campaigns;
  crm: typeof crm;
  leads: typeof leads;
  inbox: typeof inbox;
  integrations: typeof integrations;
  mailboxes: typeof mailboxes;
  agents: typeof agents;
  operator: typeof operator;
  meetings: typeof meetings;
  reports: typeof reports;
  review: typeof review;
  /** What the API says: not of one room. */
  said: typeof said;
  start: typeof start;
  way: typeof way;
}
