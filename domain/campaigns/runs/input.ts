import { z } from 'zod';
import { addressKey } from '../../../lib/address.ts';
import { appPath, eventName, MAX_WAIT_MINUTES, outputKey } from '../../sending/campaign/actions.ts';
import { MAX_STEPS, variantInputSchema } from '../input.ts';
import { CONTACT_LIMITS, customFieldsFit, CUSTOM_FIELD_LIMITS } from '../../directory/contact-fields.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

/** Maximum number of leads in the request of a run. A longer list must be imported first and given as a segment. */
const MAX_RUN_LEADS = 5_000;
/** Maximum number of recipients of one run, from all sources. */
export const MAX_RUN_RECIPIENTS = 50_000;
const MAX_CONTACT_IDS = 10_000;
const MAX_SEGMENTS = 20;
const MAX_MAILBOXES = 1_000;
const MAX_TAGS = 200;
const MAX_VARIANTS = 26;

const text = (max: number) => z.string().max(max).optional();
const copy = variantInputSchema.shape;

const lead = z.strictObject({
  email: z
    .string()
    .overwrite(addressKey)
    .pipe(z.email().max(254))
    .meta({ format: 'email', maxLength: 254, description: 'Known addresses are updated with the fields given' }),
  first_name: text(CONTACT_LIMITS.name),
  last_name: text(CONTACT_LIMITS.name),
  company: text(CONTACT_LIMITS.company),
  phone: text(CONTACT_LIMITS.phone),
  custom_fields: z
    .record(z.string().min(1).max(CONTACT_LIMITS.customKey), z.string().max(CONTACT_LIMITS.customValue))
    .refine(customFieldsFit, ruleMessage('directory.too_many_fields', CUSTOM_FIELD_LIMITS))
    .optional()
    .meta({ description: 'Usable in emails as {{.key}}' }),
});

const variant = z.strictObject({
  subject: z.string().max(998).meta({ description: 'Empty in a follow-up: it replies in the same thread' }),
  body_plain: copy.body_plain,
  body_html: copy.body_html,
  weight: copy.weight.meta({ description: 'Share of the recipients, beside the other variants' }),
});

const step = z.strictObject({
  name: z.string().max(255).optional().meta({ description: 'For people, never sent' }),
  type: z.enum(['email', 'app_action', 'wait_for_event', 'wait']).default('email'),
  wait_after: z.int().min(0).max(60).optional().meta({
    description: 'Days between the step before and this one; 3 when left out, 0 for the first',
  }),
  variants: z.array(variant).min(1).max(MAX_VARIANTS).optional().meta({
    description: 'Of an email: one, or several that are compared with each other',
  }),
  app_action: z
    .strictObject({
      connection: z.string().min(1).max(100).meta({ description: 'Id or name of an app connection' }),
      path: appPath,
      output_key: outputKey,
      inputs: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
  wait_for_event: z
    .strictObject({
      event: eventName,
      timeout_minutes: z.int().min(1).max(MAX_WAIT_MINUTES).optional(),
      on_timeout: z.enum(['continue', 'stop']).optional(),
    })
    .optional(),
  wait: z.strictObject({ minutes: z.int().min(1).max(MAX_WAIT_MINUTES) }).optional(),
});

/** Body of POST /runs, and the content of a run file. */
export const createRunSchema = z.strictObject({
  senders: z
    .strictObject({
      mode: z.enum(['auto', 'explicit', 'tags']),
      mailbox_ids: z.array(z.string()).max(MAX_MAILBOXES).optional(),
      tag_ids: z.array(z.string()).max(MAX_TAGS).optional(),
    })
    .meta({
      description:
        'Which mailboxes send: all active ones (`auto`), those named (`explicit`), or those with a tag (`tags`). They are fixed when the run is created',
    }),
  daily_limit: z.int().min(1).max(1_000_000).meta({ description: 'Most emails of the campaign per day' }),
  schedule: z
    .strictObject({
      mode: z.enum(['auto', 'explicit']),
      timezone: z.string().optional().meta({ description: 'IANA name, such as Europe/Berlin; UTC when left out' }),
      days: z.int().optional().meta({ description: 'Bit mask, Monday 1 to Sunday 64' }),
      start_time: z.string().optional().meta({ description: 'HH:MM' }),
      end_time: z.string().optional().meta({ description: 'HH:MM' }),
    })
    .meta({
      description:
        '`auto`: Monday to Friday, 09:00 to 17:00 in the timezone, or what an existing campaign has; `explicit`: as given',
    }),
  stop_on_reply: z.boolean(),
  opt_out_enabled: z.boolean().meta({ description: 'Every email offers a way to opt out' }),
  intent: z.enum(['draft', 'launch']).meta({ description: '`draft`: build and check, send nothing' }),
  campaign_id: z.string().optional().meta({ description: 'An existing campaign that is not active' }),
  name: z.string().trim().min(1).max(255).optional().meta({ description: 'Of a new campaign' }),
  description: z.string().max(5000).optional(),
  leads: z.array(lead).max(MAX_RUN_LEADS).optional(),
  contact_ids: z.array(z.string()).max(MAX_CONTACT_IDS).optional(),
  segment_ids: z.array(z.string()).max(MAX_SEGMENTS).optional(),
  steps: z.array(step).max(MAX_STEPS).optional(),
});

export type CreateRun = z.output<typeof createRunSchema>;
export type RunStep = z.output<typeof step>;
