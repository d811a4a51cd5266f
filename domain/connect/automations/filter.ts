import type { AutomationFilter } from './graph.ts';

/**
 * Returns true if an automation's filter accepts the data of an event. A filtered property that is missing in the data
 * does not match.
 */
export function matchesFilter(filter: AutomationFilter, data: Readonly<Record<string, unknown>>): boolean {
  const { intents, min_confidence: least, campaign_ids: campaigns } = filter;
  if (intents && !intents.some((intent) => intent === data.intent)) return false;
  if (least !== undefined && !(typeof data.intent_confidence === 'number' && data.intent_confidence >= least))
    return false;
  return !campaigns || campaigns.some((id) => id.toLowerCase() === data.campaign_id);
}
