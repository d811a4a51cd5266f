import type { z } from 'zod';
import { inWords, type Said } from '../../../../lib/errors.ts';
import { message, type Message, type MessageCode } from '../../../../messages/index.ts';
import { render } from '../../../../messages/render.ts';
import type { MeetingNews } from '../../../crm/meetings/record.ts';

/** Every provider that Heron connects to. */
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
 * What Heron knows of a provider: how its accounts are connected, and what can be done there. A provider is one folder of `providers/` with this declaration
 * and the functions that it names. They speak to the provider by the {@link ProviderCall} that they are given and by nothing else: they know no
 * rows, no queue and no retries.
 */
export interface Provider {
  id: ProviderId;
  name: string;
  /** One line for the catalogue. */
  tagline: MessageCode;
  category: 'crm' | 'automation' | 'notifications' | 'meetings' | 'data';
  docsUrl: string;
  authMethod: 'oauth' | 'api_key' | 'webhook';
  /** Hex, such as #ff7a59. */
  badgeColor: string;
  beta?: boolean;
  /** The place where a person finds the webhook URL or the key that they paste. */
  webhookHint?: MessageCode;
  highlights: readonly MessageCode[];
  /** Triggers that are useful here, for the catalogue; a subscription may name any. */
  events: readonly string[];
  capability?: Readonly<Record<string, unknown>>;
  /** Origin and path of its API, without a trailing slash. INTEGRATION_ENDPOINTS and what an account says (`accountBase`) come before it. */
  apiBase: string;
  /** What the provider lets one connection do: so many requests at once, refilled at so many per second. */
  rate: { capacity: number; perSecond: number };
  /** With authMethod `oauth`. */
  oauth?: ProviderOAuth;
  /** Whether an answer says that the access token is not good any more, where the provider says so with another status than 401. */
  isTokenRefused?(answer: ProviderAnswer): boolean;
  /** With authMethod `api_key` or `webhook`. */
  credentials?: ProviderCredentials;
  /** Asks whether the account still answers, where neither its fields nor its key can be asked for, and its tokens do not end by themselves. */
  check?(call: ProviderCall): Promise<void>;
  /** By verb, the part of an action's name after the dot: `notify` of `slack.notify`. */
  actions: Readonly<Record<string, ProviderAction>>;
  /** With it, contacts can be pushed here. */
  push?: ProviderPush;
  /** With it, bookings come from here. */
  inbound?: ProviderInbound;
}

/** Names of the settings with the installation's OAuth clients, in lib/config/settings.ts. */
type ClientSetting = `${'HUBSPOT' | 'SALESFORCE' | 'PIPEDRIVE' | 'SLACK' | 'GOOGLE_SHEETS'}_CLIENT_${'ID' | 'SECRET'}`;

/** How an account is connected by the consent of its person (RFC 6749, authorization code). */
export interface ProviderOAuth {
  authorizeUrl: string;
  tokenUrl: string;
  /** Ends a consent: where the token goes as the form field `token` (RFC 7009), unless `revoke` says otherwise. */
  revokeUrl?: string;
  /** S256 (RFC 7636), where the provider offers it. */
  pkce: boolean;
  scopes: readonly string[];
  /** Between scopes in the authorization request; a space unless said. */
  scopeSeparator?: string;
  /** Further parameters of the authorization request, such as `access_type`. */
  parameters?: Readonly<Record<string, string>>;
  /** How the client's secret travels to the token endpoint; in the body unless said. */
  clientAuth?: 'body' | 'basic';
  /** The settings with the installation's client, as [id, secret]. */
  clientSettings: readonly [ClientSetting, ClientSetting];
  /**
   * Where the answer of the token endpoint names the base of this account's API: its field, and the domains below which the
   * provider has its accounts. Accounts' tokens go to no other host.
   */
  accountBase?: { field: string; domains: readonly string[] };
  /** Scopes that were granted, where they are not in `scope` of that answer, separated by spaces or commas. */
  scopesIn?(tokens: TokenFields): readonly string[];
  /** Whose account it is. `tokens` is the whole answer of the token endpoint. */
  readAccount(call: ProviderCall, tokens: TokenFields): Promise<ProviderAccount>;
  /** Ends the consent where RFC 7009 is not what the provider speaks. */
  revoke?(call: ProviderCall, refreshToken: string): Promise<void>;
}

/** The JSON object that a token endpoint answered. */
export type TokenFields = Readonly<Record<string, unknown>>;

/** How an account is connected by what a person pastes: a key, or the URL of a webhook. */
export interface ProviderCredentials {
  /** Of the pasted `config`; strict. Every field that is secret is in `secretFields`, the others are shown. */
  schema: z.ZodType<Record<string, unknown>>;
  secretFields: readonly string[];
  /** Headers with which a call is authorized; none for a webhook, whose URL is the secret. */
  authorize?(config: Readonly<Record<string, unknown>>): Readonly<Record<string, string>>;
  /**
   * A live call with what was pasted, before it is stored. A webhook that cannot be asked without being fired is checked by its form alone.
   * @throws Refused with a message for the person who pasted it
   */
  validate(call: ProviderCall): Promise<ProviderAccount>;
}

/** An account at a provider, as people know it. */
export interface ProviderAccount {
  id: string;
  name: string;
  /** What else is shown of the connection: never a secret. */
  displayFields?: Readonly<Record<string, string>>;
}

