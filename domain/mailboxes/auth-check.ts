import type { DnsRecords } from '../../lib/dns.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { readSenderDns } from '../sending/senders/sender-dns.ts';
import { findMailbox } from './read.ts';
import { message, type Message } from '../../messages/index.ts';

/** DNS records of a sending domain. */
export interface AuthCheck {
  domain: string;
  spfRecord: string | null;
  dkimSelectors: string[];
  /** Policy of the DMARC record (`none`, `quarantine`, `reject`). Null without a DMARC record. */
  dmarcPolicy: string | null;
  allAligned: boolean;
  summary: Message;
}

/**
 * Reads SPF, DKIM (under usual selectors) and DMARC of a mailbox's sending domain. A record is reported as missing if
 * its query fails.
 * @throws AppError not_found
 */
export async function checkAuthentication(
  ctx: Ctx,
  id: string,
  dns: Pick<DnsRecords, 'txt'> = ctx.dns,
): Promise<AuthCheck> {
  const { email } = await findMailbox(reader(ctx), id);
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const { spf, dkimSelectors, dmarcPolicy } = await readSenderDns({ ...dns, mx: async () => [] }, domain);
  const missing = [spf ? '' : 'SPF', dkimSelectors.length > 0 ? '' : 'DKIM', dmarcPolicy ? '' : 'DMARC'].filter(
    Boolean,
  );
  return {
    domain,
    spfRecord: spf,
    dkimSelectors,
    dmarcPolicy,
    allAligned: missing.length === 0,
    summary:
      missing.length === 0 ? message('mailboxes.dns_complete') : message('mailboxes.dns_missing', { records: missing }),
  };
}
