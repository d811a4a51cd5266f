import type { Deps } from '../../platform/kernel/context.ts';
import { isAddress } from '../../../lib/address.ts';
import { hostOf } from '../../directory/suppression-check.ts';
import type { Verdict } from './verdict.ts';

const verdict = (status: Verdict['status'], reason: string): Verdict => ({ status, reason, isCatchAll: false });

/** Reason code of a verdict if no problem with the address was found. */
export const ACCEPTS_MAIL = 'takes_mail';

/**
 * Checks an address without contacting its mail server: its format, its domain's mail records, and lists of disposable
 * services and role addresses such as info@. An address that passes stays `unknown`, because no record proves that a
 * mailbox exists.
 */
export async function checkByRecords({ dns }: Pick<Deps, 'dns'>, email: string): Promise<Verdict | 'later'> {
  if (!isAddress(email)) return verdict('invalid', 'syntax');
  const domain = hostOf(email);
  const exchanges = await dns.mx(domain);
  if (exchanges === null) return 'later';
  if (exchanges.length > 0 && exchanges.every((exchange) => exchange === '.'))
    return verdict('invalid', 'takes_no_mail');
  // A domain without a mail exchanger may accept mail at its own IP address, but most such domains accept none.
  if (exchanges.length === 0) return verdict('risky', 'no_mail_exchanger');
  const lists = await addressLists();
  if (domainAndParents(domain).some((name) => lists.disposable.has(name))) return verdict('risky', 'disposable');
  if (lists.roles.has(email.slice(0, email.lastIndexOf('@')))) return verdict('risky', 'role_address');
  return verdict('unknown', ACCEPTS_MAIL);
}

function domainAndParents(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}

let loaded: Promise<{ disposable: ReadonlySet<string>; roles: ReadonlySet<string> }> | undefined;

/** Loads the lists on first use, because they are large. */
function addressLists(): NonNullable<typeof loaded> {
  loaded ??= Promise.all([import('mailchecker'), import('role-based-email-addresses')]).then(([checker, roles]) => ({
    disposable: checker.default.blacklist(),
    roles: new Set(roles.default),
  }));
  return loaded;
}
