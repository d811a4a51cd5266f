import type { Knex } from 'knex';
import { APPROVALS } from './approvals.ts';
import { AUDIENCE } from './audience.ts';
import { BILLING } from './billing.ts';
import { CAMPAIGNS } from './campaigns.ts';
import { CONNECT } from './connect.ts';
import { CRM } from './crm.ts';
import { DIRECTORY } from './directory.ts';
import { FACTS } from './facts.ts';
import { IDENTITY } from './identity.ts';
import { INBOX_COUNTS } from './inbox-counts.ts';
import { INBOX } from './inbox.ts';
import { INTEGRATIONS } from './integrations.ts';
import { LEAD_COMPANIES } from './lead-companies.ts';
import { MAILBOXES } from './mailboxes.ts';
import { PLATFORM } from './platform.ts';
import { REPORTING } from './reporting.ts';
import { SENDING } from './sending.ts';
import { TENANCY } from './tenancy.ts';

/** The parts of the schema. Each part refers only to parts before it, so read them in this order. */
const PARTS = [
  TENANCY,
  IDENTITY,
  PLATFORM,
  DIRECTORY,
  LEAD_COMPANIES,
  MAILBOXES,
  CAMPAIGNS,
  SENDING,
  APPROVALS,
  INBOX,
  INBOX_COUNTS,
  AUDIENCE,
  CONNECT,
  INTEGRATIONS,
  CRM,
  FACTS,
  REPORTING,
  BILLING,
];

/** Creates the whole schema in an empty database. */
export async function up(knex: Knex): Promise<void> {
  // Escaped, because knex treats a question mark as a binding.
  for (const part of PARTS) await knex.raw(part.replaceAll('?', '\\?'));
}
