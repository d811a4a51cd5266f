import { AppError } from '../../../lib/errors.ts';
import type { Columns } from '../../../db/rows.ts';
import { configuredDeal, configuredTask, filledIn, optional, text } from '../../crm/configured.ts';
import { createDeal, openDealOf, updateDeal } from '../../crm/deals.ts';
import { createTask } from '../../crm/tasks.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { addLeads } from '../../audience/leads/add.ts';
import { leaveCampaigns } from '../../sending/leads/membership.ts';
import { addContactTag, removeContactTag, setContactTag } from '../../directory/contact-tags.ts';
import { existingIds } from '../../platform/references.ts';
import { addSuppressions } from '../../audience/suppressions/entries.ts';
import { addThreadLabel } from '../../inbox/threads/labels.ts';
import { startRefusal } from './start-refusal.ts';
import type { ConfigOf, NativeAction } from './actions.ts';
import type { AutomationRunState } from './state.ts';
import type { AutomationContact } from './values.ts';
import { message } from '../../../messages/index.ts';

/** Native actions that are executed in the transaction of the run. */
export type InstantAction = Exclude<NativeAction, 'sendsets.wait' | 'sendsets.webhook'>;

interface Doing {
  tx: Tx;
  /** Context for functions that need one. It uses the given transaction. */
  ctx: Ctx;
  run: AutomationRunState;
  nodeId: string;
}

type Perform<A extends InstantAction> = (doing: Doing, config: ConfigOf<A>) => Promise<unknown>;

/**
 * Executes each action by a function of its area. The function joins the transaction that stores the node's result, so
 * the action is done once.
 * @throws AppError for an action that cannot be executed, such as one that names a deleted row
 */
export const PERFORM: { [A in InstantAction]: Perform<A> } = {
  'sendsets.add_tag': async ({ tx, run }, config) => {
    const category = text(config.category_id);
    if (!(await addContactTag(tx, contactOf(run).id, category))) await assertCategory(tx, category);
  },
  'sendsets.remove_tag': ({ tx, run }, config) => removeContactTag(tx, contactOf(run).id, text(config.category_id)),
  'sendsets.set_category': async ({ tx, run }, config) => {
    const category = text(config.category_id);
    if (!(await setContactTag(tx, contactOf(run).id, category))) await assertCategory(tx, category);
  },
  'sendsets.label_email': ({ tx, run }, config) => {
    const thread = run.data.thread_id;
    if (typeof thread !== 'string') throw new AppError('conflict', message('connect.run_no_conversation'));
    return addThreadLabel(tx, thread, text(config.category_id));
  },
  'sendsets.create_task': ({ tx, ctx, run }, config) =>
    createTask(ctx, {
      ...configuredTask(config, tx.now),
      type: optional(config.type),
      contact_id: run.contact?.id,
      deal_id: optional(run.data.deal_id),
    }),
  'sendsets.create_deal': ({ ctx, run }, config) =>
    createDeal(ctx, { ...configuredDeal(config), contact_id: run.contact?.id }),
  'sendsets.move_deal_stage': async ({ tx, ctx, run }, config) =>
    updateDeal(ctx, await dealOf(tx, run), { stage_id: text(config.stage_id) }),
  'sendsets.add_to_campaign': ({ tx, ctx, run }, config) =>
    addLeads(tx, ctx.config, text(config.campaign_id), [contactOf(run).id]),
  'sendsets.remove_from_campaign': ({ tx, run }, config) => {
    const campaignId = optional(config.campaign_id) ?? optional(run.data.campaign_id);
    if (!campaignId) throw new AppError('conflict', message('connect.run_no_campaign'));
    return leaveCampaigns(tx, [contactOf(run).id], [campaignId], message('ended.by_automation'));
  },
  'sendsets.suppress': ({ ctx, run }, config) =>
    addSuppressions(ctx, [{ value: contactOf(run).email }], text(config.reason).slice(0, 500)),
  'sendsets.notify': async ({ tx, run, nodeId }, config) =>
    tx.emit('automation.notified', {
      automation_id: run.automationId,
      automation_name: run.automationName,
      run_id: run.id,
      node_id: nodeId,
      trigger_event: run.trigger,
      contact_id: run.contact?.id ?? null,
      message: filledIn(config.message, 2000),
    }),
  'sendsets.run_automation': async ({ tx, run, nodeId }, config) => {
    const automationId = text(config.automation_id);
    const [other] = await tx.org.sql<Columns<'automations', 'enabled' | 'graph'>>(
      'select enabled, graph from automations where organization_id = :org and id = :id',
      { id: automationId },
    );
    if (!other?.enabled) throw new AppError('conflict', message('connect.run_other_off'));
    const borrowed = startRefusal(run.rights, other.graph);
    if (borrowed) throw new AppError('forbidden', borrowed);
    tx.emit('automation.requested', {
      automation_id: automationId,
      cause: `node/${run.id}/${nodeId}`,
      run_id: run.id,
      contact_id: run.contact?.id ?? null,
      contact_email: null,
      campaign_id: null,
      step_id: null,
    });
  },
};

function contactOf({ contact }: AutomationRunState): AutomationContact {
  if (!contact) throw new AppError('conflict', message('connect.run_no_contact'));
  return contact;
}

/**
 * Checks that a tag exists. Call it when adding the tag changed nothing: the contact has the tag already, or the tag
 * was deleted.
 * @throws AppError conflict if the tag does not exist
 */
async function assertCategory(tx: Tx, id: string): Promise<void> {
  const known = await existingIds(tx.org, 'labels', [id], { registry: 'category' });
  if (!known.has(id)) throw new AppError('conflict', message('connect.run_category_gone'));
}

/** Returns the id of the event's deal. If the event has none, returns the contact's newest open deal. */
async function dealOf(tx: Tx, run: AutomationRunState): Promise<string> {
  return optional(run.data.deal_id) ?? openDealOf(tx.org, contactOf(run).id);
}
