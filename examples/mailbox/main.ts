/**
 * `npm run mailbox`: mail servers to try Heron with. An SMTP and an IMAP server for one mailbox, and a page that shows every letter
 * and answers it. Everything is on 127.0.0.1; no letter leaves this machine, whoever it is addressed to.
 *
 *     MAILBOX_SMTP_PORT, MAILBOX_IMAP_PORT, MAILBOX_PAGE_PORT    other ports than 2525, 1143 and 8025
 */
import { once } from 'node:events';
import { followNpm } from '../../local/follow-npm.ts';
import { startMailWorld } from '../../test/harness/mail.ts';
import { createInbox } from './inbox.ts';
import { startPage } from './page.ts';

const MAILBOX = { email: 'you@heron.test', password: 'heron' };
const PORTS = {
  smtp: port('MAILBOX_SMTP_PORT', 2525),
  imap: port('MAILBOX_IMAP_PORT', 1143),
  page: port('MAILBOX_PAGE_PORT', 8025),
};

followNpm();
try {
  const mail = await startMailWorld({ smtpPort: PORTS.smtp });
  const mailbox = await mail.addMailbox({ ...MAILBOX, imapPort: PORTS.imap });
  const inbox = createInbox(mailbox);
  mail.onMessage((message) => void inbox.receive(message));
  const page = await startPage(inbox, PORTS.page);
  process.stdout.write(
    `${[
      'The mailbox is up.',
      '',
      `  Address   ${MAILBOX.email}`,
      `  Password  ${MAILBOX.password}`,
      `  SMTP      127.0.0.1:${PORTS.smtp}, without TLS`,
      `  IMAP      127.0.0.1:${PORTS.imap}, without TLS`,
      `  Letters   ${page.url}`,
      '',
      'It takes mail for every address and delivers none. Ctrl-C stops it and forgets everything.',
    ].join('\n')}\n`,
  );
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await Promise.all([page.close(), mail.stop()]);
  process.exit(0);
} catch (error) {
  const { code, port: taken, message } = error as { code?: string; port?: number; message: string };
  process.stderr.write(
    code === 'EADDRINUSE'
      ? `Port ${taken} is taken by another program. Choose others with MAILBOX_SMTP_PORT, MAILBOX_IMAP_PORT and MAILBOX_PAGE_PORT.\n`
      : `The mailbox did not start: ${message}\n`,
  );
  process.exit(1);
}

function port(setting: string, usual: number): number {
  const given = process.env[setting];
  if (!given) return usual;
  const value = Number(given);
  if (Number.isInteger(value) && value > 0 && value < 65_536) return value;
  process.stderr.write(`${setting}: needs a port, not ${given}\n`);
  process.exit(2);
}
