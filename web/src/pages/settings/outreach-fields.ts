import type { AnswerOf } from '../../app/api.ts';

export type Settings = AnswerOf<'/v1/outreach/settings'>;
export type Block = Exclude<keyof Settings, 'custom' | 'dashboard'>;
type FieldOf<Name extends Block> = keyof Settings[Name] & string;

/** Input of a setting. */
export type Kind =
  | 'switch'
  | 'percent'
  | 'words'
  | 'intents'
  | 'hours'
  | 'zone'
  | 'line'
  | { least: number; most: number }
  | { choices: readonly string[] };

/** Reply intents, as the API names them. */
export const INTENTS = ['positive', 'question', 'neutral', 'negative', 'out_of_office', 'automated'] as const;

/**
 * Settings of the page by block, in display order. The label of a setting is the text `outreach.<block>.<field>`; its
 * help is that key followed by `.why`.
 */
export const FIELDS: { readonly [Name in Block]: { readonly [Field in FieldOf<Name>]: Kind } } = {
  campaign_overlap: { mode: { choices: ['off', 'warn', 'hold'] } },
  bounce_pipeline: {
    enabled: 'switch',
    auto_suppress_on_bounce: 'switch',
    auto_suppress_on_complaint: 'switch',
    auto_suppress_on_unsubscribe: 'switch',
    auto_pause_campaign_on_spike: 'switch',
    pause_bounce_rate_threshold: 'percent',
    pause_complaint_rate_threshold: 'percent',
  },
  reply_intent: {
    enabled: 'switch',
    positive_keywords: 'words',
    negative_keywords: 'words',
    out_of_office_keywords: 'words',
    question_keywords: 'words',
    auto_suppress_on_unsubscribe_keyword: 'switch',
    auto_pause_on_negative: 'switch',
    hold_on_out_of_office: 'switch',
    out_of_office_hold_days: { least: 1, most: 90 },
    auto_create_crm_task: 'switch',
    crm_task_intents: 'intents',
  },
  unsubscribe: {
    mode: { choices: ['text', 'link', 'off'] },
    text: 'line',
    link_intro: 'line',
    link_text: 'line',
  },
  send_time_optimization: {
    enabled: 'switch',
    use_contact_timezone: 'switch',
    default_contact_timezone: 'zone',
    preferred_hours: 'hours',
    weekend_weight_multiplier: { least: 0, most: 10 },
  },
  ab_testing: {
    enabled: 'switch',
    auto_promote_winner: 'switch',
    default_winning_rule: { choices: ['reply_rate', 'click_rate', 'open_rate'] },
    min_sample_size: { least: 1, most: 1_000_000 },
  },
  preflight: {
    enabled: 'switch',
    check_tracking_domain: 'switch',
    check_unsubscribe_header: 'switch',
    check_ab_variant_configured: 'switch',
    check_daily_limit: 'switch',
    check_schedule_window: 'switch',
    check_content_score: 'switch',
    min_content_score: { least: 1, most: 100 },
  },
  task_reliability: {
    enabled: 'switch',
    dlq_enabled: 'switch',
    max_attempts: { least: 1, most: 100 },
    execution_window_seconds: { least: 1, most: 604_800 },
  },
  inbox: { keep_sent_days: { least: 0, most: 3650 } },
};
