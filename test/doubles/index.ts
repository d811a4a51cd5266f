/** Stubs of the providers that Heron connects to, one folder each. */
export { startHubSpot, type HubSpotDouble } from './hubspot/double.ts';
export { startSalesforce } from './salesforce/double.ts';
export { PIPEDRIVE_CUSTOM_FIELD, startPipedrive } from './pipedrive/double.ts';
export { CLOSE_CUSTOM_FIELD, startClose, type CloseDouble } from './close/double.ts';
export { startZapier } from './zapier/double.ts';
export { startMake } from './make/double.ts';
export { startN8n, type N8nDouble } from './n8n/double.ts';
export { startSlack } from './slack/double.ts';
export { startDiscord } from './discord/double.ts';
export { startCalendly } from './calendly/double.ts';
export { startCalCom, type CalComDouble } from './cal_com/double.ts';
export { startGoogleSheets } from './google_sheets/double.ts';
export type { Fault } from './server.ts';
