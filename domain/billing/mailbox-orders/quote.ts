import { parse as parseHost } from 'tldts';
import { json } from '../../../db/connection.ts';
import type { OrderedDomain, PersonName } from '../../../db/json-columns.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import { AppError, type ErrorCode, type Problem } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { assertNoTestWorkspace } from '../../platform/test-workspace.ts';
import { mailboxProvider } from './http-provider.ts';
import { billOf, MAX_CENTS, nameMailboxes, spreadMailboxes } from './plan.ts';
import { ProviderRefusal, ProviderUnreachable, type MailboxProvider, type Offer } from './ports.ts';
import type { QuoteRow } from './states.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Validity (ms) of a quote. */
const QUOTE_MS = 15 * MINUTE_MS;
/** Maximum number of domains in one order, because each is checked at the provider. */
export const MAX_DOMAINS = 20;

/** Body of POST /mailboxes/provision/quote: `domain` for one domain, `domains` for several. */
interface QuoteInput {
  provider: string;
  count: number;
  domain?: string | undefined;
  domains?: string[] | undefined;
  warmup?: boolean | undefined;
  names?: PersonName[] | undefined;
}

/** Lists the current offers with their prices (GET /mailboxes/provision/providers). */
export async function listOffers(ctx: Ctx): Promise<Offer[]> {
  return asked(mailboxProvider(ctx).catalogue());
}

/** A problem of a quote request. The code of the first problem is used as the error code of the response. */
interface QuoteFault extends Problem {
  code: ErrorCode;
}

/** The provider's data for a quote request. Nothing has been stored yet. */
interface PricedOrder {
  offer: Offer;
  domains: OrderedDomain[];
}

/**
 * Requests the prices of an order and the availability of its domains from the provider. Uses the network, so call it
 * before the transaction of {@link storeQuote}.
 * @throws AppError forbidden in a test workspace, mailbox_provisioning_unavailable, mailbox_provisioning_failed; or the
 * code of the first problem, with all problems
 */
export async function priceOrder(ctx: Ctx, input: QuoteInput): Promise<PricedOrder> {
  await assertNoTestWorkspace(reader(ctx));
  const { offer, domains, faults } = await queryProvider(ctx, input);
  if (input.domain === undefined && (input.domains ?? []).length === 0)
    faults.push(fault('provision_domain_invalid', 'domain', message('field.required')));
  if (faults.length === 0 && billOf(offer!, { ...input, domains }).dueTodayCents > MAX_CENTS)
    faults.push(fault('provision_count_invalid', 'count', message('field.order_too_large')));
  refuseFaults(faults);
  return { offer: offer!, domains };
}

/**
 * Lists problems of the valid fields of a quote request that also has malformed fields, so that one response lists all
 * problems. Returns an empty list if the provider cannot be reached, because the request is refused anyway.
 */
