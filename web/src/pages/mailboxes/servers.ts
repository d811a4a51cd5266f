export type Security = 'tls' | 'starttls' | 'none';

export interface Server {
  host: string;
  port: number;
  security: Security;
  /** User name for the sign-in; empty if it is the address itself. */
  username: string;
}

/** Servers of common mail providers. For other domains, common host names below the domain are guessed. */
const KNOWN: Record<string, [smtp: string, imap: string]> = {
  'gmail.com': ['smtp.gmail.com', 'imap.gmail.com'],
  'googlemail.com': ['smtp.gmail.com', 'imap.gmail.com'],
  'outlook.com': ['smtp-mail.outlook.com', 'outlook.office365.com'],
  'hotmail.com': ['smtp-mail.outlook.com', 'outlook.office365.com'],
  'yahoo.com': ['smtp.mail.yahoo.com', 'imap.mail.yahoo.com'],
  'icloud.com': ['smtp.mail.me.com', 'imap.mail.me.com'],
  'fastmail.com': ['smtp.fastmail.com', 'imap.fastmail.com'],
  'zoho.com': ['smtp.zoho.com', 'imap.zoho.com'],
  'gmx.de': ['mail.gmx.net', 'imap.gmx.net'],
  'gmx.net': ['mail.gmx.net', 'imap.gmx.net'],
  'web.de': ['smtp.web.de', 'imap.web.de'],
};

/** Domain of the mailbox of `npm run mailbox`, whose servers run locally and without TLS. */
const TRIAL = 'heron.test';

/** Guesses the servers of an address. For an empty address, returns servers without names and with the usual ports. */
export function serversOf(email: string): { smtp: Server; imap: Server } {
  const domain = email.split('@')[1]?.trim().toLowerCase() ?? '';
  if (domain === TRIAL)
    return {
      smtp: { host: '127.0.0.1', port: 2525, security: 'none', username: '' },
      imap: { host: '127.0.0.1', port: 1143, security: 'none', username: '' },
    };
  const [smtp, imap] = KNOWN[domain] ?? (domain ? [`smtp.${domain}`, `imap.${domain}`] : ['', '']);
  return {
    smtp: { host: smtp, port: 465, security: 'tls', username: '' },
    imap: { host: imap, port: 993, security: 'tls', username: '' },
  };
}
