import type { Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { ProviderAction } from '../integrations/providers/provider.ts';
import { textValues } from '../integrations/providers/texts.ts';
import { findAction, findProvider, partsOfAction } from '../integrations/registry.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { WorkBudget } from '../../mail/messages/template.ts';
import { message, type Message } from '../../../messages/index.ts';
import { SAMPLE_CONTACT } from '../triggers/samples.ts';
import { isTrigger, sampleData } from '../triggers/vocabulary.ts';
import { isNative, NATIVE_ACTIONS } from './actions.ts';
import { findAutomation } from './automations.ts';
import { holds } from './conditions.ts';
import { matchesFilter } from './filter.ts';
import type { AutomationGraph, AutomationNode, AutomationNodeResult } from './graph.ts';
import { interpret, type NodeOutcome } from './interpret.ts';
import { automationProblems } from './validate.ts';
import { findContacts, renderConfig, TextTooLarge, valuesOf, type AutomationContact } from './values.ts';

/** A node of a dry run: its result, and a preview of its action. */
type TracedNode = AutomationNodeResult & { preview: Record<string, unknown> };

interface DryRun {
  trace: TracedNode[];
  data: Record<string, unknown>;
}

/**
 * Runs an automation without side effects: conditions are evaluated, actions are not executed but shown with their
 * rendered texts, and waits are skipped. If the filter rejects the data, the trigger and all nodes after it are
 * skipped.
 * @param data data of the event; defaults to sample data of the trigger
 * @throws AppError not_found
 */
export async function dryRun(ctx: Ctx, id: string, data?: Record<string, unknown>): Promise<DryRun> {
  const org = reader(ctx);
  const automation = await findAutomation(org, id);
  const { trigger_event: trigger, filter, graph } = automation;
  const faults = faultsOf(graph, await automationProblems(org, automation, id));
  const used = data ?? (isTrigger(trigger) ? sampleData(trigger) : { contact_id: SAMPLE_CONTACT.contact_id });
  const contactId =
    typeof used.contact_id === 'string' && isUuid(used.contact_id) ? used.contact_id.toLowerCase() : undefined;
  const known = contactId ? (await findContacts(org, [contactId])).get(contactId) : undefined;
  const contact = known ?? (contactId && !data ? sampleContact() : null);
  const values = valuesOf(used, contact);
  const ofProviders = textValues({ data: used, contact, trigger, deliveryId: newId(), occurredAt: ctx.clock.now() });
  const previews = new Map<string, Record<string, unknown>>();
  const trace: AutomationNodeResult[] = [];
  const budget = new WorkBudget();
  await interpret(graph, trace, async (node) => {
    if (node.type === 'trigger') return { status: matchesFilter(filter, used) ? 'success' : 'skipped' };
    try {
      if (node.type === 'condition')
        return { status: holds(node.condition!, values, budget) ? 'branch_true' : 'branch_false' };
      // The texts of a provider's action can name the contact's fields in addition to the trigger's fields.
      const ofNode = isNative(node.action) ? values : ofProviders;
      previews.set(node.id, renderConfig(node.config ?? {}, ofNode, new WorkBudget(budget)));
    } catch (error) {
      if (!(error instanceof TextTooLarge)) throw error;
      return { status: 'error', error: error.said };
    }
    return wouldDo(node, contact, faults.get(node.id));
  });
  return {
    trace: trace.map((result) => ({ ...result, preview: previews.get(result.node_id) ?? {} })),
    data: used,
  };
}

/** Collects the current faults by node id, such as a category that was deleted after the automation was saved. */
function faultsOf({ nodes }: AutomationGraph, problems: readonly Problem[]): ReadonlyMap<string, Message> {
  return new Map(
    problems.toReversed().flatMap(({ path, message }) => {
      const node = nodes[Number(/^body\.graph\.nodes\.(\d+)/.exec(path)?.[1])];
      return node ? [[node.id, ofNode(message)] as const] : [];
    }),
  );
}

/** Removes the node's id from a fault, because the trace already shows it. */
function ofNode(said: Message): Message {
  if (said.code !== 'connect.node_fault') return said;
  return said.values.problem as Message;
}

function wouldDo(
  { action }: AutomationNode,
  contact: AutomationContact | null,
  fault: Message | undefined,
): NodeOutcome {
  if (fault !== undefined) return { status: 'error', error: fault };
  const needsContact = isNative(action)
    ? NATIVE_ACTIONS[action].needsContact
    : actionOfProvider(action ?? '')?.contact === 'required';
  if (needsContact && !contact) return { status: 'error', error: message('connect.run_no_contact') };
  return { status: 'success' };
}

function actionOfProvider(action: string): ProviderAction | undefined {
  const provider = findProvider(partsOfAction(action).provider);
  return provider && findAction(provider, action);
}

function sampleContact(): AutomationContact {
  const { contact_id: id, contact_email: email, first_name, last_name, company, phone, custom_fields } = SAMPLE_CONTACT;
  return { id, email, first_name, last_name, company, phone, subscribed: true, custom_fields };
}
