import { textOf } from '../text/index.ts';

/** What happens, in words. */
export function triggerName(trigger: string): string {
  return textOf('trigger', trigger);
}

/** A trigger as a select offers it. */
export function toTriggerChoice(trigger: string): { value: string; label: string } {
  return { value: trigger, label: triggerName(trigger) };
}
