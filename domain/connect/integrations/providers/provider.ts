import type { z } from 'zod';
import { message, type Message, type MessageCode } from '../../../../messages/index.ts';
import { render } from '../../../../messages/render.ts';
import type { MeetingReport } from '../../../crm/meetings/record.ts';

/** Ids of all providers that Heron can connect to. */
const PROVIDER_IDS = [
  'hubspot',
  'salesforce',
  'pipedrive',
  'close',
  'zapier',
  'make',
  'n8n',
  'slack',
  'discord',
  'calendly',
  'cal_com',
  'google_sheets',
] as const;
type ProviderId = (typeof PROVIDER_IDS)[number];

/**
 * Declaration of a provider: how its accounts are connected, and which actions it offers. A provider is one folder of
 * `providers/` with this declaration and its functions. These functions reach the provider only through the given
 * {@link ProviderCall}, and do not depend on rows, queues and retries.
 */
export interface Provider {
  id: ProviderId;
  name: string;
  /** Description in one sentence, shown in the catalogue. */
  tagline: MessageCode;
  category: 'crm' | 'automation' | 'notifications' | 'meetings' | 'data';
  docsUrl: string;
  authMethod: 'oauth' | 'api_key' | 'webhook';
  /** Hexadecimal colour, such as #ff7a59. */
  badgeColor: string;
  beta?: boolean;
  /** Explains where to find the webhook URL or the key. */
  webhookHint?: MessageCode;
  highlights: readonly MessageCode[];
  /** Triggers that the catalogue suggests. A subscription may name any trigger. */
  events: readonly string[];
  capability?: Readonly<Record<string, unknown>>;
  /**
   * Default origin and path of the API, without a trailing slash. INTEGRATION_ENDPOINTS and the account's own base
   * (`accountBase`) override it.
   */
  apiBase: string;
  /** Rate limit of one connection: `capacity` requests at once, refilled with `perSecond` requests per second. */
  rate: { capacity: number; perSecond: number };
  /** Settings of OAuth. Set with authMethod `oauth`. */
  oauth?: ProviderOAuth;
  /** Returns true if an answer rejects the access token, for a provider that uses another status than 401. */
  isTokenRefused?(answer: ProviderAnswer): boolean;
  /** Settings of pasted credentials. Set with authMethod `api_key` or `webhook`. */
  credentials?: ProviderCredentials;
  /**
   * Health check of an account, for a provider whose tokens do not expire and that offers neither fields nor an account
   * to query.
   */
  check?(call: ProviderCall): Promise<void>;
  /** Actions by the part of their name after the dot: `notify` for `slack.notify`. */
  actions: Readonly<Record<string, ProviderAction>>;
  /** Settings for pushing contacts to this provider. Absent if it accepts none. */
  push?: ProviderPush;
  /** Settings for receiving bookings from this provider. Absent if it sends none. */
  inbound?: ProviderInbound;
}

/** Names of the settings with the installation's OAuth clients, in lib/config/provider-settings.ts. */
type ClientSetting = `${'HUBSPOT' | 'SALESFORCE' | 'PIPEDRIVE' | 'SLACK' | 'GOOGLE_SHEETS'}_CLIENT_${'ID' | 'SECRET'}`;

/** Settings to connect an account by OAuth consent, with an authorization code (RFC 6749, section 4.1). */
export interface ProviderOAuth {
  authorizeUrl: string;
  tokenUrl: string;
  /**
   * URL that ends a consent. The request contains the token as the form field `token` (RFC 7009), unless `revoke` is
   * set.
   */
  revokeUrl?: string;
  /** True if the provider offers PKCE with S256 (RFC 7636). */
  pkce: boolean;
  scopes: readonly string[];
  /** Separator of the scopes in the authorization request. Defaults to a space. */
  scopeSeparator?: string;
  /** Further parameters of the authorization request, such as `access_type`. */
  parameters?: Readonly<Record<string, string>>;
  /** Location of the client's secret in the token request. Defaults to the body. */
  clientAuth?: 'body' | 'basic';
  /** The settings with the installation's client, as [id, secret]. */
  clientSettings: readonly [ClientSetting, ClientSetting];
  /**
   * Field of the token endpoint's answer that names the base URL of the account's API, and the domains that may host
   * it. The account's tokens are sent to no other host.
   */
  accountBase?: { field: string; domains: readonly string[] };
  /** Returns the granted scopes. Absent if the response has them in `scope`, separated by spaces or commas. */
  scopesIn?(tokens: TokenFields): readonly string[];
  /** Reads the account that the tokens belong to. `tokens` is the whole answer of the token endpoint. */
  readAccount(call: ProviderCall, tokens: TokenFields): Promise<ProviderAccount>;
  /** Ends the consent at a provider that does not support RFC 7009. */
  revoke?(call: ProviderCall, refreshToken: string): Promise<void>;
}

