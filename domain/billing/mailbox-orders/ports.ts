/**
 * A company that rents out mailboxes and registers domains, as orders and renewals see it. Every call that changes something there
 * carries an idempotency key that is the same on every attempt: the provider does it once, and answers the same thing again.
 * Every call throws {@link ProviderRefusal} or {@link ProviderUnreachable}, and nothing else.
 */
export interface MailboxProvider {
  /** What can be ordered now, with the prices of this moment. */
  catalogue(): Promise<Offer[]>;
  /** Whether a domain can be registered, and what it costs. */
  checkDomain(domain: string): Promise<DomainOffer>;
  /** Registers a domain for a year. */
  registerDomain(key: StepKey, domain: string): Promise<RegisteredDomain>;
  createMailbox(key: StepKey, mailbox: MailboxRequest): Promise<CreatedMailbox>;
  /** Publishes the records by which a domain's mail is delivered and signed: MX, SPF, DKIM, DMARC. */
  setDns(key: StepKey, domain: string): Promise<{ status: string }>;
  /** Switches the provider's own warmup of a mailbox. */
  switchWarmup(key: StepKey, mailbox: { ref: string; enabled: boolean }): Promise<{ status: string }>;
  /** Ends a mailbox; see {@link Undo}. */
  retireMailbox(key: StepKey, undo: Undo): Promise<void>;
  /** Gives a domain back; see {@link Undo}. */
  releaseDomain(key: StepKey, undo: Undo): Promise<void>;
  /** Registers a domain of ours for a year more, if that costs at most `maxCents`. */
  renewDomain(key: StepKey, renewal: { ref: string; domain: string; maxCents: number }): Promise<RenewedDomain>;
}

/** `{orderId}/{step}`, or `{orderId}/{step}/undo`; of a renewal `{domainId}/renewal:{when}`. The same on every attempt. */
export type StepKey = string;

/**
 * Names what is to be undone by the key of the call that made it: whether that call was answered need not be known. From
 * then on the provider refuses that key with the code `undone`, so that a call that is still on its way creates nothing.
 */
interface Undo {
  madeBy: StepKey;
  /** What the call was answered with, where an answer came. */
  ref: string | null;
}

/** A platform on which mailboxes can be ordered. Prices are in cents of `currency`. */
export interface Offer {
  provider: string;
  name: string;
  currency: string;
  /** One mailbox for a month. */
  mailboxMonthlyCents: number;
  /** Warmup of one mailbox for a month. */
  warmupMonthlyCents: number;
  /** Mailboxes that one order may have. */
  maxMailboxes: number;
}

export interface DomainOffer {
  available: boolean;
  /** Registration for a year. */
  registrationCents: number;
  /** A year more, at the cost of this moment. */
  renewalCents: number;
  currency: string;
}

export interface RegisteredDomain {
  ref: string;
  registeredAt: Date;
  expiresAt: Date;
}

export interface RenewedDomain {
  expiresAt: Date;
  paidCents: number;
  currency: string;
}

interface MailboxRequest {
  provider: string;
  domain: string;
  email: string;
  firstName: string;
  lastName: string;
}

export interface CreatedMailbox {
  ref: string;
  status: string;
  smtp: ProvidedService;
  imap: ProvidedService;
}

/** A mail server with its credentials. */
interface ProvidedService {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  username: string;
  password: string;
}

/** The provider said no, for good: asked again it says the same. Nothing was done. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  /** As the provider names it, such as domain_unavailable; letters, digits and underscores. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** No answer, or one that says nothing: it may have been done. The same call may be made again. */
export class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable';
  /** When to ask again (ms), where the provider said so. */
  readonly retryInMs: number | undefined;

  constructor(message: string, retryInMs?: number) {
    super(message);
    this.retryInMs = retryInMs;
  }
}
