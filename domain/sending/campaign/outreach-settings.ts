import { z } from 'zod';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { MAX_UNSUBSCRIBE_COPY, UNSUBSCRIBE_DEFAULTS, type UnsubscribeMode } from '../../mail/messages/footer.ts';
import { isIanaZone } from '../../platform/scheduling/zone.ts';
import { message, type Message } from '../../../messages/index.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

/** Intents that replies are classified into (`crm_task_intents`, filters of automations). */
export const REPLY_INTENTS = ['positive', 'question', 'neutral', 'negative', 'out_of_office', 'automated'] as const;
type ReplyIntentName = (typeof REPLY_INTENTS)[number];

/** Rules for choosing an A/B winner (`ab_testing`). */
export const WINNING_RULES = ['reply_rate', 'click_rate', 'open_rate'] as const;
const UNSUBSCRIBE_MODES = ['text', 'link', 'off'] as const;
/** Rules for a lead whose contact is in progress in another active campaign (`campaign_overlap`). */
const OVERLAP_MODES = ['off', 'warn', 'hold'] as const;

const keywords = z.array(z.string().max(200)).max(500);
const percent = z.number().min(0).max(100);
/**
 * Schema of a string with documented values. An unknown value is reported as `invalid_setting`, not as a malformed
 * body.
 */
const oneOf = (words: readonly string[]) => z.string().meta({ enum: [...words] });
const copyLine = z
  .string()
  .max(MAX_UNSUBSCRIBE_COPY)
  .regex(/^[^\r\n]*$/, ruleMessage('settings.single_line'));

const BLOCKS = {
  bounce_pipeline: z.strictObject({
    enabled: z.boolean(),
    auto_suppress_on_bounce: z.boolean(),
    auto_suppress_on_complaint: z.boolean(),
    auto_suppress_on_unsubscribe: z.boolean(),
    auto_pause_campaign_on_spike: z.boolean(),
    pause_bounce_rate_threshold: percent,
    pause_complaint_rate_threshold: percent,
  }),
  task_reliability: z.strictObject({
    enabled: z.boolean(),
    dlq_enabled: z.boolean(),
    max_attempts: z.int().min(1).max(100),
    execution_window_seconds: z
      .int()
      .min(1)
      .max(7 * 86_400),
  }),
  ab_testing: z.strictObject({
    enabled: z.boolean(),
    auto_promote_winner: z.boolean(),
    default_winning_rule: oneOf(WINNING_RULES),
    min_sample_size: z.int().min(1).max(1_000_000),
  }),
  reply_intent: z.strictObject({
    enabled: z.boolean(),
    positive_keywords: keywords,
    negative_keywords: keywords,
    out_of_office_keywords: keywords,
    question_keywords: keywords,
    auto_create_crm_task: z.boolean(),
    crm_task_intents: z.array(oneOf(REPLY_INTENTS)).nullable(),
    auto_pause_on_negative: z.boolean(),
    auto_suppress_on_unsubscribe_keyword: z.boolean(),
    hold_on_out_of_office: z.boolean(),
    out_of_office_hold_days: z.int().min(1).max(90),
  }),
  send_time_optimization: z.strictObject({
    enabled: z.boolean(),
    use_contact_timezone: z.boolean(),
    default_contact_timezone: z.string(),
    preferred_hours: z.array(z.int().min(0).max(23)).max(24),
    weekend_weight_multiplier: z.number().min(0).max(10),
  }),
  campaign_overlap: z.strictObject({
    mode: oneOf(OVERLAP_MODES).meta({
      description:
        'For a lead whose contact is under way in another active campaign. `off` starts it. `warn` starts it, and preflight and validation ' +
        'count such leads. `hold` starts it once the other campaign is done with the contact; the lead shows the hold.',
    }),
  }),
  preflight: z.strictObject({
    enabled: z.boolean(),
    check_tracking_domain: z.boolean(),
    check_unsubscribe_header: z.boolean(),
    check_ab_variant_configured: z.boolean(),
    check_daily_limit: z.boolean(),
    check_schedule_window: z.boolean(),
    check_content_score: z.boolean(),
    min_content_score: z.int(),
  }),
  dashboard: z.strictObject({
    enabled: z.boolean(),
    show_suppression_log: z.boolean(),
    show_intent_summary: z.boolean(),
    show_dlq_stats: z.boolean(),
  }),
  inbox: z.strictObject({
    keep_sent_days: z
      .int()
      .min(0)
      .max(3650)
      .meta({ description: 'Days for which the content of sent emails is kept; 0: as long as their conversation' }),
  }),
  unsubscribe: z.strictObject({
    mode: oneOf(UNSUBSCRIBE_MODES),
    text: copyLine,
    link_intro: copyLine,
    link_text: copyLine,
  }),
};

/** Advanced outreach settings with all blocks and fields, as responses contain them at organization level. */
export const completeSettingsSchema = z.strictObject({ ...BLOCKS, custom: z.record(z.string(), z.unknown()) });

