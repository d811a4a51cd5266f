import { defineSearchAttributeKey, TypedSearchAttributes, type SearchAttributePair } from '@temporalio/common';
import type { Client, Connection } from '@temporalio/client';

const KEYS = {
  OrganizationId: defineSearchAttributeKey('OrganizationId', 'KEYWORD'),
  CampaignId: defineSearchAttributeKey('CampaignId', 'KEYWORD'),
  Deadline: defineSearchAttributeKey('Deadline', 'DATETIME'),
  EndpointId: defineSearchAttributeKey('EndpointId', 'KEYWORD'),
  Kind: defineSearchAttributeKey('Kind', 'KEYWORD'),
  State: defineSearchAttributeKey('State', 'KEYWORD'),
};

/** Names of all search attributes. */
export const ATTRIBUTES: readonly string[] = Object.keys(KEYS);

/**
 * Returns the search attributes by which operators filter workflows. They contain ids, kinds and states, never
 * addresses.
 */
export function searchAttributes(
  values: Partial<Record<Exclude<keyof typeof KEYS, 'Deadline'>, string | undefined>>,
): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [];
  for (const [name, key] of Object.entries(KEYS)) {
    const value = values[name as keyof typeof values];
    if (value !== undefined) pairs.push({ key, value } as SearchAttributePair);
  }
  return new TypedSearchAttributes(pairs);
}

/** Attribute types as numbered by the operator service. */
const TYPES = { KEYWORD: 2, DATETIME: 6 } as const;
/** Maximum time (ms) until a server accepts new attributes. The server refreshes its caches once a minute. */
const VISIBLE_MS = 90_000;
const RETRY_MS = 500;
/** gRPC code INVALID_ARGUMENT, with which the server refuses a query on an unknown attribute. */
const INVALID_ARGUMENT = 3;

/**
 * Returns the names of search attributes that a namespace lacks.
 * @throws Error if the server cannot list them, as in Temporal Cloud
 */
export async function missingSearchAttributes(client: Client, namespace: string): Promise<string[]> {
  const connection = client.connection as Connection;
  const known = await connection.operatorService.listSearchAttributes({ namespace });
  return ATTRIBUTES.filter((name) => !known.customAttributes?.[name]);
}

/**
 * Adds missing search attributes to a self-hosted server. Several processes may do so at the same time.
 * @throws Error if the server refuses, as Temporal Cloud does, where a person must create them in the console
 */
export async function ensureSearchAttributes(client: Client, namespace: string): Promise<void> {
  const connection = client.connection as Connection;
  const missing = () => missingSearchAttributes(client, namespace);
  const lacking = await missing();
  if (lacking.length === 0) return;
  try {
    await addSearchAttributes(connection, namespace, lacking);
  } catch (error) {
    // Another process that started at the same time may have added them.
    if ((await missing()).length > 0) throw error;
  }
}

/**
 * Adds search attributes to a namespace. Defaults to all of Heron's attributes.
 * @throws Error if the namespace has one of them already, or the server refuses
 */
export async function addSearchAttributes(
  connection: Connection,
  namespace: string,
  names: readonly string[] = ATTRIBUTES,
): Promise<void> {
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(names.map((name) => [name, TYPES[KEYS[name as keyof typeof KEYS].type]])),
  });
}

/**
 * Waits until the server accepts queries on all search attributes. For a while after they were added, the server
 * refuses workflow starts with them.
 * @throws Error with their names when the server does not accept them within `patienceMs`
 */
export async function waitForSearchAttributes(client: Client, patienceMs = VISIBLE_MS): Promise<void> {
  const query = ATTRIBUTES.map((name) => `${name} IS NULL`).join(' AND ');
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      await client.workflow.count(query);
      return;
    } catch (error) {
      const { cause, code } = error as { cause?: { code?: number }; code?: number };
      if ((cause?.code ?? code) !== INVALID_ARGUMENT) throw error;
      if (Date.now() > deadline)
        throw new Error(`Temporal does not know the search attributes ${ATTRIBUTES.join(', ')}`, {
          cause: error,
        });
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
