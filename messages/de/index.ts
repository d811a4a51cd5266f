import type { en } from '../en/index.ts';
import { agents } from './agents.ts';
import { approvals } from './approvals.ts';
import { audience } from './audience.ts';
import { billing } from './billing.ts';
import { campaignFindings } from './campaign-findings.ts';
import { campaigns } from './campaigns.ts';
import { connect } from './connect.ts';
import { crm } from './crm.ts';
import { directory } from './directory.ts';
import { events } from './events.ts';
import { http } from './http.ts';
import { identity } from './identity.ts';
import { inbox } from './inbox.ts';
import { instanceFindings } from './instance-findings.ts';
import { mail } from './mail.ts';
import { mailboxes } from './mailboxes.ts';
import { mails } from './mails.ts';
import { operations } from './operations.ts';
import { pages } from './pages.ts';
import { platform } from './platform.ts';
import { providers } from './providers.ts';
import { reporting } from './reporting.ts';
import { sending } from './sending.ts';

/** All server messages in German, by code. */
export const de: Readonly<Record<keyof typeof en, string>> = {
  ...agents,
  ...approvals,
  ...audience,
  ...billing,
  ...campaignFindings,
  ...campaigns,
  ...connect,
  ...crm,
  ...directory,
  ...events,
  ...http,
  ...identity,
  ...inbox,
  ...instanceFindings,
  ...mail,
  ...mailboxes,
  ...mails,
  ...operations,
  ...pages,
  ...platform,
  ...providers,
  ...reporting,
  ...sending,
};
