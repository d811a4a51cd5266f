import type { Provider } from './providers/provider.ts';
import { calCom } from './providers/cal_com/index.ts';
import { calendly } from './providers/calendly/index.ts';
import { close } from './providers/close/index.ts';
import { discord } from './providers/discord/index.ts';
import { googleSheets } from './providers/google_sheets/index.ts';
import { hubspot } from './providers/hubspot/index.ts';
import { make } from './providers/make/index.ts';
import { n8n } from './providers/n8n/index.ts';
import { pipedrive } from './providers/pipedrive/index.ts';
import { salesforce } from './providers/salesforce/index.ts';
import { slack } from './providers/slack/index.ts';
import { zapier } from './providers/zapier/index.ts';

/** All providers, in the order of the catalogue. */
export const PROVIDERS: readonly Provider[] = [
  hubspot,
  salesforce,
  pipedrive,
  close,
  zapier,
  make,
  n8n,
  slack,
  discord,
  calendly,
  calCom,
  googleSheets,
];