/** JSON object in the response of a token endpoint. */
export type TokenFields = Readonly<Record<string, unknown>>;

/** Settings to connect an account by pasted credentials: a key, or the URL of a webhook. */
export interface ProviderCredentials {
  /**
   * Strict schema of the pasted `config`. Every secret field is listed in `secretFields`; the other fields are shown.
   */
  schema: z.ZodType<Record<string, unknown>>;
  secretFields: readonly string[];
  /** Returns the headers that authorize a call. Absent for a webhook, whose URL itself is the secret. */
  authorize?(config: Readonly<Record<string, unknown>>): Readonly<Record<string, string>>;
  /**
   * Makes a live call with the pasted credentials before they are stored. A webhook that cannot be tested without
   * firing it is checked by its format only.
   * @throws Refused with a message for the person who pasted the credentials
   */
  validate(call: ProviderCall): Promise<ProviderAccount>;
}

/** An account at a provider, as shown to people. */
export interface ProviderAccount {
  id: string;
  name: string;
  /** Further fields shown with the connection. Never contains a secret. */
  displayFields?: Readonly<Record<string, string>>;
}

/** An action that can be performed at a provider in response to an event. */
export interface ProviderAction {
  /** Description of the action, one line. */
  summary: string;
  /** Strict schema, with defaults, of the `config` that a subscription or an automation node contains. */
  config: z.ZodType<Record<string, unknown>>;
  /** True for actions that only send a notice about an event. POST /integrations/connections/:id/test performs them. */
  isNotice?: boolean;
  /** With `required`, a delivery without a contact is refused. */
  contact?: 'required';
  /**
   * Performs the action. May be called again for the same `input.deliveryId` if a process ended before it stored the
   * success. A provider that takes idempotency keys gets that id.
   * @throws RateLimited, Refused, Unavailable, ReauthRequired
   */
  perform(call: ProviderCall, input: ActionInput): Promise<void>;
}

/** Input of one execution of an action. */
export interface ActionInput {
  /** Config of the action, valid by the action's schema. */
  config: Readonly<Record<string, unknown>>;
  /** Id that is equal on every retry of the action. */
  deliveryId: string;
  /**
   * The trigger that caused the action, such as `email.replied`. Null if an automation or a campaign step requested it.
   */
  trigger: string | null;
  /** Data of the trigger. */
  data: Readonly<Record<string, unknown>>;
  occurredAt: Date;
  contact: ActionContact | null;
  /**
   * The contact's record at the provider, as last written. An action that finds or creates a record stores its id here.
   */
  record: ContactRecord;
  /** The contact's fields, with the provider's field names according to the connection's mappings. */
  fields: Readonly<Record<string, string>>;
  /** True for the synthetic event of a test. */
  isTest: boolean;
}

/** The record of a contact at a CRM. Empty while no record is known. */
export interface ContactRecord {
  /** The record's id at the CRM. */
  externalId?: string;
  /** The contact's address in the record. */
  email?: string;
}

/** A contact as passed to actions. */
export interface ActionContact {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  company: string;
  phone: string;
  custom_fields: Readonly<Record<string, string>>;
}