/**
 * Advanced outreach settings with any subset of blocks and fields, as clients send them and campaigns override them.
 */
export const partialSettingsSchema = z.strictObject({
  bounce_pipeline: BLOCKS.bounce_pipeline.partial().optional(),
  task_reliability: BLOCKS.task_reliability.partial().optional(),
  ab_testing: BLOCKS.ab_testing.partial().optional(),
  reply_intent: BLOCKS.reply_intent.partial().optional(),
  send_time_optimization: BLOCKS.send_time_optimization.partial().optional(),
  campaign_overlap: BLOCKS.campaign_overlap.partial().optional(),
  preflight: BLOCKS.preflight.partial().optional(),
  dashboard: BLOCKS.dashboard.partial().optional(),
  inbox: BLOCKS.inbox.partial().optional(),
  unsubscribe: BLOCKS.unsubscribe.partial().optional(),
  custom: z.record(z.string(), z.unknown()).optional(),
});
export type PartialSettings = z.output<typeof partialSettingsSchema>;

type Complete = z.output<typeof completeSettingsSchema>;

/** The effective settings, with every field. */
export type OutreachSettings = Omit<Complete, 'reply_intent' | 'ab_testing' | 'campaign_overlap' | 'unsubscribe'> & {
  campaign_overlap: { mode: (typeof OVERLAP_MODES)[number] };
  ab_testing: Omit<Complete['ab_testing'], 'default_winning_rule'> & {
    default_winning_rule: (typeof WINNING_RULES)[number];
  };
  reply_intent: Omit<Complete['reply_intent'], 'crm_task_intents'> & { crm_task_intents: ReplyIntentName[] };
  unsubscribe: Omit<Complete['unsubscribe'], 'mode'> & { mode: UnsubscribeMode };
};

/** Defaults for settings that neither the organization nor the campaign sets. No other code defines defaults. */
export const DEFAULT_SETTINGS: OutreachSettings = frozen({
  bounce_pipeline: {
    enabled: true,
    auto_suppress_on_bounce: true,
    auto_suppress_on_complaint: true,
    auto_suppress_on_unsubscribe: true,
    auto_pause_campaign_on_spike: true,
    pause_bounce_rate_threshold: 5,
    pause_complaint_rate_threshold: 0.3,
  },
  task_reliability: { enabled: true, dlq_enabled: true, max_attempts: 5, execution_window_seconds: 3600 },
  ab_testing: { enabled: true, auto_promote_winner: false, default_winning_rule: 'reply_rate', min_sample_size: 100 },
  reply_intent: {
    enabled: true,
    // An empty list means the built-in words (`domain/mail/inbound/keywords.ts`).
    positive_keywords: [],
    negative_keywords: [],
    out_of_office_keywords: [],
    question_keywords: [],
    auto_create_crm_task: true,
    crm_task_intents: ['positive', 'question', 'neutral', 'negative'],
    auto_pause_on_negative: false,
    auto_suppress_on_unsubscribe_keyword: true,
    hold_on_out_of_office: true,
    out_of_office_hold_days: 7,
  },
  send_time_optimization: {
    enabled: false,
    use_contact_timezone: true,
    default_contact_timezone: 'UTC',
    preferred_hours: [9, 10, 11, 14, 15, 16],
    weekend_weight_multiplier: 1,
  },
  campaign_overlap: { mode: 'warn' },
  preflight: {
    enabled: true,
    check_tracking_domain: true,
    check_unsubscribe_header: true,
    check_ab_variant_configured: true,
    check_daily_limit: true,
    check_schedule_window: true,
    check_content_score: true,
    min_content_score: 60,
  },
  dashboard: { enabled: true, show_suppression_log: true, show_intent_summary: true, show_dlq_stats: true },
  inbox: { keep_sent_days: 0 },
  unsubscribe: { ...UNSUBSCRIBE_DEFAULTS },
  custom: {},
});

/** Key of `custom` that lists the reply intents which end all campaigns of a person. */
const STOP_EVERYWHERE = 'stop_everywhere_intents';

/**
 * Returns the reply intents that end all campaigns of the workspace for a person, and not only the campaign replied to.
 * Reads `custom.stop_everywhere_intents`; defaults to negative intents. Opt-outs always end all campaigns.
 */
export function stopsEverywhere(custom: OutreachSettings['custom']): readonly string[] {
  const given = custom[STOP_EVERYWHERE];
  return Array.isArray(given) ? given.map(String) : ['negative'];
}

/** Freezes a default and its parts, because all callers share the object. */
function frozen<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) frozen(inner);
  return Object.freeze(value);
}

/**
 * Returns the settings to store. Clamps `min_content_score` to 1-100 instead of rejecting it.
 * @param path path of the settings in the request, for the problem list
 * @throws AppError invalid_setting (400) listing every unknown value
 */
