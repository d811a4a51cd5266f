import { Resolver } from 'node:dns/promises';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';
import { findMailbox } from './read.ts';

/** Resolves TXT records; each record is its strings, joined. No record is an empty list. */
export interface TxtResolver {
  resolveTxt(name: string): Promise<string[]>;
}

/** The DNS records of a sending domain. */
export interface AuthCheck {
  domain: string;
  spfRecord: string | null;
  dkimSelectors: string[];
  /** The whole policy tag (`none`, `quarantine`, `reject`); null without a DMARC record. */
  dmarcPolicy: string | null;
  allAligned: boolean;
  summary: string;
}

/** Common selectors. DNS cannot list the selectors of a domain, so a key under another name is not found. */
const SELECTORS = [
  'default',
  'dkim',
  'mail',
  'email',
  'smtp',
  'key1',
  's1',
  's2',
  'k1',
  'k2',
  'k3',
  'google',
  'selector1',
  'selector2',
  'fm1',
  'fm2',
  'fm3',
  'protonmail',
  'protonmail2',
  'protonmail3',
  'zoho',
  'zmail',
  'mxvault',
  'mandrill',
  'mailjet',
  'sig1',
  'titan1',
  'privateemail',
  'pic',
  'everlytickey1',
] as const;

/** Looks up SPF, DKIM (under usual selectors) and DMARC of the domain a mailbox sends from. @throws AppError not_found */
export async function checkAuthentication(
  ctx: Ctx,
  id: string,
  resolver: TxtResolver = systemResolver(),
): Promise<AuthCheck> {
  const { email } = await findMailbox(reader(ctx), id);
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const [spf, dmarc, keys] = await Promise.all([
    resolver.resolveTxt(domain),
    resolver.resolveTxt(`_dmarc.${domain}`),
    Promise.all(
      SELECTORS.map(async (selector) =>
        (await resolver.resolveTxt(`${selector}._domainkey.${domain}`)).some(isKey) ? selector : null,
      ),
    ),
  ]);
  const spfRecord = spf.find((record) => /^v=spf1(?:\s|$)/i.test(record)) ?? null;
  const dkimSelectors = keys.filter((selector) => selector !== null);
  const dmarcRecord = dmarc.find((record) => /^v=dmarc1\s*(?:;|$)/i.test(record));
  const dmarcPolicy =
    dmarcRecord === undefined ? null : (/;\s*p\s*=\s*(\w+)/i.exec(dmarcRecord)?.[1]?.toLowerCase() ?? 'none');
  const missing = [spfRecord ? '' : 'SPF', dkimSelectors.length > 0 ? '' : 'DKIM', dmarcPolicy ? '' : 'DMARC'].filter(
    Boolean,
  );
  return {
    domain,
    spfRecord,
    dkimSelectors,
    dmarcPolicy,
    allAligned: missing.length === 0,
    summary: missing.length === 0 ? 'SPF, DKIM and DMARC are set up' : `Not found: ${missing.join(', ')}`,
  };
}

/** A published key; an empty `p` means revoked (RFC 6376 section 3.6.1). */
function isKey(record: string): boolean {
  return /(?:^|;)\s*p\s*=\s*[A-Za-z0-9+/]/.test(record);
}

/** DNS with a timeout; a query without an answer counts as not found. */
function systemResolver(): TxtResolver {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return {
    async resolveTxt(name) {
      try {
        return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
      } catch {
        return [];
      }
    },
  };
}
