import type { MailboxServers } from '../harness/factories.ts';
import { startMailWorld, type MailWorldMailbox, type ReceivedMessage } from '../harness/mail.ts';
import { createWorld, type World, type WorldOptions } from '../harness/world.ts';

/** Received email, with its time by the world's clock. */
interface Email {
  at: Date;
  message: ReceivedMessage;
}

/** World with mail servers. */
export interface TimedMailWorld {
  world: World;
  /** Returns the emails received for an address, oldest first. */
  emailsTo(address: string): Email[];
  /** Adds a user. Returns the mailbox with its servers, as needed to connect it to Heron. */
  addMailbox(email: string): Promise<MailWorldMailbox & MailboxServers>;
  close(): Promise<void>;
}

/** Starts a world whose mail servers record when each email arrived, by the clock of the world. */
export async function timedMailWorld(options: WorldOptions): Promise<TimedMailWorld> {
  const world = await createWorld(options);
  const now = () => world.deps.clock.now();
  const mail = await startMailWorld({ now });
  const emails: Email[] = [];
  mail.onMessage((message) => emails.push({ at: now(), message }));
  return {
    world,
    emailsTo: (address) => emails.filter(({ message }) => message.envelope.to.includes(address)),
    addMailbox: (email) => mail.addMailbox({ email, password: 'secret' }),
    async close() {
      await mail.stop();
      await world.close();
    },
  };
}
