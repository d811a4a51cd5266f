import { parse } from 'tldts';
import { checkOutboundUrl, EgressError } from '../../../lib/egress/index.ts';
import type { Problem } from '../../../lib/errors.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { isEventType } from '../../platform/kernel/events.ts';

/** Maximum time (ms) to resolve a host at registration. */
const RESOLVE_TIMEOUT_MS = 6_000;
/** A host name with an optional leading dot. IP addresses, schemes, ports and paths do not match. */
const DOMAIN_ENTRY = /^\.?[^\s./:@*[\]\\?#%]+(?:\.[^\s./:@*[\]\\?#%]+)*$/u;

/** Dependencies of a policy check. */
export type PolicyDeps = Pick<Deps, 'config' | 'egress'>;

/**
 * Lists the problems of a webhook URL, at `path`; empty if there are none. The URL must use https on the standard port,
 * and its host must resolve to public addresses only. ALLOW_UNSAFE_WEBHOOK_URLS lifts these rules. Call outside of a
 * transaction: the check may wait for DNS.
 * @param allowedDomains an app's list, which must cover the host even with ALLOW_UNSAFE_WEBHOOK_URLS
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
  /** URL of the application's webhook. Empty means that the application gets no deliveries. */
  url: string;
  domains: readonly string[];
  /** Event types of the application's webhook. Empty means every type that is not firehose. */
  events: readonly string[];
}

/**
 * Lists all problems of an application's webhook settings; empty if there are none. Entries of
 * `allowed_webhook_domains` must be host names that cover no public suffix. `webhook_url` must be inside these domains
 * and publicly reachable by https, and `webhook_events` must be known. May wait for DNS.
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
 * Returns the problem of an entry of `allowed_webhook_domains`; undefined if there is none. A bare entry names one
 * host; an entry with a leading dot names a domain with all its subdomains. Public suffixes are refused, such as
 * `.com`, `co.uk` and `.github.io`.
 * @param allowUnsafe ALLOW_UNSAFE_WEBHOOK_URLS: IP addresses and local names are allowed too
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
