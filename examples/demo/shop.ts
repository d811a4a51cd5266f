import { freePort } from '../../local/servers.ts';
import { startProvisioning, type ProvisioningSandbox } from '../../local/provisioning.ts';
import { startStripe, type StripeDouble } from '../../test/harness/stripe.ts';
import type { World } from './world.ts';

/** The companies of which mailboxes are bought: a sandbox of a provider, and a double of Stripe. */
export interface Shop {
  sandbox: ProvisioningSandbox;
  stripe: StripeDouble;
  /** Settings under which Heron buys there. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** Starts them. A mailbox that is bought lives on the mail servers of the world. */
export async function startShop(world: World): Promise<Shop> {
  const [sandbox, stripe, imapPort] = await Promise.all([startProvisioning(), startStripe(), freePort()]);
  sandbox.mailServers.smtp = { ...world.smtp, security: 'none' };
  sandbox.mailServers.imap = { host: world.smtp.host, port: imapPort, security: 'none' };
  sandbox.onMailbox((mailbox) => void world.addMailbox({ ...mailbox, imapPort }));
  return {
    sandbox,
    stripe,
    env: {
      ...sandbox.env,
      ...stripe.env,
    },
    async stop() {
      await Promise.all([sandbox.close(), stripe.close()]);
    },
  };
}
