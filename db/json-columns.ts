import type { Message } from '../messages/index.ts';

/** Types of jsonb columns, for the row types of db/schema.ts (see db/columns.ts). */

export type { Message };

/** An object whose keys are defined by its writer. */
export type JsonObject = Record<string, unknown>;

/** Changed fields of an entry in the audit log, with old and new values. */
export type AuditChanges = Readonly<Record<string, { from: unknown; to: unknown }>>;

export type { PreflightCheck, PreflightFinding } from '../lib/finding.ts';

/** Definition of a goal: the events that count as conversions, and their value. */
export interface GoalDefinition {
  event_name: string;
  predicates: EventPredicate[];
  /** Dot path to the amount. Null if conversions have no value. */
  value_path: string | null;
  /** Unit of the amount. `major` amounts are converted with the decimal places of the currency. */
  value_unit: 'minor' | 'major';
  currency_path: string | null;
  /** ISO 4217 code, upper-case. */
  default_currency: string | null;
}

/** One condition on the data of a product event. */
type EventPredicate = { path: string } & (
  | { op: 'eq' | 'neq'; value: string | number | boolean }
  | { op: 'in' | 'not_in'; value: (string | number | boolean)[] }
  | { op: 'gt' | 'gte' | 'lt' | 'lte'; value: number }
  | { op: 'contains'; value: string }
  | { op: 'exists' | 'not_exists' }
);

/** A problem, with a code for programs, and a message and remedy for people. */
export interface StoredIssue {
  code: string;
  message: Message;
  fix: Message;
}

/** One item of a payment: quantity and price. */
export interface PaymentLine {
  label: Message;
  quantity: number;
  unit_cents: number;
  /** `month` is charged every month, `once` only with the first payment. */
  interval: 'month' | 'once';
}

/** Result of the trained model for a received message. */
export interface StoredAnswer {
  kind: string;
  /** Confidence, from 0 to 1. */
  confidence: number;
  /** Words of the text with the strongest evidence for the kind. */
  words: string[];
  /** Kind of an opt-out, which may be certain or doubtful. Null for messages that are no opt-out. */
  force: 'stop' | 'erase' | 'legal' | null;
  /** Day (UTC, RFC 3339 text) of a person's return, or until which a "not now" applies. */
  until: string | null;
  until_words: string | null;
  /** Person to whom the message refers: the referred colleague, or the deputy of an absent person. */
  person: { name: string | null; email: string | null } | null;
}

/** A mail service as stored, without its password. */
export interface StoredMailService {
  host: string;
  port: number;
  username: string;
  security: 'tls' | 'starttls' | 'none';
}

/** Target of a column of the file. `custom:<key>` is a custom field. */
export interface ColumnMapping {
  index: number;
  target: string;
}

/** Options for reading and applying an import file. */
export interface ImportOptions {
  /** Format of the upload. A sheet is stored as CSV, one line per row. */
  format: 'csv' | 'xlsx' | 'ods';
  encoding: string;
  delimiter: string;
  /** Number of lines above the header, or above the first row if there is no header. */
  skip_rows: number;
  has_header: boolean;
  /** Column names from the header of the file, or generated names. They are also the header of problems.csv. */
  columns: string[];
  mapping: ColumnMapping[];
  /** Categories assigned to every imported contact. */
  categories: string[];
  campaign_id: string | null;
  update_existing: boolean;
  /** API key or grant that requested the import; null if a person requested it. */
  requested_by: { api_key_id: string | null; oauth_grant_id: string | null } | null;
}

/** One condition of a saved audience. `field` and `operator` come from GET /segments/fields. */
export interface SegmentCondition {
  field: string;
  operator: string;
  values: string[];
}

/** A part of a campaign-local day, in minutes after midnight. */
export interface ScheduleWindow {
  start: number;
  end: number;
}

/** The previous emails of a conversation. The next email replies to them. */
export interface StoredConversation {
  subject: string;
  /** RFC Message-IDs, oldest first. */
  messageIds: string[];
}

/** Reason why an action waits for a person. */
export interface PolicyReason {
  /** Stable code, such as `recipients_per_day_exceeded`. */
  code: string;
  /** Message that contains the numbers of this case. */
  message: Message;
}

/**
 * Exact content of an action for the approver's decision. Its hash is stored too, and compared when the action is
 * executed.
 */
export interface ApprovalContent {
  /** One line that names the action, such as `Launch "Spring"`. */
  title: Message;
  recipients: {
    count: number;
    /** Source of the recipients: leads of a campaign or run, or explicit addresses. */
    source: { kind: 'campaign' | 'run' | 'addresses'; id?: string; name?: string };
    /** Hash of all addresses in order (`hashRecipients`). It differs if the list has changed. */
    fingerprint: string;
    /** The addresses themselves, for short lists. */
    addresses?: string[];
  };
  senders: ApprovalSender[];
  /** Schedule of the campaign, or a time. Null means immediately. */
  schedule: JsonObject | null;
  /** The whole template: every email with its variants, in sending order, and the other steps. */
  steps: ApprovalStep[];
  /** Up to three emails in the form that recipients would see. */
  samples: ApprovalSample[];
  /** Further content for the approver, such as an order of mailboxes with its prices. */
  details?: JsonObject;
}

/** A sender as recipients see it, with its outgoing server. */
interface ApprovalSender {
  mailbox_id: string;
  /** From address of the sender. */
  email: string;
  name: string;
  reply_to?: string;
  /** Host and port of the sender's SMTP server. */
  smtp?: string;
  signature_plain?: string;
  signature_html?: string;
  /** The verified domain of the links in its emails. Empty if it uses the domain of the campaign or installation. */
  tracking_domain?: string;
}

