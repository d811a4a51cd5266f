import type Stripe from 'stripe';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProvisioning, type ProvisioningSandbox } from '../../../local/provisioning.ts';
import { startStripe, type StripeDouble } from '../../harness/stripe.ts';
import type { Flow } from './plan.ts';

/** Delay (ms) of Stripe's events for a flow that pays late. */
const LATE_MS = 4_000;
/** Interval (ms) at which Stripe repeats an event that was not accepted. */
const AGAIN_MS = 250;

/**
 * Stubs of the mailbox provider and of Stripe for orders and renewals. They run in this process and are never killed.
 */
export interface Shop {
  sandbox: ProvisioningSandbox;
  stripe: StripeDouble;
  /** Settings that make an installation use these stubs. */
  env: Record<string, string>;
  /** Sends webhooks to this API from now on, each repeatedly until the API accepts it. */
  tell(apiUrl: string): void;
  /** Assigns a workspace to a flow, whose plan then decides how the stubs behave. */
  serve(organizationId: string, flow: Flow): void;
  /** Number of webhooks that the API has not accepted yet. */
  readonly untold: number;
  stop(): Promise<void>;
}

/** Starts a provider sandbox and a stub of Stripe. */
export async function startShop(): Promise<Shop> {
  const sandbox = await startProvisioning();
  const stripe = await startStripe();
  stripe.hold = true;
  const flows = new Map<string, Flow>();
  stripe.chargeModeOf = ({ organization_id: id }) => flows.get(id!)?.shopping?.charge;
  const waiting = new Map<Stripe.Event, { from: number; times: number; busy: boolean }>();
  let stopped = false;

  const collect = (): void => {
    for (const event of stripe.held) {
      if (waiting.has(event)) continue;
      const { metadata } = event.data.object as { metadata?: { organization_id?: string } };
      const pays = flows.get(metadata?.organization_id ?? '')?.shopping?.pays;
      const from = Date.now() + (pays === 'late' ? LATE_MS : 0);
      waiting.set(event, { from, times: pays === 'twice' ? 2 : 1, busy: false });
    }
  };
  const send = async (event: Stripe.Event): Promise<void> => {
    const one = waiting.get(event)!;
    one.busy = true;
    const [status] = await stripe.deliver(event).catch(() => [0]);
    one.busy = false;
    one.from = Date.now() + AGAIN_MS;
    if (status === 200) one.times -= 1;
    if (one.times === 0) waiting.delete(event);
  };
  const pump = async (): Promise<void> => {
    while (!stopped) {
      collect();
      for (const [event, { from, busy }] of waiting) if (!busy && from <= Date.now()) void send(event);
      await sleep(50);
    }
  };

  let pumping: Promise<void> | undefined;
  return {
    sandbox,
    stripe,
    env: {
      ...sandbox.env,
      ...stripe.env,
      PROVISIONING_TIMEOUT_MS: '3000',
    },
    tell(apiUrl) {
      stripe.sendTo(`${apiUrl}/payments/stripe/events`);
      pumping ??= pump();
    },
    serve: (organizationId, flow) => void flows.set(organizationId, flow),
    get untold() {
      return waiting.size + stripe.held.length;
    },
    async stop() {
      stopped = true;
      await pumping;
      await Promise.all([sandbox.close(), stripe.close()]);
    },
  };
}
