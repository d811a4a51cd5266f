import type { Deps } from '../../platform/kernel/context.ts';
import { isAddress } from '../../../lib/address.ts';
import { hostOf } from '../../directory/suppression-check.ts';
import type { Verdict } from './verdict.ts';

const verdict = (status: Verdict['status'], reason: string): Verdict => ({ status, reason, isCatchAll: false });

/** The reason of a verdict against which nothing speaks. */
export const TAKES_MAIL = 'takes_mail';

/**
 * What can be said of an address without writing to its mail server: its form, whether its domain takes mail, whether it is of a disposable service or of a
 * function such as info@. An address that passes stays `unknown`: no record proves that a mailbox is there.
 */
export async function checkByRecords({ dns }: Pick<Deps, 'dns'>, email: string): Promise<Verdict | 'later'> {
  if (!isAddress(email)) return verdict('invalid', 'syntax');
  const domain = hostOf(email);
  const exchanges = await dns.mx(domain);
  if (exchanges === null) return 'later';
  if (exchanges.length > 0 && exchanges.every((exchange) => exchange === '.'))
    return verdict('invalid', 'takes_no_mail');
  // A domain without a mail exchanger may take mail at its own address; most such domains take none.
  if (exchanges.length === 0) return verdict('risky', 'no_mail_exchanger');
  const lists = await addressLists();
  if (domainAndParents(domain).some((name) => lists.disposable.has(name))) return verdict('risky', 'disposable');
  if (lists.roles.has(email.slice(0, email.lastIndexOf('@')))) return verdict('risky', 'role_address');
  return verdict('unknown', TAKES_MAIL);
}

function domainAndParents(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}

let loaded: Promise<{ disposable: ReadonlySet<string>; roles: ReadonlySet<string> }> | undefined;

/** The lists are large; only a process that verifies loads them. */
function addressLists(): NonNullable<typeof loaded> {
  loaded ??= Promise.all([import('mailchecker'), import('role-based-email-addresses')]).then(([checker, roles]) => ({
    disposable: checker.default.blacklist(),
    roles: new Set(roles.default),
  }));
  return loaded;
}
