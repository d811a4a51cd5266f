import { text, textOf } from '../../text/index.ts';

/** Returns the label of a record type; an unknown type keeps its API name. */
export function recordTypeName(kind: string): string {
  return textOf('operator.thing', kind, toLabel(kind));
}

/** Returns the label of an action. It is a participle, such as "started", to be written after the record's label. */
export function actionName(action: string): string {
  const verb = action.split('.').at(-1)!;
  return textOf('operator.did', verb, toLabel(verb));
}

/** Returns the text of an entry, such as "Campaign started". */
export function entryName({ action, entity_type: kind }: { action: string; entity_type: string }): string {
  return textOf(
    'operator.entry',
    action,
    text('operator.entry', { thing: recordTypeName(kind), did: actionName(action) }),
  );
}

/** Returns the label of a field; an unknown or custom field keeps its name. */
export function fieldName(name: string): string {
  return textOf('operator.field', name, toLabel(name));
}

/** Converts an API name to words: `min_wait_time` becomes "Min wait time". */
function toLabel(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
