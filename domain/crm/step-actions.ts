import type { Columns } from '../../db/rows.ts';
import { json } from '../../db/connection.ts';
import { isRefusedRow } from '../../db/errors.ts';
import { AppError } from '../../lib/errors.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import type { EventData } from '../platform/kernel/event-payloads.ts';
import { withSavepoint, transact, type Tx } from '../platform/kernel/transact.ts';
import { parseTemplate, renderTemplate, WorkBudget } from '../mail/messages/template.ts';
import { mergeValues } from '../mail/messages/values.ts';
import { message, type Message } from '../../messages/index.ts';
import { configuredDeal, configuredTask, optional, refusalReason, text } from './configured.ts';
import { createDeal, openDealOf, updateDeal } from './deals.ts';
import { createTask } from './tasks.ts';

/** Fields of a CRM step action's configuration that are templates. */
const TEXTS = ['title', 'description', 'name'] as const;

type Contact = Columns<'contacts', 'id' | 'email' | 'first_name' | 'last_name' | 'company' | 'phone' | 'custom_fields'>;

interface StepRun {
  step_name: string | null;
  app_values: Record<string, unknown>;
}

/**
 * Performs the CRM action of a campaign step for its contact, once per step run. The id of the created record is stored
 * in the step run. If the action is impossible, for example because the stage was deleted, the reason is stored in the
 * step run and in the campaign's log. The contact then continues with the next step.
 * @param hops number of events that led to the request, each caused by the previous one
 */
export async function performStepAction(
  tx: Tx,
  ctx: Ctx,
  request: EventData<'step.crm_requested'>,
  hops: number,
): Promise<void> {
  const { step_run_id: runId, contact_id: contactId, campaign_id: campaignId, step_id: stepId, action } = request;
  // Locks the contact before the step run, because the deletion of a contact locks them in the same order.
  const [contact] = await tx.org.sql<Contact>(
    `select id, email, first_name, last_name, company, phone, custom_fields from contacts
     where organization_id = :org and id = :id for key share`,
    { id: contactId },
  );
  const [run] = await tx.org.sql<StepRun>(
    `select s.name as step_name, e.app_values from step_runs r join enrollments e on e.id = r.enrollment_id
     left join campaign_steps s on s.id = r.step_id
     where r.organization_id = :org and r.id = :run and r.output is null and r.detail is null for no key update of r`,
    { run: runId },
  );
  if (!contact || !run) return;
  const store = (columns: { output: string } | { detail: string }) =>
    tx.org.table('step_runs').where({ id: runId }).update(columns);
  // Sets the hop count of events that the action emits to one more than that of the request.
  await transact({ ...ctx, trx: tx.trx, hops: hops + 1 }, async (outer) => {
    try {
      const made = await withSavepoint(outer, (own) =>
        perform({ ...ctx, trx: own.trx, joined: own, hops: own.hops }, own, {
          config: filled(action, contact, run.app_values),
          about: { contact_id: contact.id, campaign_id: campaignId },
        }),
      );
      await store({ output: json(made) });
    } catch (error) {
      const why = reasonOf(error);
      await store({ detail: json(why) });
      const line = message('log.step_no_effect', { step: run.step_name ?? '', reason: why });
      await logCampaign(tx, campaignId, 'step_without_effect', line, {
        step_id: stepId,
        step_run_id: runId,
        contact_id: contact.id,
      });
    }
  });
}

interface Wanted {
  config: Record<string, unknown>;
  about: { contact_id: string; campaign_id: string };
}

async function perform(ctx: Ctx, tx: Tx, { config, about }: Wanted): Promise<Record<string, string>> {
  const contact = { contact_id: about.contact_id };
  switch (config.type) {
    case 'create_task': {
      const task = { ...configuredTask(config, tx.now), type: optional(config.task_type), ...contact };
      return { task_id: (await createTask(ctx, task)).id };
    }
    case 'create_deal':
      return { deal_id: (await createDeal(ctx, { ...configuredDeal(config), ...about })).id };
    default: {
      const dealId = await openDealOf(tx.org, about.contact_id);
      await updateDeal(ctx, dealId, { stage_id: text(config.stage_id) });
      return { deal_id: dealId };
    }
  }
}

/**
 * Renders the texts of an action. The limit on rendering work for one email applies to all texts together. @throws
 * AppError conflict
 */
function filled(
  action: Readonly<Record<string, unknown>>,
  contact: Contact,
  app: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values = mergeValues(contact, app);
  const budget = new WorkBudget();
  const texts = TEXTS.flatMap((field) => {
    const source = action[field];
    if (typeof source !== 'string') return [];
    const rendered = renderTemplate(parseTemplate(source), values, { budget });
    if (rendered.exceeded) throw new AppError('conflict', message('crm.action_texts_too_long'));
    return [[field, rendered.text] as const];
  });
  return { ...action, ...Object.fromEntries(texts) };
}

/**
 * Returns the reason why no record was created. Rethrows errors that the action itself did not cause, so that the event
 * is processed again.
 */
function reasonOf(error: unknown): Message {
  if (error instanceof AppError) return refusalReason(error);
  if (isRefusedRow(error)) return message('crm.refused_row');
  throw error;
}
