import type { Message } from '../messages/index.ts';
import type { Said } from '../lib/errors.ts';

/** Types of jsonb columns, for the row types of db/schema.ts (see db/columns.ts). */

export type { Message, Said };

/** An object whose keys only its writer knows. */
export type JsonObject = Record<string, unknown>;

export type { PreflightCheck, PreflightFinding } from '../lib/finding.ts';

/** What makes a product event a conversion, and what it is worth. */
export interface GoalDefinition {
  event_name: string;
  predicates: EventPredicate[];
  /** Dot path to the amount; null where conversions have no value. */
  value_path: string | null;
  /** `major`: converted by the decimals of the currency. */
  value_unit: 'minor' | 'major';
  currency_path: string | null;
  /** ISO 4217, upper-case. */
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

/** A problem for people and machines, and its remedy. */
export interface StoredIssue {
  code: string;
  message: Message;
  fix: Message;
}

/** One line of what a payment is for. */
export interface PaymentLine {
  label: Message;
  quantity: number;
  unit_cents: number;
  /** `month`: charged again every month; `once`: with the first payment alone. */
  interval: 'month' | 'once';
}

/** A received message as the trained model reads it. */
export interface StoredAnswer {
  kind: string;
  /** 0 to 1. */
  confidence: number;
  /** Words that spoke most for the kind, as they stand in the text. */
  words: string[];
  /** The wish of an opt-out, certain or doubtful; null for other kinds. */
  force: 'stop' | 'erase' | 'legal' | null;
  /** Day of a return or of "not now", UTC, as RFC 3339 text. */
  until: string | null;
  until_words: string | null;
  /** The person of a referral, or the deputy. */
  person: { name: string | null; email: string | null } | null;
}

/** A mail service as stored: everything but the password. */
export interface StoredMailService {
  host: string;
  port: number;
  username: string;
  security: 'tls' | 'starttls' | 'none';
}

/** What a column of the file becomes; `custom:<key>` is a custom field. */
export interface ColumnMapping {
  index: number;
  target: string;
}

/** How a file is read and applied. */
export interface ImportOptions {
  /** Format of the upload. A sheet is stored as CSV, a line for each row. */
  format: 'csv' | 'xlsx' | 'ods';
  encoding: string;
  delimiter: string;
  /** Lines above the header, or above the first row where there is none. */
  skip_rows: number;
  has_header: boolean;
  /** The header, or made-up names; the head of problems.csv. */
  columns: string[];
  mapping: ColumnMapping[];
  /** Categories every imported contact is filed under. */
  categories: string[];
  campaign_id: string | null;
  update_existing: boolean;
  /** A key or application asked for it. */
  by_credential?: boolean;
}

/** One condition of a saved audience; `field` and `operator` come from GET /segments/fields. */
export interface SegmentCondition {
  field: string;
  operator: string;
  values: string[];
}

/** A span of a campaign's day, in minutes after midnight. */
export interface ScheduleWindow {
  start: number;
  end: number;
}

/** The emails of a conversation so far; the next one replies in it. */
export interface StoredConversation {
  subject: string;
  /** RFC Message-IDs, oldest first. */
  messageIds: string[];
}

/** Why an action waits for a person. */
export interface PolicyReason {
  /** Stable, such as `recipients_per_day_exceeded`. */
  code: string;
  /** A sentence with the numbers of the case. */
  message: Message;
}

/** What an approver decides on: what will happen, exactly. Its hash stands beside it, and is compared when it is carried out. */
export interface ApprovalContent {
  /** One line that names the action, such as `Launch "Spring"`. */
  title: Message;
  recipients: {
    count: number;
    /** What the recipients are: leads of a campaign, or the addresses themselves. */
    source: { kind: 'campaign' | 'run' | 'addresses'; id?: string; name?: string };
    /** Hash over all addresses in order (`hashRecipients`), so that another list is noticed. */
    fingerprint: string;
    /** The addresses, where there are few. */
    addresses?: string[];
  };
  senders: { mailbox_id: string; email: string; name: string }[];
  /** When it leaves: a campaign's schedule, a moment; null: at once. */
  schedule: JsonObject | null;
  /** The whole template: every email with its variants, in the order in which they are sent, other steps included. */
  steps: ApprovalStep[];
  /** At most three emails as their recipients would see them. */
  samples: ApprovalSample[];
  /** What else the decision is about, such as the order of mailboxes with its prices. */
  details?: JsonObject;
}

/** A step as it stands in the template. */
export interface ApprovalStep {
  name: string;
  type: 'email' | 'app_action' | 'wait_for_event' | 'wait';
  /** Days after the step before. */
  wait_after?: number;
  variants?: { subject: string; body_plain: string; body_html: string; weight?: number }[];
  /** Settings of a step that is no email. */
  settings?: JsonObject;
}

/** An email as it would leave. */
export interface ApprovalSample {
  to: string;
  from: string;
  cc?: string[];
  subject: string;
  text: string;
  html: string;
  attachments?: { filename: string; size: number }[];
}

/** A file of an email; its bytes are a blob. */
export interface StoredAttachment {
  blob_id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
}

/** Who asked for a consent: as whom the mailbox is connected when it is given. */
export interface StoredActor {
  kind: 'session' | 'api_key' | 'oauth' | 'system';
  userId: string | null;
  sessionId?: string;
  apiKeyId?: string;
  oauthGrantId?: string;
  /** Mailboxes the key is restricted to; null means all. */
  allowedMailboxes: readonly string[] | null;
}

/** An address as which a mailbox's provider lets it send. */
export interface SendAsAddress {
  email: string;
  name: string;
  isPrimary: boolean;
  isDefault: boolean;
  verified: boolean;
}

/** The person a managed mailbox is for; either may be empty. */
export interface PersonName {
  first_name: string;
  last_name: string;
}

/** A domain of an order of managed mailboxes. */
export interface OrderedDomain {
  domain: string;
  /** It is registered with the order; otherwise the workspace has it already. */
  registration: boolean;
  /** Price of the registration for a year, once; 0 without one. */
  price_cents: number;
  mailboxes: number;
}

/** A mailbox that an order asks for. */
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

/** What an automation does, as its author drew it. */
export interface AutomationGraph {
  nodes: AutomationNode[];
  edges: AutomationEdge[];
}

/** A node of an automation's graph. */
export interface AutomationNode {
  /** Unique in its graph; that of the trigger is `trigger`. */
  id: string;
  type: 'trigger' | 'condition' | 'action';
  /** Of an action: what it does, such as `sendsets.add_tag`. */
  action?: string | undefined;
  /** Of an action of a provider: the connection that it uses. */
  connection_id?: string | null | undefined;
  config?: JsonObject | undefined;
  condition?: AutomationCondition | undefined;
  /** Where it stands on the canvas. */
  x: number;
  y: number;
}

/** What a condition node asks. */
export interface AutomationCondition {
  field: 'field' | 'expression';
  key?: string | undefined;
  operator?: string | undefined;
  value?: unknown;
  expression?: string | undefined;
}

/** A link between two nodes; out of a condition it is for one of its answers. */
export interface AutomationEdge {
  id: string;
  source: string;
  target: string;
  when: '' | 'true' | 'false';
}

/** Which events of its trigger an automation takes. */
export interface AutomationFilter {
  intents?: string[] | undefined;
  min_confidence?: number | undefined;
  campaign_ids?: string[] | undefined;
}

/** What became of a node in a run. */
export interface AutomationNodeResult {
  node_id: string;
  type: 'trigger' | 'condition' | 'action';
  action: string;
  label: Message;
  status: 'success' | 'error' | 'skipped' | 'branch_true' | 'branch_false';
  error: Said | null;
}

/** A node that a run waits for, by its id. */
export type AutomationWaiting = Record<
  string,
  { kind: 'wait'; until: string } | { kind: 'call'; attempts: number; not_before: string | null } | { kind: 'provider' }
>;
