import test from 'ava';
import { FINDINGS } from '../domain/operations/instance/findings.ts';
import { message, SENTENCES, type MessageCode } from '../messages/index.ts';
import { findingMessage, findingCode, toFinding, renderFinding } from './finding.ts';

const placesOf = (text: string) => [...text.matchAll(/\{(\w+)(?=[,}])/g)].map(([, name]) => name!);

test('a finding is said in a language, with its fix and its values; its code is stable', (t) => {
  const finding = toFinding('warning', message('finding.spf_missing', { domains: ['a.test', 'b.test'] }));
  t.deepEqual(renderFinding(finding), {
    code: 'spf_missing',
    severity: 'warning',
    message: 'a.test and b.test: no SPF record',
    fix: 'Publish a TXT record "v=spf1 include:<your mail provider> ~all" at the domain.',
    values: { domains: ['a.test', 'b.test'] },
  });
  t.is(renderFinding(finding, 'de').message, 'a.test und b.test: kein SPF-Eintrag');
  t.is(findingCode({ code: 'finding.campaign_invalid.no_steps', values: {} }), 'campaign_invalid');
  const issue = message('copy.capitals.body');
  const copy = toFinding('warning', message('finding.content', { step: 'One', issue, shown: '' }));
  t.like(renderFinding(copy), {
    code: 'content_capitals',
    message: 'One: Words are written in capitals',
    fix: 'Write in lower case.',
  });
  const finish = '2026-03-02T09:00:00.000Z';
  const projection = toFinding('info', message('finding.schedule_projection', { waiting: 1, days: 2, finish }));
  t.is(renderFinding(projection).fix, '', 'there is nothing to do');
});

test('every sentence beside a finding belongs to one, and takes values that it has', (t) => {
  const sentences = SENTENCES.en;
  const beside = Object.keys(sentences).filter((code) => /^finding\..*\.(fix|title)$/.test(code)) as MessageCode[];
  t.true(beside.length > 100);
  for (const code of beside) {
    const finding = code.replace(/\.(fix|title)$/, '') as MessageCode;
    t.truthy(sentences[finding], code);
    // Only the messages of fixes use the value `example`.
    const given = new Set([...placesOf(sentences[finding]), 'example']);
    for (const place of placesOf(sentences[code])) t.true(given.has(place), `${code}: ${place}`);
  }
  for (const code of Object.keys(FINDINGS) as (keyof typeof FINDINGS)[])
    for (const name of ['fix', 'title'] as const)
      t.truthy(findingMessage({ code: `finding.${code}`, values: {} }, name), `${code}.${name}`);
});
