import { z } from 'zod';
import type { Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { addContactTag, removeContactTag } from '../../directory/contact-tags.ts';
import { NATIVE, partsOfAction, schemaFaults } from './registry.ts';

type NativeAction = (tx: Tx, contactId: string, categoryId: string) => Promise<boolean>;

/** Native actions that a subscription can perform. Automations can perform more. */
const ACTIONS: Readonly<Record<string, NativeAction>> = { add_tag: addContactTag, remove_tag: removeContactTag };
const NAMES = Object.keys(ACTIONS).map((verb) => `${NATIVE}.${verb}`);
const configOfAction = z.strictObject({ category_id: z.uuid() });

/** Lists problems of a native action and its config. */
export function nativeProblems(action: string, config: unknown): Problem[] {
  if (!actionOf(action)) return [{ path: 'body.action', message: message('connect.not_native', { actions: NAMES }) }];
  return schemaFaults(configOfAction, config, 'body.config');
}

/** Performs a native action in the caller's transaction. Does nothing if a referenced row was deleted. */
export async function performNative(
  tx: Tx,
  { action, config, contactId }: { action: string; config: unknown; contactId: string | null },
): Promise<void> {
  const perform = actionOf(action);
  const checked = configOfAction.safeParse(config);
  if (perform && checked.success && contactId) await perform(tx, contactId, checked.data.category_id);
}

function actionOf(action: string): NativeAction | undefined {
  const { verb } = partsOfAction(action);
  return Object.hasOwn(ACTIONS, verb) ? ACTIONS[verb] : undefined;
}
