import { createRequire } from 'node:module';

/**
 * The domains of providers that give addresses to everybody: what is behind one says nothing about a company. A package keeps the list; the table
 * `free_mail_domains` has the same, for what PostgreSQL decides, and a test says when a migration has to bring it up to date.
 */
export const FREE_MAIL_DOMAINS: ReadonlySet<string> = createRequire(import.meta.url)(
  'company-email-validator/free_email_provider_domains.js',
) as Set<string>;

/** Whether the domain of an address is a company's, as far as it is known. */
export function isCompanyDomain(domain: string): boolean {
  return !FREE_MAIL_DOMAINS.has(domain.toLowerCase());
}
