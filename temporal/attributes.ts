import { defineSearchAttributeKey, TypedSearchAttributes, type SearchAttributePair } from '@temporalio/common';
import type { Client, Connection } from '@temporalio/client';

const KEYS = {
  OrganizationId: defineSearchAttributeKey('OrganizationId', 'KEYWORD'),
  CampaignId: defineSearchAttributeKey('CampaignId', 'KEYWORD'),
  Kind: defineSearchAttributeKey('Kind', 'KEYWORD'),
  State: defineSearchAttributeKey('State', 'KEYWORD'),
};

/** Search attributes an operator filters runs by: ids, kinds and states, never addresses. */
export function searchAttributes(
  values: Partial<Record<keyof typeof KEYS, string | undefined>>,
): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [];
  for (const [name, key] of Object.entries(KEYS) as [keyof typeof KEYS, (typeof KEYS)[keyof typeof KEYS]][]) {
    const value = values[name];
    if (value !== undefined) pairs.push({ key, value } as SearchAttributePair);
  }
  return new TypedSearchAttributes(pairs);
}

const KEYWORD = 2;

/**
 * Registers the search attributes on a self-hosted server that lacks them. Temporal Cloud refuses this call;
 * there they are made once in its console, and a start without them fails with a message that names them.
 */
export async function ensureSearchAttributes(client: Client, namespace: string): Promise<void> {
  const connection = client.connection as Connection;
  const known = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.keys(KEYS).filter((name) => !known.customAttributes?.[name]);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
  });
}