/** One thing that can be done at a provider when something has happened here. */
export interface ProviderAction {
  /** One line for people who choose it. */
  summary: string;
  /** Of the subscription's or node's `config`; strict, with defaults. */
  config: z.ZodType<Record<string, unknown>>;
  /** True for actions that only say that something happened: POST /integrations/connections/:id/test fires them. */
  isNotice?: boolean;
  /** What it needs of a contact; an item without a contact is refused where it is `required`. */
  contact?: 'required';
  /**
   * Does it. It may be called again for the same `input.deliveryId`, when a process ended between the call and the note of its success: a provider
   * that takes idempotency keys gets that id.
   * @throws RateLimited, Refused, Unavailable, ReauthRequired
   */
  perform(call: ProviderCall, input: ActionInput): Promise<void>;
}

/** What an action is done with. */
export interface ActionInput {
  /** Fits the schema of the action. */
  config: Readonly<Record<string, unknown>>;
  /** Stays the same when the action is tried again. */
  deliveryId: string;
  /** The trigger that it follows, such as `email.replied`; null for one that an automation or a campaign step asked for by itself. */
  trigger: string | null;
  /** Data of the trigger. */
  data: Readonly<Record<string, unknown>>;
  occurredAt: Date;
  contact: ActionContact | null;
  /** The contact's record there, as it was last written; an action that finds or makes one notes it here. */
  record: ContactRecord;
  /** The contact's fields by the names of the provider, as the connection's field mappings say. */
  fields: Readonly<Record<string, string>>;
  /** True for the synthetic event of a test. */
  isTest: boolean;
}

/** The record of a contact at a CRM; empty before the first is known. */
export interface ContactRecord {
  /** The record's id there. */
  externalId?: string;
  /** The contact's address in the record. */
  email?: string;
}

/** A contact as actions see it. */
export interface ActionContact {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  company: string;
  phone: string;
  custom_fields: Readonly<Record<string, string>>;
}

/** How contacts are written to a provider. */
interface ProviderPush {
  /** The provider's word for what a contact becomes, such as `contact` or `Lead`. */
  object: string;
  /** The mappings of a connection that has none of its own: from fields of contacts to the provider's names. `email` is sent by itself. */
  defaults: readonly { from: string; to: string }[];
  /**
   * Writes a contact to its record, or makes one, and notes the record in `person.record`: a repetition leaves one record.
   * @param fields by the provider's names
   */
  writeContact(
    call: ProviderCall,
    person: { email: string; record: ContactRecord },
    fields: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Fields of the provider's schema, where it can be asked. */
  readFields?(call: ProviderCall): Promise<readonly ExternalField[]>;
}

/** A field of a provider's schema. */
export interface ExternalField {
  name: string;
  label: string;
  type: string;
  readOnly: boolean;
  /** The values that it takes, where the list is closed. */
  options?: readonly string[];
}

/** How a provider tells of bookings. */
interface ProviderInbound {
  /**
   * Whether a webhook is from the provider, and new enough: over the bytes of the body, in constant time. What is older than the
   * provider's own limit, by a time that it signs, is refused.
   */
  verify(request: InboundRequest): boolean;
  /** The booking that a verified body speaks of; undefined where it is about something else. @throws Refused for a body that cannot be read */
  readBooking(body: unknown): MeetingNews | undefined;
  /** Asks the provider to send its webhooks to `url`, signed with `secret`; returns its id of the webhook. Without it a person enters both. */
  register?(call: ProviderCall, webhook: { url: string; secret: string }): Promise<{ externalId: string }>;
  unregister?(call: ProviderCall, externalId: string): Promise<void>;
}

export interface InboundRequest {
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  rawBody: Buffer;
  secret: string;
  now: Date;
}

/** One conversation with a provider for one connection: requests to it are authorized, bounded and kept off private addresses. */
export interface ProviderCall {
  /** The pasted `config`, secrets included; empty with OAuth. */
  readonly config: Readonly<Record<string, unknown>>;
  /**
   * Sends one request and reads its answer. A 401 with OAuth has the token refreshed and the request repeated, once.
   * @throws RateLimited for 429, Refused for other answers from 300 to 499 that `expect` does not name, Unavailable for 5xx, no answer or no HTTP,
   *   ReauthRequired where the credential is not good any more
   */
  request(request: ProviderRequest): Promise<ProviderAnswer>;
}

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base of the API, from its slash on; or a whole https URL, which gets no credential unless it is of the API's origin. */
  path: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form. */
  form?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** True has the bytes of the body signed with the connection's webhook secret, as docs/webhooks.md says. */
  signed?: boolean;
  /** Statuses from 300 to 499 that are answers to the caller and no errors, such as 404 of a look-up. */
  expect?: readonly number[];
}

export interface ProviderAnswer {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  /** The parsed body; undefined where it is no JSON. */
  json: unknown;
  text: string;
}

/** The provider asks to wait (429): nothing was done, and no attempt is counted. */
export class RateLimited extends Error {
  override readonly name = 'RateLimited';
  readonly retryAfterMs: number;

  readonly said = message('connect.slow_down');

  constructor(retryAfterMs: number) {
    super('The provider asks to slow down');
    this.retryAfterMs = retryAfterMs;
  }
}

/** The provider refuses the request and would again. `said` is shown to people, without secrets. */
export class Refused extends Error {
  override readonly name = 'Refused';
  /** The status of its answer, where there was one. */
  readonly status: number | undefined;

  readonly said: Message;

  constructor(said: Message, status?: number) {
    super(render(said));
    this.said = said;
    this.status = status;
  }
}

/** The provider does not answer, or answers that it cannot now: another attempt may succeed. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly said: Message;

  constructor(said: Message) {
    super(render(said));
    this.said = said;
  }
}

/** The credential is not good any more: a person has to connect the account again. */
export class ReauthRequired extends Error {
  override readonly name = 'ReauthRequired';
  /** `sealed_version` of the tokens that could not be refreshed, where that is why. */
  readonly version: number | undefined;

  readonly said: Said;

  constructor(said: Said, version?: number) {
    super(inWords(said));
    this.said = said;
    this.version = version;
  }
}
