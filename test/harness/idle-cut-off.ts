/**
 * Process that runs the mail servers and cuts a client off in the middle of IDLE. Prints `stopped` once the servers
 * have stopped.
 */
import { ImapFlow } from 'imapflow';
import { eventually } from './eventually.ts';
import { startMailWorld } from './mail.ts';

const world = await startMailWorld();
const { imap, email, password } = await world.addMailbox({ email: 'ann@ours.test', password: 'secret' });
const client = new ImapFlow({ ...imap, secure: false, logger: false, auth: { user: email, pass: password } });
client.on('error', () => undefined);
await client.connect();
await client.mailboxOpen('INBOX');
client.idle().catch(() => undefined);
await eventually(async () => client.idling);
client.close();
await world.stop();
process.stdout.write('stopped');