export function checkedSettings(input: PartialSettings, path: string): PartialSettings {
  const problems = settingProblems(input, path);
  if (problems.length > 0) {
    throw new AppError('invalid_setting', message('settings.invalid'), { problems });
  }
  const score = input.preflight?.min_content_score;
  if (score === undefined) return input;
  return { ...input, preflight: { ...input.preflight, min_content_score: Math.min(100, Math.max(1, score)) } };
}

/** Returns a problem, with a path below `path`, for every unknown value. */
export function settingProblems(input: PartialSettings | undefined, path: string): Problem[] {
  const problems: Problem[] = [];
  if (!input) return problems;
  const refuse = (field: string, said: Message) => void problems.push({ path: `${path}.${field}`, message: said });
  input.reply_intent?.crm_task_intents?.forEach((intent, index) => {
    if (!isOneOf(REPLY_INTENTS, intent))
      refuse(`reply_intent.crm_task_intents.${index}`, message('field.choice', { choices: REPLY_INTENTS }));
  });
  const everywhere = input.custom?.[STOP_EVERYWHERE];
  const known = Array.isArray(everywhere) && everywhere.every((intent) => isOneOf(REPLY_INTENTS, String(intent)));
  if (everywhere !== undefined && everywhere !== null && !known)
    refuse(`custom.${STOP_EVERYWHERE}`, message('settings.intents', { choices: REPLY_INTENTS }));
  const rule = input.ab_testing?.default_winning_rule;
  if (rule !== undefined && !isOneOf(WINNING_RULES, rule)) {
    refuse('ab_testing.default_winning_rule', message('field.choice', { choices: WINNING_RULES }));
  }
  const mode = input.unsubscribe?.mode;
  if (mode !== undefined && !isOneOf(UNSUBSCRIBE_MODES, mode))
    refuse('unsubscribe.mode', message('field.choice', { choices: UNSUBSCRIBE_MODES }));
  const overlap = input.campaign_overlap?.mode;
  if (overlap !== undefined && !isOneOf(OVERLAP_MODES, overlap))
    refuse('campaign_overlap.mode', message('field.choice', { choices: OVERLAP_MODES }));
  const zone = input.send_time_optimization?.default_contact_timezone;
  if (zone !== undefined && !isIanaZone(zone)) {
    refuse('send_time_optimization.default_contact_timezone', message('field.time_zone'));
  }
  return problems;
}

function isOneOf(words: readonly string[], word: string): boolean {
  return words.includes(word);
}

/**
 * Merges layers of settings over the defaults. A field takes its value from the last layer that sets it. Missing or
 * null fields and blank unsubscribe texts keep the value of the layer below.
 */
export function mergeSettings(...layers: readonly PartialSettings[]): OutreachSettings {
  // Sections are shared with the frozen defaults until another layer changes them.
  const merged = { ...DEFAULT_SETTINGS } as Record<string, Record<string, unknown>>;
  for (const layer of layers) {
    for (const [block, fields] of Object.entries(layer)) {
      for (const [field, value] of Object.entries(fields ?? {})) {
        const isBlankCopy = block === 'unsubscribe' && typeof value === 'string' && value.trim() === '';
        if (value !== undefined && value !== null && !isBlankCopy) merged[block] = { ...merged[block], [field]: value };
      }
    }
  }
  return merged as unknown as OutreachSettings;
}

/** Layers of the effective settings, as a query with {@link settingsColumns} returns them. */
export interface SettingsLayers {
  workspace: PartialSettings | null;
  overrides: PartialSettings | null;
  mode: UnsubscribeMode | 'inherit' | null;
}

/**
 * SQL columns `workspace` and `overrides` for a query over campaigns. `alias` is the campaigns table in that query.
 */
export const settingsColumns = (alias: string): string =>
  `(select settings from outreach_settings where organization_id = ${alias}.organization_id) as workspace,
   (select overrides from campaign_advanced where campaign_id = ${alias}.id) as overrides`;

/**
 * Merges the effective settings: defaults, the organization's, the campaign's overrides, and the campaign's
 * `unsubscribe_mode` unless it is `inherit`.
 */
export function settingsInForce({ workspace, overrides, mode }: SettingsLayers): OutreachSettings {
  return mergeSettings(workspace ?? {}, overrides ?? {}, mode && mode !== 'inherit' ? { unsubscribe: { mode } } : {});
}

/** Returns the effective settings of a campaign, or of the organization when `campaignId` is null. */
export async function effectiveSettings(org: OrgScope, campaignId: string | null): Promise<OutreachSettings> {
  const [row] = await org.sql<SettingsLayers>(
    `select (select settings from outreach_settings where organization_id = :org) as workspace, a.overrides, c.unsubscribe_mode as mode
     from (select cast(:campaign as uuid) as id) as wanted
     left join campaigns c on c.id = wanted.id and c.organization_id = :org
     left join campaign_advanced a on a.campaign_id = c.id`,
    { campaign: campaignId },
  );
  return settingsInForce(row ?? { workspace: null, overrides: null, mode: null });
}
