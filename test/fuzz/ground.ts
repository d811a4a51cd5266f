import { createContact, createMailbox, type Tenant } from '../harness/factories.ts';
import type { World } from '../harness/world.ts';

/** Tenant of a request, with ids of its rows for the body. */
export interface Ground {
  world: World;
  tenant: Tenant;
  params: Record<string, string>;
  contactId: string;
  mailboxId: string;
}

/** Creates the rows to which request bodies refer. */
export async function makeGround(world: World, tenant: Tenant, params: Record<string, string>): Promise<Ground> {
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId);
  const mailboxId = await createMailbox(world.deps, tenant.organizationId);
  return { world, tenant, params, contactId, mailboxId };
}

/** Parts of a successful request that cannot be derived from the document. */
export interface Reaching {
  body?: unknown;
  query?: Record<string, string>;
  /** Path parameters that replace the created ids. */
  params?: Record<string, string>;
  headers?: Record<string, string>;
  /** Expected status; defaults to the operation's success status. */
  status?: number;
}

export type Make = (ground: Ground) => Promise<Reaching> | Reaching;
