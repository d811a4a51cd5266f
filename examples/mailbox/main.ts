/**
 * `npm run mailbox`: mail servers for trying Heron. An SMTP and an IMAP server for one mailbox, and a page that shows
 * every email and answers it. All servers listen on 127.0.0.1; no email leaves this machine, regardless of its address.
 * MAILBOX_SMTP_PORT, MAILBOX_IMAP_PORT, MAILBOX_PAGE_PORT    other ports than 2525, 1143 and 8025 A port in use is
 * replaced by a free one, unless a setting requires it.
 */
import { once } from 'node:events';
import { exitWithNpm } from '../../local/exit-with-npm.ts';
import { freePort, isPortFree } from '../../local/servers.ts';
import { startMailWorld } from '../../test/harness/mail.ts';
import { createInbox } from './inbox.ts';
import { startPage } from './page.ts';

const MAILBOX = { email: 'you@heron.test', password: 'heron' };
exitWithNpm();
try {
  const ports = {
    smtp: await choosePort('MAILBOX_SMTP_PORT', 2525),
    imap: await choosePort('MAILBOX_IMAP_PORT', 1143),
    page: await choosePort('MAILBOX_PAGE_PORT', 8025),
  };
  const mail = await startMailWorld({ smtpPort: ports.smtp });
  const mailbox = await mail.addMailbox({ ...MAILBOX, imapPort: ports.imap });
  const inbox = createInbox(mailbox);
  mail.onMessage((message) => void inbox.receive(message));
  const page = await startPage(inbox, ports.page);
  // Waits for the signals before the program reports that it is ready, because the caller may stop it at once.
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  process.stdout.write(
    `${[
      'The mailbox is up.',
      '',
      `  Address   ${MAILBOX.email}`,
      `  Password  ${MAILBOX.password}`,
      `  SMTP      127.0.0.1:${ports.smtp}, without TLS`,
      `  IMAP      127.0.0.1:${ports.imap}, without TLS`,
      `  Emails    ${page.url}`,
      '',
      'It takes mail for every address and delivers none. Ctrl-C stops it and forgets everything.',
    ].join('\n')}\n`,
  );
  await stopped;
  await Promise.all([page.close(), mail.stop()]);
  process.exit(0);
} catch (error) {
  process.stderr.write(`The mailbox did not start: ${(error as Error).message}\n`);
  process.exit(1);
}

/**
 * Returns the port of a setting. Without the setting, returns the default port, or a free one if the default is in use.
 * @throws Error naming the setting when its port is in use
 */
async function choosePort(setting: string, usual: number): Promise<number> {
  const given = process.env[setting];
  if (!given) {
    if (await isPortFree(usual)) return usual;
    const port = await freePort();
    process.stdout.write(`Port ${usual} is taken by another program: using ${port} instead (${setting} chooses one)\n`);
    return port;
  }
  const port = Number(given);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    process.stderr.write(`${setting}: needs a port, not ${given}\n`);
    process.exit(2);
  }
  if (!(await isPortFree(port))) throw new Error(`port ${port} is taken by another program (${setting})`);
  return port;
}
