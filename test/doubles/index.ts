/** Doubles of the providers that Heron connects to, one folder each. */
export { startHubSpot, type HubSpotDouble } from './hubspot/double.ts';
export { startSalesforce, type SalesforceDouble } from './salesforce/double.ts';
export { PIPEDRIVE_CUSTOM_FIELD, startPipedrive, type PipedriveDouble } from './pipedrive/double.ts';
export { CLOSE_CUSTOM_FIELD, startClose, type CloseDouble } from './close/double.ts';
export { startZapier, type ZapierDouble } from './zapier/double.ts';
export { startMake, type MakeDouble } from './make/double.ts';
export { startN8n, type N8nDouble } from './n8n/double.ts';
export { startSlack, type SlackDouble } from './slack/double.ts';
export { startDiscord, type DiscordDouble } from './discord/double.ts';
export { startCalendly, type CalendlyBooking, type CalendlyDouble } from './calendly/double.ts';
export { startCalCom, type CalComBooking, type CalComDouble } from './cal_com/double.ts';
export { startGoogleSheets, type GoogleSheetsDouble } from './google_sheets/double.ts';
export type { Double, Fault, Heard } from './server.ts';
