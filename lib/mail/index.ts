import nodemailer from 'nodemailer';
import type { Config } from '../config/index.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../log.ts';

export interface SystemMessage {
  to: string;
  subject: string;
  text: string;
}

/** Sends the installation's own mail: login codes, invitations, resets. */
export interface SystemMail {
  /** @throws AppError internal_error when the transport refuses. */
  send(message: SystemMessage): Promise<void>;
  close(): void;
}

const DEFAULT_PORTS = { starttls: 587, tls: 465, none: 25 } as const;

/**
 * The transport that MAIL_TRANSPORT names. `log` writes the whole message to the log, where a first visitor can read the
 * codes.
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
  const transport = smtpTransport(config);
  return {
    async send(message) {
      try {
        await transport.sendMail({ from: config.MAIL_FROM, ...message });
      } catch (error) {
        throw new AppError('internal_error', 'The mail transport could not send the email', {
          fix: 'Check MAIL_TRANSPORT and SMTP_* on the server.',
          cause: error,
        });
      }
    },
    close: () => transport.close(),
  };
}

/**
 * Signs in to the SMTP server of MAIL_TRANSPORT=smtp, and sends nothing.
 * @throws Error in the words of the server
 */
export async function signInToTransport(config: Config): Promise<void> {
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
