import type { z } from 'zod';
import { message, type Message, type MessageCode } from '../messages/index.ts';

/**
 * Returns the text of a custom zod rule: `.refine(isColor, says('field.color'))`, `.regex(CODE, says(…))`, or the
 * `message` of `addIssue`. zod accepts only text, so the text encodes the message code and its values. {@link
 * issueMessage} decodes it.
 */
export function ruleMessage<Code extends MessageCode>(...args: Parameters<typeof message<Code>>): string {
  return asIssue(message(...args));
}

/** Variant of {@link ruleMessage} for a rule that already has the message object. */
export function asIssue(said: Message): string {
  return JSON.stringify(said);
}

function ownSentence(text: string): Message | undefined {
  return text.startsWith('{"code":') ? (JSON.parse(text) as Message) : undefined;
}

const TYPES: Readonly<Record<string, MessageCode>> = {
  string: 'type.string',
  number: 'type.number',
  int: 'type.int',
  boolean: 'type.boolean',
  array: 'type.array',
  object: 'type.object',
  record: 'type.record',
  date: 'type.date',
  null: 'type.null',
};
const FORMS: Readonly<Record<string, MessageCode>> = {
  email: 'form.email',
  url: 'form.url',
  uuid: 'form.uuid',
  datetime: 'form.datetime',
  date: 'form.date',
  time: 'form.time',
  ipv4: 'form.ipv4',
};
const plain = (code: MessageCode): Message => ({ code, values: {} });

/**
 * Returns the message for a zod issue. It states the requirement that the field does not meet. A custom rule has its
 * own message ({@link ruleMessage}).
 */
export function issueMessage(issue: z.core.$ZodIssue): Message {
  const own = ownSentence(issue.message);
  if (own) return own;
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return message('field.required');
      return message('field.type', { type: plain(TYPES[issue.expected] ?? 'type.other') });
    case 'too_big':
      return tooBig(issue);
    case 'too_small':
      return tooSmall(issue);
    case 'invalid_format':
      return message('field.format', { format: formOf(issue as unknown as Record<string, unknown>) });
    case 'not_multiple_of':
      return message('field.multiple', { of: issue.divisor });
    case 'invalid_value': {
      const choices = issue.values.map(String);
      return choices.length === 1
        ? message('field.value', { value: choices[0]! })
        : message('field.choice', { choices });
    }
    case 'unrecognized_keys':
      return message('field.keys_unknown', { fields: issue.keys });
    case 'invalid_key':
      return message('field.key');
    case 'invalid_union':
      return message('field.no_form');
    default:
      return message('field.wrong');
  }
}

function tooBig({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig): Message {
  const max = Number(maximum);
  if (origin === 'string') return message('field.text_longer', { max });
  if (origin === 'array' || origin === 'set' || origin === 'map') return message('field.list_longer', { max });
  return inclusive === false ? message('field.number_not_below', { max }) : message('field.number_greater', { max });
}

function tooSmall({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): Message {
  const min = Number(minimum);
  if (origin === 'string') return min === 1 ? message('field.text_empty') : message('field.text_shorter', { min });
  if (origin === 'array' || origin === 'set' || origin === 'map') return message('field.list_shorter', { min });
  return inclusive === false ? message('field.number_not_above', { min }) : message('field.number_smaller', { min });
}

function formOf({ format, prefix, suffix, includes }: Record<string, unknown>): Message {
  if (format === 'starts_with') return message('form.starts_with', { prefix: String(prefix) });
  if (format === 'ends_with') return message('form.ends_with', { suffix: String(suffix) });
  if (format === 'includes') return message('form.includes', { part: String(includes) });
  return plain(FORMS[String(format)] ?? 'form.pattern');
}
