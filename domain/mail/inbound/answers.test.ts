import test from 'ava';
import { classifyInbound } from './classify.ts';
import type { Answer } from './fixtures/answer.ts';
import { ANSWERS } from './fixtures/answers.ts';
import type { ReportCase } from './fixtures/report.ts';
import { REPORTS } from './fixtures/reports.ts';
import { REGISTERED } from './fixtures/registered-statuses.ts';
import { parseInbound } from './parse.ts';
import { classifyRefusal, type RefusalClass, type Stage } from './refusal.ts';
import { bestStatus, replyCode } from './smtp-words.ts';

const isKept = (_: unknown, at: number): boolean => at % 2 === 1;
const isUsed = (_: unknown, at: number): boolean => at % 2 === 0;

function classOf([, stage, words]: Answer): RefusalClass {
  return classifyRefusal({ status: bestStatus(null, words), code: replyCode(words), stage, words }).class;
}

async function readingOf({ raw }: ReportCase): Promise<string> {
  const found = classifyInbound(await parseInbound(Buffer.from(raw)), {}, new Date('2026-11-20T12:00:00Z'));
  if (found.kind === 'bounce') return found.bounceType === 'hard' ? 'gone' : 'failed';
  return found.kind === 'automated' && found.reason === 'delivery_delayed' ? 'delay' : 'none';
}

test('answers that the words were written with are sorted as a person would', (t) => {
  const wrong = ANSWERS.filter(isUsed).filter((answer) => !answer.slice(3).includes(classOf(answer)));
  t.deepEqual(
    wrong.map((answer) => `${classOf(answer)}: ${answer[2]}`),
    [],
  );
});

test('of answers that were kept apart nine in ten are sorted so, and none is wrongly taken for an address that is gone', (t) => {
  const kept = ANSWERS.filter(isKept);
  const wrong = kept.filter((answer) => !answer.slice(3).includes(classOf(answer)));
  t.true(wrong.length <= kept.length / 10, `${wrong.length} of ${kept.length}`);
  t.deepEqual(
    wrong.filter((answer) => classOf(answer) === 'recipient_gone').map(([, , words]) => words),
    [],
  );
  const gone = kept.filter((answer) => answer.length === 4 && answer[3] === 'recipient_gone');
  t.true(gone.filter((answer) => classOf(answer) === 'recipient_gone').length >= gone.length * 0.9);
});

test('delivery reports in the forms of many systems', async (t) => {
  for (const report of REPORTS.filter(isUsed)) t.is(await readingOf(report), report.truth, report.raw);
  const kept = REPORTS.filter(isKept);
  const readings = await Promise.all(kept.map(readingOf));
  const wrong = kept.filter(({ truth }, at) => truth !== readings[at]);
  t.true(wrong.length <= 1, `${wrong.length} of ${kept.length}`);
  t.false(kept.some(({ truth }, at) => truth !== 'gone' && readings[at] === 'gone'));
});

test('of the registered statuses only those of an address that cannot work count as gone, whatever was answered', (t) => {
  const gone = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10']);
  for (const [status, text] of REGISTERED) {
    for (const stage of ['connect', 'mail', 'rcpt', 'data', null] as (Stage | null)[]) {
      const words = `550 ${status} <ann@b.example>: ${text}`;
      const found = classifyRefusal({ status, code: 550, stage, words });
      if (found.class === 'recipient_gone') t.true(gone.has(status), `${words} to ${stage}: ${found.reason}`);
    }
  }
});
