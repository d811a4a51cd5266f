import MailComposer from 'nodemailer/lib/mail-composer';
import { createHash } from 'node:crypto';

const SUBJECTS = [
  'Quick question about Thursday',
  'Notes from the call',
  'Lunch next week?',
  'Draft of the agenda',
  'The numbers you asked for',
  'Following up on the workshop',
  'Travel plans',
  'A thought on the schedule',
  'Photos from the offsite',
  'About the new room',
];
const OPENINGS = [
  'I hope your week is going well.',
  'Thanks again for your time the other day.',
  'Just a short note before I forget.',
  'I have been meaning to write to you.',
  'A small thing from my side.',
];
const MIDDLES = [
  'Could we move our meeting by an hour? The train leaves a little later than I thought.',
  'I have gone through the list and most of it looks fine to me.',
  'The team liked the idea, and two of them would like to help.',
  'Would you mind having a look at the second page when you have a moment?',
  'We could also take the smaller room; it has better light in the afternoon.',
  'I will bring the printed copies, so there is no need to send them around.',
];
const CLOSINGS = [
  'Let me know what you think.',
  'No hurry at all.',
  'Talk soon!',
  'Thanks a lot.',
  'See you on Monday.',
];
const ANSWERS = [
  'That works well for me, thank you!',
  'Good idea. I will have a look this afternoon and come back to you.',
  'Thanks for the note, that is very helpful.',
  'Perfect, let us do it that way.',
  'I think the second option is the better one. Shall we take it?',
];

/** Returns subject and text of a warmup email, which are the same on every attempt. */
export function warmupText(mailId: string, answered: { subject: string } | null): { subject: string; text: string } {
  const dice = createHash('sha256').update(mailId).digest();
  const pick = (list: readonly string[], index: number) => list[dice[index]! % list.length]!;
  if (answered) {
    const subject = answered.subject.replace(/^(re:\s*)+/i, '');
    return { subject: `Re: ${subject}`, text: `${pick(ANSWERS, 0)}\n\n${pick(CLOSINGS, 1)}` };
  }
  const text = [pick(OPENINGS, 1), pick(MIDDLES, 2), pick(CLOSINGS, 3)].join('\n\n');
  return { subject: pick(SUBJECTS, 0), text: `Hi,\n\n${text}` };
}

/** Composes a plain-text email for SMTP, without links, images or tracking marks. */
export async function composeWarmup(options: {
  from: { name: string; address: string };
  to: string;
  messageId: string;
  inReplyTo: string | null;
  words: { subject: string; text: string };
  date: Date;
}): Promise<Buffer> {
  const { from, to, messageId, inReplyTo, words, date } = options;
  const signed = from.name ? `${words.text}\n\n${from.name}` : words.text;
  return new MailComposer({
    from,
    to,
    messageId,
    date,
    subject: words.subject,
    text: signed,
    ...(inReplyTo ? { inReplyTo, references: inReplyTo } : {}),
  })
    .compile()
    .build();
}
