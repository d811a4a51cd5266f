import { text, type TextKey } from '../text/index.ts';
import { saidPlainly } from '../text/unrendered.ts';

/** What the engine says that a lead waits for, without its step, or why its way ended, and the text for it. */
const KNOWN: Readonly<Record<string, TextKey>> = {
  'the email has its slot': 'waiting.slot',
  'the first email has its slot': 'waiting.slot',
  'waiting for its day': 'waiting.day',
  waiting: 'waiting.wait',
  'waiting to see what becomes of the email': 'waiting.reaction',
  'asking the app': 'waiting.app',
  'the sending window is closed': 'waiting.window',
  'the next free time is further ahead': 'waiting.turn',
  'the next mailbox is free later': 'waiting.mailbox',
  'the mailbox of the conversation rests': 'waiting.rests',
  'the mailbox of the conversation is busy': 'waiting.busy',
  'its time is on another day': 'waiting.turn',
  'the daily limit of the campaign is reached': 'waiting.limit',
  'the limit of new leads a day is reached': 'waiting.newLeads',
  'the daily limit of the mailboxes is reached': 'waiting.limits',
  'no mailbox can send': 'waiting.noMailbox',
  'the campaign has no sending window': 'waiting.noWindow',
  'the campaign is paused': 'waiting.paused',
  'the contact replied': 'ended.replied',
  'the contact may ask to be left out': 'ended.doubtful',
  'the contact is unsubscribed': 'ended.unsubscribed',
  'the email bounced': 'ended.bounced',
  'the email could not be sent': 'ended.failed',
  'the campaign has ended': 'ended.campaign',
  'an end step': 'ended.step',
};
const STEP = /^step \d+ of \d+(?: \(.*\))?(?: again)?: /s;
const EVENT = /^waiting for (\S+)$/;

/** What a lead waits for, or why its way ended, in the language of the reader; what is not known here, as the API says it. */
export function inWords(said: string): string {
  const what = said.replace(STEP, '');
  const known = KNOWN[what];
  if (known) return text(known);
  const event = EVENT.exec(what)?.[1];
  return event ? text('waiting.event', { event }) : saidPlainly(said);
}
