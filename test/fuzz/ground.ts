import { createContact, createMailbox, type Tenant } from '../harness/factories.ts';
import type { World } from '../harness/world.ts';

/** The tenant a request is made for, with ids that its body may name. */
export interface Ground {
  world: World;
  tenant: Tenant;
  params: Record<string, string>;
  contactId: string;
  mailboxId: string;
}

/** Makes what the bodies of {@link reachingBody} name. */
export async function makeGround(world: World, tenant: Tenant, params: Record<string, string>): Promise<Ground> {
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId);
  const mailboxId = await createMailbox(world.deps, tenant.organizationId);
  return { world, tenant, params, contactId, mailboxId };
}

/** A request that gets inside an operation: what of it the document alone does not lead to. */
export interface Reaching {
  body?: unknown;
  query?: Record<string, string>;
  /** Parameters of the path, in place of ids that were made for it. */
  params?: Record<string, string>;
  headers?: Record<string, string>;
  /** What it is answered; the operation's status of success unless said. */
  status?: number;
}

export type Make = (ground: Ground) => Promise<Reaching> | Reaching;
