/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface FactStepsRow {
  organization_id: string;
  campaign_id: string;
  step_id: string;
  variant_id: string;
  sent: number;
  bounced: number;
  opened: number;
  opened_by_person: number;
  opened_by_machine: number;
  clicked: number;
  clicked_by_machine: number;
  replied: number;
  replied_positively: number;
  complained: number;
  unsubscribed: number;
  opens: number;
  machine_opens: number;
  clicks: number;
  machine_clicks: number;
  bounced_softly: number;
  replied_negatively: number;
  replied_with_question: number;
  replied_neutrally: number;
}

export interface FactStepsInsert {
  organization_id: string;
  campaign_id: string;
  step_id: string;
  variant_id: string;
  sent?: number;
  bounced?: number;
  opened?: number;
  opened_by_person?: number;
  opened_by_machine?: number;
  clicked?: number;
  clicked_by_machine?: number;
  replied?: number;
  replied_positively?: number;
  complained?: number;
  unsubscribed?: number;
  opens?: number;
  machine_opens?: number;
  clicks?: number;
  machine_clicks?: number;
  bounced_softly?: number;
  replied_negatively?: number;
  replied_with_question?: number;
  replied_neutrally?: number;
}
