import { textOf } from '../text/index.ts';

/** Returns the name of a trigger as text. */
export function triggerName(trigger: string): string {
  return textOf('trigger', trigger);
}

/** Converts a trigger to an option of a select. */
export function toTriggerChoice(trigger: string): { value: string; label: string } {
  return { value: trigger, label: triggerName(trigger) };
}
