import { z } from 'zod';
import { PAYLOADS } from './recorded-payloads.ts';

/** Returns every payload of a recorded history that does not fit its schema, with its position; empty if all fit. */
export function misfits(family: string, history: RecordedHistory): string[] {
  const payloads = PAYLOADS[family];
  if (!payloads) return [`${family} has no entry in recorded-payloads.ts`];
  const found: string[] = [];
  const check = (place: string, schema: z.ZodType | undefined, value: unknown) => {
    if (!schema) found.push(`${place}: no schema`);
    else {
      const { success, error } = schema.safeParse(value);
      if (!success) found.push(`${place}: ${z.prettifyError(error).replaceAll('\n', ' ')}`);
    }
  };
  const scheduled = new Map<string, string>();
  for (const event of history.events) {
    const started = event.workflowExecutionStartedEventAttributes;
    if (started) check('arguments', payloads.args, decode(started.input));
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal) check(`signal ${signal.signalName}`, payloads.signals[signal.signalName], decode(signal.input));
    const activityTask = event.activityTaskScheduledEventAttributes;
    if (activityTask) {
      const { name } = activityTask.activityType;
      scheduled.set(event.eventId, name);
      check(`input of ${name}`, payloads.activities[name]?.input, decode(activityTask.input));
    }
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed) {
      const name = scheduled.get(completed.scheduledEventId)!;
      check(`result of ${name}`, payloads.activities[name]?.result, decode(completed.result)[0]);
    }
    const { details, markerName } = event.markerRecordedEventAttributes ?? {};
    if (markerName === 'core_local_activity' && details?.result) {
      const { activity_type: name } = decode(details.data)[0] as { activity_type: string };
      check(`result of ${name}`, payloads.activities[name]?.result, decode(details.result)[0]);
    }
  }
  return found;
}

interface Recorded {
  payloads?: { data?: string }[];
}

/** Recorded history in Temporal's JSON form. */
interface RecordedHistory {
  events: {
    eventId: string;
    workflowExecutionStartedEventAttributes?: { input?: Recorded };
    workflowExecutionSignaledEventAttributes?: { signalName: string; input?: Recorded };
    activityTaskScheduledEventAttributes?: { activityType: { name: string }; input?: Recorded };
    activityTaskCompletedEventAttributes?: { scheduledEventId: string; result?: Recorded };
    markerRecordedEventAttributes?: { markerName: string; details?: Record<string, Recorded> };
  }[];
}

function decode(recorded: Recorded | undefined): unknown[] {
  return (recorded?.payloads ?? []).map(({ data }) => {
    const text = Buffer.from(data ?? '', 'base64').toString();
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  });
}