export async function quoteProblems(ctx: Ctx, input: Partial<QuoteInput>): Promise<Problem[]> {
  try {
    return (await queryProvider(ctx, input)).faults.map(problemOf);
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

/** Sends the given fields to the provider, and returns its data with all problems found. */
async function queryProvider(
  ctx: Ctx,
  input: Partial<QuoteInput>,
): Promise<{ offer: Offer | undefined; domains: OrderedDomain[]; faults: QuoteFault[] }> {
  const provider = mailboxProvider(ctx);
  const wanted = domainsOf(input);
  const names = wanted.sound.map(({ domain }) => domain);
  const offers = await asked(provider.catalogue());
  const offer = offers.find((one) => one.provider === input.provider);
  const known = offers.map((one) => one.provider);
  const most = offer?.maxMailboxes ?? Math.max(...offers.map((one) => one.maxMailboxes));
  const checked = await checkDomains(provider, wanted.sound, await ownedDomains(reader(ctx), names), offer);
  const counts = names.length > 0 ? spreadMailboxes(Math.max(input.count ?? 0, 0), names) : [];
  return {
    offer,
    domains: checked.domains.map((domain, index) => ({ ...domain, mailboxes: counts[index]! })),
    faults: [
      ...(offer || input.provider === undefined
        ? []
        : [fault('provision_provider_invalid', 'provider', message('field.choice', { choices: known }))]),
      ...wanted.faults,
      ...(input.count === undefined ? [] : countFaults(input.count, names.length, most)),
      ...checked.faults,
    ],
  };
}

/**
 * Stores a quote with the prices of {@link priceOrder}. Nothing is purchased. Chooses the addresses now, so that an
 * approver sees them.
 */
export async function storeQuote(ctx: Ctx, input: QuoteInput, { offer, domains }: PricedOrder): Promise<QuoteRow> {
  return transact(ctx, async (tx) => {
    const names = input.names ?? [];
    const taken = await takenAddresses(
      tx.org,
      domains.map(({ domain }) => domain),
    );
    const bill = billOf(offer, { ...input, domains });
    const [quote] = (await tx.org
      .insert('mailbox_quotes', {
        id: newId(),
        order_id: newId(),
        provider: offer.provider,
        count: input.count,
        domains: json(domains),
        mailboxes: json(nameMailboxes(domains, names, taken)),
        warmup: input.warmup ?? false,
        names: json(names),
        currency: offer.currency,
        mailbox_monthly_cents: bill.mailboxMonthlyCents,
        warmup_monthly_cents: bill.warmupMonthlyCents,
        domain_cents: bill.domainCents,
        total_monthly_cents: bill.totalMonthlyCents,
        total_due_today_cents: bill.dueTodayCents,
        line_items: json(bill.lines),
        created_at: tx.now,
        expires_at: new Date(tx.now.getTime() + QUOTE_MS),
      })
      .returning('*')) as QuoteRow[];
    return quote!;
  });
}

/** Converts the provider's errors to API errors. */
async function asked<T>(question: Promise<T>): Promise<T> {
  try {
    return await question;
  } catch (error) {
    if (!(error instanceof ProviderUnreachable || error instanceof ProviderRefusal)) throw error;
    throw new AppError('mailbox_provisioning_failed', message('order.provider_silent'), {
      fix: message('order.provider_silent.fix'),
      cause: error,
    });
  }
}

interface WantedDomain {
  domain: string;
  path: string;
}

/** Normalizes the domains of a request, and lists the problems of invalid ones. */
function domainsOf({ domain, domains }: Partial<QuoteInput>): { sound: WantedDomain[]; faults: QuoteFault[] } {
  const faults: QuoteFault[] = [];
  if (domain !== undefined && domains !== undefined)
    faults.push(fault('provision_domains_invalid', 'domains', message('field.order_domain_or_domains')));
  if ((domains?.length ?? 0) > MAX_DOMAINS)
    faults.push(fault('provision_domains_invalid', 'domains', message('field.list_longer', { max: MAX_DOMAINS })));
  const given = [
    ...(domain === undefined ? [] : [{ domain, path: 'domain' }]),
    ...(domains ?? []).slice(0, MAX_DOMAINS).map((name, index) => ({ domain: name, path: `domains.${index}` })),
  ];
  const sound: WantedDomain[] = [];
  for (const { domain: name, path } of given) {
    const normal = registrable(name);
    if (!normal) faults.push(fault('provision_domain_invalid', path, message('field.order_domain')));
    else if (sound.some((other) => other.domain === normal))
      faults.push(fault('provision_domains_invalid', path, message('field.order_domain_twice')));
    else sound.push({ domain: normal, path });
  }
  return { sound, faults };
}

/** Returns a domain directly under a public suffix, in lower case. Returns null for any other name. */
function registrable(name: string): string | null {
  const host = name.trim().toLowerCase();
  const { domain, isIcann, hostname } = parseHost(host, { allowPrivateDomains: false });
  const labels = /^(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+$/;
  return isIcann && domain === host && hostname === host && host.length <= 253 && labels.test(host) ? host : null;
}

/**
 * Lists problems of the numbers of mailboxes and domains.
 * @param most maximum number of mailboxes in one order. If the offer is unknown, the highest maximum of all offers
 */
function countFaults(count: number, domains: number, most: number): QuoteFault[] {
  if (count < 1) return [fault('provision_count_invalid', 'count', message('field.order_count', { min: 1 }))];
  const faults: QuoteFault[] = [];
  if (count > most)
    faults.push(fault('provision_count_invalid', 'count', message('field.order_count_most', { max: most })));
  if (domains > count)
    faults.push(
      fault('provision_domains_invalid', 'domains', message('field.order_more_domains', { domains, mailboxes: count })),
    );
  return faults;
}

/** Returns the domains that the workspace already has from earlier orders. They are not registered again. */
async function ownedDomains(org: OrgScope, domains: readonly string[]): Promise<Set<string>> {
  const rows = await org
    .table('managed_domains')
    .where({ state: 'active' })
    .whereIn('domain', [...domains])
    .select('domain');
  return new Set(rows.map(({ domain }) => domain));
}

async function checkDomains(
  provider: MailboxProvider,
  wanted: readonly WantedDomain[],
  owned: ReadonlySet<string>,
  offer: Offer | undefined,
): Promise<{ domains: Omit<OrderedDomain, 'mailboxes'>[]; faults: QuoteFault[] }> {
  const faults: QuoteFault[] = [];
  const domains = await Promise.all(
    wanted.map(async ({ domain, path }) => {
      if (owned.has(domain)) return { domain, registration: false, price_cents: 0 };
      const answer = await asked(provider.checkDomain(domain));
      if (!answer.available || (offer && answer.currency !== offer.currency))
        faults.push(fault('domain_unavailable', path, message('field.order_domain_taken', { domain })));
      return { domain, registration: true, price_cents: answer.registrationCents };
    }),
  );
  return { domains, faults: wanted.flatMap(({ path }) => faults.filter((one) => one.path === `body.${path}`)) };
}

async function takenAddresses(org: OrgScope, domains: readonly string[]): Promise<Set<string>> {
  const rows = await org.sql<{ email: string }>(
    `select email from order_mailboxes where organization_id = :org and domain = any(:domains) and retired_at is null
     union select email from mailboxes where organization_id = :org and split_part(email, '@', 2) = any(:domains)`,
    { domains: [...domains] },
  );
  return new Set(rows.map(({ email }) => email));
}

function fault(code: ErrorCode, path: string, said: Message): QuoteFault {
  return { code, path: `body.${path}`, message: said };
}

function problemOf({ path, message: said }: QuoteFault): Problem {
  return { path, message: said };
}

/** Throws an error if there are problems. @throws AppError with the code of the first problem, and all problems */
function refuseFaults(faults: readonly QuoteFault[]): void {
  const [first] = faults;
  if (!first) return;
  throw new AppError(first.code, message('request.problems', { count: faults.length }), {
    problems: faults.map(problemOf),
    fix: message('order.faults.fix'),
  });
}
