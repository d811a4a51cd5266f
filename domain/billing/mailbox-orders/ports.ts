/**
 * Interface to a company that rents out mailboxes and registers domains. Every call that changes something has an
 * idempotency key, which is the same on every attempt. The provider executes such a call once, and then repeats its
 * response. Every call throws only {@link ProviderRefusal} or {@link ProviderUnreachable}.
 */
export interface MailboxProvider {
  /** Returns the current offers with their prices. */
  catalogue(): Promise<Offer[]>;
  /** Returns the availability and price of a domain. */
  checkDomain(domain: string): Promise<DomainOffer>;
  /** Registers a domain for a year. */
  registerDomain(key: StepKey, domain: string): Promise<RegisteredDomain>;
  createMailbox(key: StepKey, mailbox: MailboxRequest): Promise<CreatedMailbox>;
  /** Publishes the DNS records by which a domain's mail is delivered and signed: MX, SPF, DKIM, DMARC. */
  setDns(key: StepKey, domain: string): Promise<{ status: string }>;
  /** Switches the provider's own warmup of a mailbox on or off. */
  switchWarmup(key: StepKey, mailbox: { ref: string; enabled: boolean }): Promise<{ status: string }>;
  /** Deletes a mailbox at the provider; see {@link Undo}. */
  retireMailbox(key: StepKey, undo: Undo): Promise<void>;
  /** Releases a domain at the provider; see {@link Undo}. */
  releaseDomain(key: StepKey, undo: Undo): Promise<void>;
  /** Renews a registered domain for another year, if it costs at most `maxCents`. */
  renewDomain(key: StepKey, renewal: { ref: string; domain: string; maxCents: number }): Promise<RenewedDomain>;
}

/**
 * Idempotency key of a call, the same on every attempt. Formats: `{orderId}/{step}`, `{orderId}/{step}/undo`, and for a
 * renewal `{domainId}/renewal:{when}`.
 */
export type StepKey = string;

/**
 * Identifies the call to undo by its idempotency key, even if that call got no response. After the undo the provider
 * refuses this key with the code `undone`. A delayed call with it therefore creates nothing.
 */
interface Undo {
  madeBy: StepKey;
  /** The reference that the call returned. Null if it got no response. */
  ref: string | null;
}

/** A mail platform (such as Google Workspace) on which mailboxes can be ordered. Prices are in cents of `currency`. */
export interface Offer {
  provider: string;
  name: string;
  currency: string;
  /** Price of one mailbox per month. */
  mailboxMonthlyCents: number;
  /** Price of one mailbox's warmup per month. */
  warmupMonthlyCents: number;
  /** Maximum number of mailboxes in one order. */
  maxMailboxes: number;
}

export interface DomainOffer {
  available: boolean;
  /** Price of the registration for a year. */
  registrationCents: number;
  /** Current price of a renewal for another year. */
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

/** A mail server with the user name and password for it. */
interface ProvidedService {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  username: string;
  password: string;
}

/** Thrown if the provider refuses permanently. A repeated call would be refused too. The call had no effect. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  /** The provider's own code, such as domain_unavailable. It consists of letters, digits and underscores. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Thrown if the provider gives no usable response. The call may have had an effect, and may be repeated with the same
 * key.
 */
export class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable';
  /** Delay (ms) before the next attempt, if the provider named one. */
  readonly retryInMs: number | undefined;

  constructor(message: string, retryInMs?: number) {
    super(message);
    this.retryInMs = retryInMs;
  }
}
