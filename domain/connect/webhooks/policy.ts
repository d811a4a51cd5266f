import { parse } from 'tldts';
import { checkOutboundUrl, EgressError } from '../../../lib/egress/index.ts';
import type { Problem } from '../../../lib/errors.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { isEventType } from '../../platform/kernel/events.ts';

/** How long resolving a host may take at registration, ms. */
const RESOLVE_TIMEOUT_MS = 6_000;
/** A host name with an optional leading dot; an address of any kind and a scheme, port or path do not fit. */
const DOMAIN_ENTRY = /^\.?[^\s./:@*[\]\\?#%]+(?:\.[^\s./:@*[\]\\?#%]+)*$/u;

/** What a policy check needs of a process. */
export type PolicyDeps = Pick<Deps, 'config' | 'egress'>;

/**
 * The faults of a URL as a webhook's target, as problems at `path`; empty when there are none. It has to be https on
 * the standard port, and its host must resolve to public addresses only. ALLOW_UNSAFE_WEBHOOK_URLS relaxes all of it.
 * Call it outside of a transaction: it may wait for DNS.
 * @param allowedDomains an app's list; the host must be covered by it, also with ALLOW_UNSAFE_WEBHOOK_URLS
 */
export async function checkWebhookUrl(
  deps: PolicyDeps,
  url: string,
  path = 'body.url',
  allowedDomains?: readonly string[],
): Promise<Problem[]> {
  const allowUnsafe = deps.config.ALLOW_UNSAFE_WEBHOOK_URLS;
  const check = checkOutboundUrl(url, { allowUnsafe, ...(allowedDomains ? { allowedDomains } : {}) });
  if (!check.ok) return [{ path, message: check.problem }];
  if (allowUnsafe) return [];
  try {
    await deps.egress.check(check.url, RESOLVE_TIMEOUT_MS);
    return [];
  } catch (error) {
    if (error instanceof EgressError) return [{ path, message: message('connect.url_fault', { reason: error.said }) }];
    throw error;
  }
}

/** The webhook settings of an application. */
interface AppWebhook {
  /** Empty: no app-level delivery. */
  url: string;
  domains: readonly string[];
  /** Empty: every event that is not firehose. */
  events: readonly string[];
}

/**
 * All faults of an application's webhook settings; empty when there are none: entries of
 * `allowed_webhook_domains` that are no host names or cover a public suffix, a `webhook_url` outside of them or not
 * publicly reachable by https, unknown `webhook_events`. May wait for DNS.
 */
export async function checkAppWebhook(deps: PolicyDeps, { url, domains, events }: AppWebhook): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [index, domain] of domains.entries()) {
    const fault = domainProblem(domain, { allowUnsafe: deps.config.ALLOW_UNSAFE_WEBHOOK_URLS });
    if (fault) problems.push({ path: `body.allowed_webhook_domains.${index}`, message: fault });
  }
  for (const [index, type] of events.entries()) {
    if (!isEventType(type))
      problems.push({ path: `body.webhook_events.${index}`, message: message('field.unknown_event') });
  }
  if (url !== '') problems.push(...(await checkWebhookUrl(deps, url, 'body.webhook_url', domains)));
  return problems;
}

/**
 * The fault of an entry of `allowed_webhook_domains`; undefined without one. A bare entry names one
 * host, one with a leading dot a domain with all below it. `.com`, `co.uk` and `.github.io` have many owners.
 * @param allowUnsafe ALLOW_UNSAFE_WEBHOOK_URLS: addresses and local names are allowed too
 */
export function domainProblem(entry: string, { allowUnsafe }: { allowUnsafe: boolean }): Message | undefined {
  if (!DOMAIN_ENTRY.test(entry)) return message('connect.domain_form');
  const check = checkOutboundUrl(`https://${entry.startsWith('.') ? entry.slice(1) : entry}/`, { allowUnsafe });
  if (!check.ok) return check.problem;
  const host = parse(check.url.hostname, { allowPrivateDomains: true });
  if (host.isIp && !allowUnsafe) return message('connect.domain_address');
  if (host.hostname === host.publicSuffix && (host.isIcann || host.isPrivate))
    return message('connect.domain_public_suffix');
  return undefined;
}
