import test from 'ava';
import { findingMessage, findingCode } from '../../../lib/finding.ts';
import type { Message } from '../../../messages/index.ts';
import fc from 'fast-check';
import { scoreContent, type ScoredCopy } from './score.ts';

const PLAIN =
  'Hi {{.FirstName}},\n\nI saw that {{.Company}} opened a second warehouse. We help teams of your size keep stock counts right without a night shift. ' +
  'Would a call next week be of use?\n\nBest,\nAnna';
const codeOf = ({ message }: { message: Message }) => findingCode(message);
const codes = (copy: ScoredCopy) => scoreContent(copy).issues.map(codeOf);

test('a plain email gets the full score', (t) => {
  t.deepEqual(scoreContent({ subject: 'Stock counts at {{.Company}}', bodyPlain: PLAIN }), { score: 100, issues: [] });
});

test('each rule names what it holds against the copy', (t) => {
  const copy = (change: ScoredCopy): ScoredCopy => ({ subject: 'Stock counts', bodyPlain: PLAIN, ...change });
  const html = (markup: string): ScoredCopy => ({ subject: 'Stock counts', bodyHtml: `<p>${PLAIN}</p>${markup}` });
  const cases: [string, ScoredCopy][] = [
    ['spam_phrases', copy({ bodyPlain: `${PLAIN} Make  money` })],
    ['advertising_phrases', copy({ subject: 'Limited time' })],
    ['no_subject', copy({ subject: '' })],
    ['false_reply', copy({ subject: 'RE: our call' })],
    ['long_subject', copy({ subject: 'word '.repeat(20) })],
    ['money_in_subject', copy({ subject: 'Your $500' })],
    ['emoji_in_subject', copy({ subject: 'Stock 🚀' })],
    ['capitals', copy({ subject: 'STOCK COUNTS NOW' })],
    ['capitals', copy({ bodyPlain: `${PLAIN} NEVER AGAIN COUNT BOXES TWICE` })],
    ['exclamation_marks', copy({ bodyPlain: `${PLAIN}!!!` })],
    ['too_many_links', copy({ bodyPlain: `${PLAIN} ${'https://example.com/a '.repeat(5)}` })],
    ['links_outweigh_text', copy({ bodyPlain: 'Look here at https://example.com/a and https://example.com/b' })],
    ['link_shortener', html('<a href="https://bit.ly/x">read</a>')],
    ['link_to_address', html('<a href="https://192.0.2.1/x">read</a>')],
    ['insecure_link', html('<a href="http://example.com/x">read</a>')],
    ['deceptive_link', html('<a href="https://evil.example.net/">www.example.com</a>')],
    [
      'images_outweigh_text',
      { subject: 'Stock counts', bodyHtml: '<p>Look at this picture of ours</p><img src="https://example.com/a.png">' },
    ],
    ['long_body', copy({ bodyPlain: 'word '.repeat(400) })],
    ['short_body', copy({ bodyPlain: 'Hello there' })],
    ['active_markup', html('<script>1</script>')],
    ['hidden_text', html('<p style="display:none">x</p>')],
  ];
  for (const [code, scored] of cases) {
    const { score, issues } = scoreContent(scored);
    t.true(
      issues.some((issue) => codeOf(issue) === code),
      `${code}: ${issues.map(codeOf).join()}`,
    );
    t.true(score < 100, code);
    t.true(
      issues.every(({ message }) => findingMessage(message, 'fix')),
      code,
    );
  }
  t.deepEqual(codes({ subject: 'Re: our call', bodyPlain: PLAIN, isReply: true }), []);
  t.deepEqual(codes({ subject: '', bodyPlain: PLAIN, isReply: true }), []);
  t.deepEqual(codes(html('<a href="https://www.example.com/a">example.com</a>')), []);
});

test('all options of spintax are looked at, with the line they stand on', (t) => {
  const { issues } = scoreContent({ subject: 'Stock counts', bodyPlain: `${PLAIN}\n{Bye|Act now}` });
  t.deepEqual(issues.map(codeOf), ['spam_phrases']);
  t.like(issues[0]!.spans[0], { field: 'body', text: 'Act now', line: 7 });
});

test('any text scores between 0 and 100, and worse copy never better', (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400, unit: 'grapheme' }), fc.string({ maxLength: 60 }), (bodyPlain, subject) => {
      const { score, issues } = scoreContent({ subject, bodyPlain });
      t.true(score >= 0 && score <= 100);
      t.true(
        scoreContent({ subject, bodyPlain: `${bodyPlain}\ncasino casino` }).score <= score ||
          issues.some((issue) => codeOf(issue) === 'short_body'),
      );
    }),
    { numRuns: 200 },
  );
});
