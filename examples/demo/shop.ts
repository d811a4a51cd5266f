import { freePort } from '../../local/servers.ts';
import { startProvisioning, type ProvisioningSandbox } from '../../local/provisioning.ts';
import { startStripe, type StripeDouble } from '../../test/harness/stripe.ts';
import type { World } from './world.ts';

/** Stubs of the companies that sell mailboxes: a provider sandbox, and Stripe. */
export interface Shop {
  sandbox: ProvisioningSandbox;
  stripe: StripeDouble;
  /** Settings with which Heron buys from these stubs. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** Starts the stubs. A bought mailbox is created on the mail servers of the world. */
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