/** Fingerprints of approved content. Before each email is sent, they are compared with the current content. */
export interface ApprovalBinding {
  /** Senders by mailbox id. */
  senders: Record<string, BoundSender>;
  /** Texts by the id of their variant, or of their step if it has no variants. A single email has the key `email`. */
  copies: Record<string, BoundCopy>;
  /** Settings that affect every email, unchanged. */
  settings: JsonObject;
  /** Merge fields that the texts contain. */
  fields: string[];
}

export interface BoundSender {
  from: string;
  name: string;
  reply_to: string;
  smtp: string;
  signature: string;
  tracking_domain: string;
}

export interface BoundCopy {
  subject: string;
  body_plain: string;
  body_html: string;
  thread_reply: boolean;
  /** Names and digests of the attached files. */
  attachments: string;
}

/** A step of the template. */
export interface ApprovalStep {
  name: string;
  type: 'email' | 'app_action' | 'wait_for_event' | 'wait';
  /** Days after the previous step. */
  wait_after?: number;
  /** True if the email is a reply in the conversation of the earlier emails. Set only for emails of campaigns. */
  thread_reply?: boolean;
  /** Texts of the step. `id` is the id of the variant, or of the step if it has no variants. */
  variants?: { id?: string; subject: string; body_plain: string; body_html: string; weight?: number }[];
  /** Attachments of the step's emails. */
  attachments?: { filename: string; content_type: string; size_bytes: number; sha256: string }[];
  /** Settings of a step that is not an email. */
  settings?: JsonObject;
}

/** A rendered sample email. */
export interface ApprovalSample {
  to: string;
  from: string;
  cc?: string[];
  subject: string;
  text: string;
  html: string;
  attachments?: { filename: string; size: number }[];
}

/** An attachment of an email. Its content is stored as a blob. */
export interface StoredAttachment {
  blob_id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
}

/** Person or credential that requested a consent. The mailbox is connected on behalf of this actor. */
export interface StoredActor {
  kind: 'session' | 'api_key' | 'oauth' | 'system';
  userId: string | null;
  sessionId?: string;
  apiKeyId?: string;
  oauthGrantId?: string;
  /** Mailboxes that the key is restricted to. Null means all. */
  allowedMailboxes: readonly string[] | null;
}

/** A sender address that the mailbox's provider permits. */
export interface SendAsAddress {
  email: string;
  name: string;
  isPrimary: boolean;
  isDefault: boolean;
  verified: boolean;
}

/** Name of the person who uses a managed mailbox. Each part may be empty. */
export interface PersonName {
  first_name: string;
  last_name: string;
}

/** A domain in an order of managed mailboxes. */
export interface OrderedDomain {
  domain: string;
  /** True if the order registers the domain. False if the workspace already owns the domain. */
  registration: boolean;
  /** One-time price (cents) of registering the domain for a year. 0 without a registration. */
  price_cents: number;
  mailboxes: number;
}

/** A mailbox in an order of managed mailboxes. */
export interface OrderedMailbox extends PersonName {
  email: string;
  domain: string;
}

/** A line of a bill for managed mailboxes. */
export interface OrderLine {
  key: string;
  label: Message;
  quantity: number;
  unit_cents: number;
  total_cents: number;
  interval: 'month' | 'once';
}

/** The flow of an automation, as drawn by its author. */
export interface AutomationGraph {
  nodes: AutomationNode[];
  edges: AutomationEdge[];
}

/** A node of an automation's graph: its trigger, a condition, or an action. */
export interface AutomationNode {
  /** Id, unique in the graph. The id of the trigger is `trigger`. */
  id: string;
  type: 'trigger' | 'condition' | 'action';
  /** Action of an action node, such as `sendsets.add_tag`. */
  action?: string | undefined;
  /** Connection used by a provider's action. */
  connection_id?: string | null | undefined;
  config?: JsonObject | undefined;
  condition?: AutomationCondition | undefined;
  /** Horizontal position on the canvas. */
  x: number;
  y: number;
}

/** Comparison that a condition node evaluates. */
export interface AutomationCondition {
  field: 'field' | 'expression';
  key?: string | undefined;
  operator?: string | undefined;
  value?: unknown;
  expression?: string | undefined;
}

/** An edge between two nodes. An edge from a condition belongs to one of its results. */
export interface AutomationEdge {
  id: string;
  source: string;
  target: string;
  when: '' | 'true' | 'false';
}

/** Filter on the events of an automation's trigger. */
export interface AutomationFilter {
  intents?: string[] | undefined;
  min_confidence?: number | undefined;
  campaign_ids?: string[] | undefined;
}

/** Outcome of one node of an automation, stored with its run. */
export interface AutomationNodeResult {
  node_id: string;
  type: 'trigger' | 'condition' | 'action';
  action: string;
  label: Message;
  status: 'success' | 'error' | 'skipped' | 'branch_true' | 'branch_false';
  error: Message | null;
}

/** Nodes that a run waits for, by node id. */
export type AutomationWaiting = Record<
  string,
  { kind: 'wait'; until: string } | { kind: 'call'; attempts: number; not_before: string | null } | { kind: 'provider' }
>;

/**
 * Selects the workflows that must decide their next action again after a change of their campaign. They are at `step`
 * (null: any step), and their last decision is older than `epoch`.
 */
export interface StoredRecheck {
  step: string | null;
  /** Values of `enrollments.next_act`. */
  acts: readonly string[];
  epoch: number;
  /** Time of the change, ISO 8601. */
  at: string;
}

/**
 * Position of an interrupted erasure: a table or partition and, for a table that is read completely, its next block.
 */
export interface ErasurePosition {
  leaf: string;
  block: number;
}
