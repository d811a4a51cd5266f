import test from 'ava';
import fc from 'fast-check';
import {
  checkedSettings,
  DEFAULT_SETTINGS,
  mergeSettings,
  partialSettingsSchema,
  completeSettingsSchema,
  type PartialSettings,
} from './outreach-settings.ts';
import { AppError } from '../../../lib/errors.ts';

/** Any subset of blocks and fields, with values other than the defaults. */
const layer: fc.Arbitrary<PartialSettings> = fc.record(
  {
    bounce_pipeline: fc.record(
      { enabled: fc.boolean(), pause_bounce_rate_threshold: fc.integer({ min: 6, max: 99 }) },
      { requiredKeys: [] },
    ),
    reply_intent: fc.record(
      {
        out_of_office_hold_days: fc.integer({ min: 8, max: 90 }),
        crm_task_intents: fc.option(fc.uniqueArray(fc.constantFrom('positive', 'automated')), { nil: null }),
      },
      { requiredKeys: [] },
    ),
    unsubscribe: fc.record(
      { mode: fc.constantFrom('link', 'off'), text: fc.constantFrom('', '  ', 'Stop here') },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

test('the last layer that says something of a field decides it, whatever the other fields', (t) => {
  fc.assert(
    fc.property(fc.array(layer, { maxLength: 4 }), (layers) => {
      const merged = mergeSettings(...layers);
      t.true(completeSettingsSchema.safeParse(merged).success);
      const said = <T>(
        read: (one: PartialSettings) => T | null | undefined,
        counts: (value: T) => boolean = () => true,
      ): T | undefined =>
        layers
          .map(read)
          .filter((value): value is T => value != null && counts(value))
          .at(-1);
      t.is(merged.bounce_pipeline.enabled, said((one) => one.bounce_pipeline?.enabled) ?? true);
      t.is(
        merged.bounce_pipeline.pause_bounce_rate_threshold,
        said((one) => one.bounce_pipeline?.pause_bounce_rate_threshold) ?? 5,
      );
      t.is(merged.reply_intent.out_of_office_hold_days, said((one) => one.reply_intent?.out_of_office_hold_days) ?? 7);
      t.deepEqual(
        merged.reply_intent.crm_task_intents as string[],
        said((one) => one.reply_intent?.crm_task_intents) ?? ['positive', 'question', 'neutral', 'negative'],
      );
      t.is(
        merged.unsubscribe.text,
        said(
          (one) => one.unsubscribe?.text,
          (text) => text.trim() !== '',
        ) ?? DEFAULT_SETTINGS.unsubscribe.text,
      );
      t.deepEqual(merged.task_reliability, DEFAULT_SETTINGS.task_reliability);
    }),
  );
});

test('merging leaves the defaults alone', (t) => {
  const before = structuredClone(DEFAULT_SETTINGS);
  const merged = mergeSettings({ unsubscribe: { mode: 'off' } });
  t.is(merged.unsubscribe.mode, 'off');
  t.throws(() => merged.reply_intent.positive_keywords.push('yes'), { instanceOf: TypeError });
  t.deepEqual(DEFAULT_SETTINGS, before);
});

test('an empty list of task intents opens no tasks; null means the default set', (t) => {
  t.deepEqual(mergeSettings({ reply_intent: { crm_task_intents: [] } }).reply_intent.crm_task_intents, []);
  t.is(mergeSettings({ reply_intent: { crm_task_intents: null } }).reply_intent.crm_task_intents.length, 4);
});

test('min_content_score is corrected, words outside a vocabulary are refused, all at once', (t) => {
  for (const [given, stored] of [
    [0, 1],
    [-5, 1],
    [50, 50],
    [1000, 100],
  ] as const) {
    t.is(
      checkedSettings({ preflight: { min_content_score: given } }, 'body.settings').preflight?.min_content_score,
      stored,
    );
  }
  const error = t.throws(
    () =>
      checkedSettings(
        {
          reply_intent: { crm_task_intents: ['positive', 'angry'] },
          ab_testing: { default_winning_rule: 'luck' },
          unsubscribe: { mode: 'maybe' },
          send_time_optimization: { default_contact_timezone: 'Mars/Base' },
        },
        'body.settings',
      ),
    { instanceOf: AppError },
  );
  t.is(error.code, 'invalid_setting');
  t.deepEqual(
    error.problems?.map((problem) => problem.path),
    [
      'body.settings.reply_intent.crm_task_intents.1',
      'body.settings.ab_testing.default_winning_rule',
      'body.settings.unsubscribe.mode',
      'body.settings.send_time_optimization.default_contact_timezone',
    ],
  );
});

test('the shape knows its limits', (t) => {
  const refuses = (settings: unknown) =>
    t.false(partialSettingsSchema.safeParse(settings).success, JSON.stringify(settings));
  refuses({ reply_intent: { out_of_office_hold_days: 91 } });
  refuses({ reply_intent: { out_of_office_hold_days: 0 } });
  refuses({ unsubscribe: { text: 'x'.repeat(301) } });
  refuses({ unsubscribe: { link_text: 'two\nlines' } });
  refuses({ send_time_optimization: { preferred_hours: [24] } });
  refuses({ no_such_block: {} });
  refuses({ dashboard: { no_such_field: true } });
});
