import nodemailer, { type PluginFunction } from 'nodemailer';
import type { Config } from '../config/index.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { MailFate } from './fate.ts';
import { message } from '../../messages/index.ts';

export interface SystemMessage {
  to: string;
  subject: string;
  text: string;
  html?: string;
  /** Headers in addition to those of every system mail. */
  headers?: Record<string, string>;
}

/** Sends system mail: login codes, invitations, password resets, approval requests. */
export interface SystemMail {
  /** @throws MailFailure internal_error when the transport refuses */
  send(message: SystemMessage): Promise<void>;
  close(): void;
}

/** Thrown when the transport did not confirm that it accepted a message. */
export class MailFailure extends AppError {
  readonly fate: MailFate;

  constructor(fate: MailFate, cause: unknown) {
    super('internal_error', message('mail.transport_failed'), {
      fix: message('mail.transport_failed.fix'),
      cause,
    });
    this.fate = fate;
  }
}

/** Header that asks the mail programs of recipients not to send automatic replies (RFC 3834). */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' };

const DEFAULT_PORTS = { starttls: 587, tls: 465, none: 25 } as const;

/**
 * Creates the transport named by MAIL_TRANSPORT. `log` writes the whole message to the log, so that a first-time user
 * can read the login codes.
 */
export function createSystemMail(config: Config, log: Logger): SystemMail {
  if (config.MAIL_TRANSPORT === 'log') {
    return {
      async send(message) {
        log.info(
          { mail: { to: message.to, subject: message.subject, text: message.text } },
          'system mail (MAIL_TRANSPORT=log)',
        );
      },
      close() {},
    };
  }
  if (config.MAIL_TRANSPORT === 'ses') return createSesMail(config);
  const transport = smtpTransport(config);
  transport.use('stream', noteSignIn);
  return {
    async send({ headers, ...message }) {
      const progress: Progress = { signedIn: false };
      const options = { from: config.MAIL_FROM, headers: { ...AUTOMATIC, ...headers }, ...message, progress };
      try {
        await transport.sendMail(options);
      } catch (error) {
        throw new MailFailure(fateOf(error, progress), error);
      }
    },
    close: () => transport.close(),
  };
}

/** Sends by SES. Its SDK is loaded with the first message, because few installations use it. */
function createSesMail(config: Config): SystemMail {
  let opened: ReturnType<typeof open> | undefined;
  const open = async () => {
    const ses = await import('./ses.ts');
    const client = ses.sesClient(config);
    return { client, transport: ses.sesTransport(client), judge: ses.sesFate };
  };
  return {
    async send({ headers, ...message }) {
      const { transport, judge } = await (opened ??= open());
      const options = { from: config.MAIL_FROM, headers: { ...AUTOMATIC, ...headers }, ...message };
      try {
        await transport.sendMail(options);
      } catch (error) {
        throw new MailFailure(judge(error), error);
      }
    },
    close: () => void opened?.then(({ client }) => client.destroy()),
  };
}

/** Progress of sending one message, passed through nodemailer with the message. */
interface Progress {
  /** True after the sign-in, before the commands about the message. */
  signedIn: boolean;
}

/** nodemailer reads the message only after the sign-in, so the first read shows that the sign-in is complete. */
const noteSignIn: PluginFunction = ({ data, message }, done) => {
  const { progress } = data as { progress?: Progress };
  const read = message.createReadStream.bind(message);
  message.createReadStream = (options) => {
    if (progress) progress.signedIn = true;
    return read(options);
  };
  done();
};

function fateOf(error: unknown, { signedIn }: Progress): MailFate {
  if (!signedIn) return 'later';
  const { responseCode } = error as { responseCode?: number };
  if (responseCode === undefined) return 'unknown';
  return responseCode >= 500 ? 'never' : 'later';
}

/**
 * Signs in to the SMTP server of MAIL_TRANSPORT=smtp, or queries the account at SES. Sends no message.
 * @throws Error with the server's own text
 */
export async function signInToTransport(config: Config): Promise<void> {
  if (config.MAIL_TRANSPORT === 'ses') return (await import('./ses.ts')).verifySes(config);
  const transport = smtpTransport(config);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

function smtpTransport(config: Config) {
  return nodemailer.createTransport({
    host: config.SMTP_HOST,
    port: config.SMTP_PORT ?? DEFAULT_PORTS[config.SMTP_SECURITY],
    secure: config.SMTP_SECURITY === 'tls',
    requireTLS: config.SMTP_SECURITY === 'starttls',
    ignoreTLS: config.SMTP_SECURITY === 'none',
    ...(config.SMTP_USERNAME ? { auth: { user: config.SMTP_USERNAME, pass: config.SMTP_PASSWORD ?? '' } } : {}),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
  });
}
