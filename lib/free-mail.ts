import { createRequire } from 'node:module';

/**
 * Domains of providers that give addresses to everybody, so that the domain does not identify a company. The list comes
 * from a package. The table `free_mail_domains` contains the same list for SQL. A test fails if the table needs a
 * migration.
 */
export const FREE_MAIL_DOMAINS: ReadonlySet<string> = createRequire(import.meta.url)(
  'company-email-validator/free_email_provider_domains.js',
) as Set<string>;

/** Returns true if the domain of an address is not known to be a provider of free addresses. */
export function isCompanyDomain(domain: string): boolean {
  return !FREE_MAIL_DOMAINS.has(domain.toLowerCase());
}
