import type { AutomationFilter } from './graph.ts';

/** Whether an automation takes an event with this data. What a filter asks for and the data does not say is not met. */
export function passes(filter: AutomationFilter, data: Readonly<Record<string, unknown>>): boolean {
  const { intents, min_confidence: least, campaign_ids: campaigns } = filter;
  if (intents && !intents.some((intent) => intent === data.intent)) return false;
  if (least !== undefined && !(typeof data.intent_confidence === 'number' && data.intent_confidence >= least))
    return false;
  return !campaigns || campaigns.some((id) => id.toLowerCase() === data.campaign_id);
}
