import { text, textOf } from '../../text/index.ts';

/** What a kind of thing is called; one that is new here keeps its own name. */
export function thingName(kind: string): string {
  return textOf('operator.thing', kind, toWords(kind));
}

/** What was done, as a participle that follows the name of the thing. */
export function deedName(action: string): string {
  const verb = action.split('.').at(-1)!;
  return textOf('operator.did', verb, toWords(verb));
}

/** An entry in words, such as "Campaign started". */
export function entryName({ action, entity_type: kind }: { action: string; entity_type: string }): string {
  return textOf('operator.entry', action, text('operator.entry', { thing: thingName(kind), did: deedName(action) }));
}

/** What a field is called; one that is new here, or of somebody's own, keeps its name. */
export function fieldName(name: string): string {
  return textOf('operator.field', name, toWords(name));
}

/** A name of a program as words: `min_wait_time` becomes "Min wait time". */
function toWords(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
