import { startEngine } from '../harness/engine.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { call, createWorld } from '../harness/world.ts';

/** Installation on which a client can follow docs/tutorials/first-campaign.md. */
interface Tutorial {
  url: string;
  mail: MailWorld;
  /**
   * Creates a workspace with a mailbox and a key that may launch campaigns. Returns the settings of a program that uses
   * them.
   */
  newcomer(name: string): Promise<{ env: Record<string, string>; address: string }>;
  stop(): Promise<void>;
}

const DAY_MS = 86_400_000;

/** Starts an API, a worker and mail servers in this process. */
export async function startTutorial(): Promise<Tutorial> {
  const world = await createWorld({ ownAddress: true });
  const mail = await startMailWorld();
  const engine = await startEngine(world);
  const ask = async (path: string, token: string, body: unknown): Promise<{ id: string }> => {
    const answer = await call(world, 'POST', path, { token, body });
    if (answer.status >= 400) throw new Error(`POST ${path}: ${answer.text}`);
    return answer.body as { id: string };
  };
  return {
    url: world.url,
    mail,
    async newcomer(name) {
      const { apiKey, apiKeyId, sessionToken } = await world.tenant();
      const box = await mail.addMailbox({ email: `${name}@heron.test`, password: 'heron' });
      const signIn = { username: box.email, password: box.password, security: 'none' };
      const mailbox = await ask('/v1/emails', sessionToken, {
        provider: 'smtp_imap',
        email: box.email,
        name: 'You',
        smtp: { ...box.smtp, ...signIn },
        imap: { ...box.imap, ...signIn },
        min_wait_time: 0,
      });
      await ask('/v1/agent-policies', sessionToken, {
        api_key_id: apiKeyId,
        name: 'First campaign',
        capabilities: ['campaign.launch'],
        mailbox_ids: [mailbox.id],
        max_recipients_per_run: 10,
        max_recipients_per_day: 50,
        max_actions_per_day: 5,
        expires_at: new Date(Date.now() + DAY_MS).toISOString(),
      });
      const address = `ada.${name}@example.com`;
      return {
        address,
        env: { HERON_URL: world.url, HERON_API_KEY: apiKey, MAILBOX_ID: mailbox.id, CONTACT_EMAIL: address },
      };
    },
    async stop() {
      await engine.stop();
      await world.close();
      await mail.stop();
    },
  };
}
