import { AppError } from '../../lib/errors.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import type { ServerFacts } from './check.ts';
import { connectMailbox, prepareConnect, type ConnectInput } from './connect.ts';
import type { MailboxView } from './read.ts';

/** Maximum number of mailboxes in one request. */
export const MAX_CONNECTS = 20;
/** Number of mailboxes whose servers are checked concurrently. */
const AT_ONCE = 10;

/** Result of the checks of one mailbox. */
type Checked = { email: string } & ({ input: ConnectInput; facts: ServerFacts | undefined } | { error: AppError });

/** A mailbox of the request: connected, or refused. */
export type Connected = { email: string } & ({ mailbox: MailboxView } | { error: AppError });

/**
 * Checks several mailboxes with {@link prepareConnect}. Returns the results in the same order. A refused mailbox does
 * not affect the others.
 * @throws AppError mailbox_worker_unreachable, service_unavailable when no worker could check them
 */
export async function prepareConnects(ctx: Ctx, inputs: readonly ConnectInput[]): Promise<Checked[]> {
  const checked: Checked[] = [];
  for (let from = 0; from < inputs.length; from += AT_ONCE)
    checked.push(...(await Promise.all(inputs.slice(from, from + AT_ONCE).map((input) => check(ctx, input)))));
  return checked;
}

async function check(ctx: Ctx, input: ConnectInput): Promise<Checked> {
  try {
    return { email: input.email, input, facts: await prepareConnect(ctx, input) };
  } catch (error) {
    return { email: input.email, error: ofOneMailbox(error) };
  }
}

/** Connects the mailboxes whose servers were checked, one after the other. */
export async function connectMailboxes(ctx: Ctx, checked: readonly Checked[]): Promise<Connected[]> {
  const connected: Connected[] = [];
  for (const one of checked) connected.push('error' in one ? one : await connectOne(ctx, one.input, one.facts));
  return connected;
}

async function connectOne(ctx: Ctx, input: ConnectInput, facts: ServerFacts | undefined): Promise<Connected> {
  try {
    return { email: input.email, mailbox: await connectMailbox(ctx, input, facts) };
  } catch (error) {
    return { email: input.email, error: ofOneMailbox(error) };
  }
}

/** Returns an error that concerns one mailbox. Throws errors that concern all mailboxes. */
function ofOneMailbox(error: unknown): AppError {
  if (error instanceof AppError && error.status < 500) return error;
  throw error;
}
