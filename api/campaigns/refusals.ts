/** Codes with which a start of a campaign is refused. */
export const START_REFUSALS = [
  'campaign_invalid',
  'empty_step_body',
  'campaign_no_mailbox',
  'no_leads',
  'leads_undeliverable',
  'list_bounce_risk',
] as const;