/** Settings to write contacts to a provider. */
interface ProviderPush {
  /** The provider's name for the resulting record, such as `contact` or `Lead`. */
  object: string;
  /**
   * Default mappings from contact fields to the provider's fields, for a connection without own mappings. `email` is
   * sent separately.
   */
  defaults: readonly { from: string; to: string }[];
  /**
   * Writes a contact to its record, or creates one, and stores the id in `person.record`, so that a repeated call
   * creates no second record.
   * @param fields fields with the provider's names
   */
  writeContact(
    call: ProviderCall,
    person: { email: string; record: ContactRecord },
    fields: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Reads the fields of the provider's schema, if the provider offers it. */
  readFields?(call: ProviderCall): Promise<readonly ExternalField[]>;
}

/** A field of a provider's schema. */
export interface ExternalField {
  name: string;
  type: string;
  readOnly: boolean;
  /** Allowed values, if the list is closed. */
  options?: readonly string[];
}

/** Settings to receive bookings from a provider. */
interface ProviderInbound {
  /**
   * Returns true if a webhook is authentic and recent. Verifies the signature over the raw body in constant time. If
   * the provider signs a time, a webhook older than the provider's limit is rejected.
   */
  verify(request: InboundRequest): boolean;
  /**
   * Parses the booking in a verified body. Returns undefined for another kind of event. @throws Refused for a body that
   * cannot be read
   */
  readBooking(body: unknown): MeetingReport | undefined;
  /**
   * Asks the provider to send its webhooks to `url`, signed with `secret`, and returns the webhook's id at the
   * provider. If the function is missing, a person enters URL and secret at the provider.
   */
  register?(call: ProviderCall, webhook: { url: string; secret: string }): Promise<{ externalId: string }>;
  unregister?(call: ProviderCall, externalId: string): Promise<void>;
}

export interface InboundRequest {
  /** Header names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  rawBody: Buffer;
  secret: string;
  now: Date;
}

/**
 * Client for one connection's account. Its requests are authorized, limited in time and size, and never go to private
 * addresses.
 */
export interface ProviderCall {
  /** The pasted `config`, including secrets; empty with OAuth. */
  readonly config: Readonly<Record<string, unknown>>;
  /**
   * Sends one request and reads its answer. With OAuth, a 401 refreshes the token and repeats the request once.
   * @throws RateLimited for 429
   * @throws Refused for other answers from 300 to 499, except 408, that `expect` does not name
   * @throws Unavailable for 408, 5xx, no answer or no HTTP
   * @throws ReauthRequired when the token or key is no longer valid
   */
  request(request: ProviderRequest): Promise<ProviderAnswer>;
}

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * Path below the API's base URL, with a leading slash, or a whole https URL. Credentials are sent only to the API's
   * own origin.
   */
  path: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  /** Request body, sent as JSON. */
  json?: unknown;
  /** Request body, sent as a form. */
  form?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** True to sign the body with the connection's webhook secret, as docs/guides/webhooks.md describes. */
  signed?: boolean;
  /**
   * Statuses from 300 to 499 for which the answer is returned and no error thrown, such as 404 for a missing record.
   */
  expect?: readonly number[];
}

export interface ProviderAnswer {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  /** The parsed body. Undefined for invalid JSON. */
  json: unknown;
  text: string;
}

/** Thrown when the provider answers 429: no action happened, and no attempt is counted. */
export class RateLimited extends Error {
  override readonly name = 'RateLimited';
  readonly retryAfterMs: number;

  readonly said = message('connect.slow_down');

  constructor(retryAfterMs: number) {
    super('The provider asks to slow down');
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Thrown when the provider refuses a request and would refuse it again. `said` is shown to people and contains no
 * secrets.
 */
export class Refused extends Error {
  override readonly name = 'Refused';
  /** HTTP status of the answer, if there is one. */
  readonly status: number | undefined;

  readonly said: Message;

  constructor(said: Message, status?: number) {
    super(render(said));
    this.said = said;
    this.status = status;
  }
}

/** Thrown when the provider does not answer or reports a temporary failure. Another attempt can succeed. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly said: Message;

  constructor(said: Message) {
    super(render(said));
    this.said = said;
  }
}

/** Thrown when the token or key is no longer valid: a person must connect the account again. */
export class ReauthRequired extends Error {
  override readonly name = 'ReauthRequired';
  /** `sealed_version` of the tokens whose refresh failed, if a failed refresh is the cause. */
  readonly version: number | undefined;

  readonly said: Message;

  constructor(said: Message, version?: number) {
    super(render(said));
    this.said = said;
    this.version = version;
  }
}
