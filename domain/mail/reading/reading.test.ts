import test from 'ava';
import { isHeldOut, sentences, type Sentence } from '../../../training/corpus.ts';
import { measure } from '../../../training/measure.ts';
import { seeded } from '../../../test/faults/random.ts';
import { mistyped } from '../../../training/variants.ts';
import { DOUBT, SURE } from '../inbound/intent.ts';
import { featuresOf, foldText, MAX_CHARACTERS, tokensOf } from './features.ts';
import { decodeModel, encodeModel, readText, shippedModel } from './model.ts';
import { readAnswer, readReply } from './read-reply.ts';

/** Time of arrival of the messages, a Friday. */
const RECEIVED = new Date('2026-11-20T09:30:00Z');
const THRESHOLDS = { sure: SURE, doubt: DOUBT };
/**
 * Every fourth sentence of the writers who were excluded from training. `npm run bench -- reading` measures all
 * sentences.
 */
const held = sentences().filter((sentence, index) => isHeldOut(sentence) && index % 4 === 0);

test('people whom the model has not met are heard: a floor for each figure', (t) => {
  t.true(held.length > 3_000, `${held.length}`);
  const { heard, suppressed, precision, stopped } = measure(shippedModel(), held, THRESHOLDS);
  t.true(heard >= 0.95, `heard ${heard}`);
  t.true(suppressed >= 0.77, `suppressed at once ${suppressed}`);
  t.true(precision >= 0.955, `precision of what is suppressed at once ${precision}`);
  t.true(stopped <= 0.015, `plain answers suppressed ${stopped}`);
});

test('typing mistakes lose few of them', (t) => {
  const random = seeded(1);
  const damaged = held.map((sentence): Sentence => ({ ...sentence, text: mistyped(sentence.text, random) }));
  const before = measure(shippedModel(), held, THRESHOLDS);
  const after = measure(shippedModel(), damaged, THRESHOLDS);
  t.true(before.heard - after.heard <= 0.04, `${before.heard} -> ${after.heard}`);
});

test('no person of a language shares a sentence with another', (t) => {
  const seen = new Map<string, string>();
  for (const { language, person, text } of sentences()) {
    const key = `${language} ${text
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[^\p{L}\p{M}]+/gu, '')}`;
    const who = `${language}/${person}`;
    if (key.length > 24) t.is(seen.get(key) ?? who, who, text);
    seen.set(key, who);
  }
});

test('a wish in the middle of a long text is heard, and the words that decided are named', (t) => {
  const rest = 'Thank you for the documents about the warehouse. We have read them in the team last week. ';
  const read = readReply(`${rest}Please stop sending me these emails. ${rest}`);
  t.true(read.optOut >= DOUBT, `${read.optOut}`);
  const alone = readAnswer('Bitte schreiben Sie mir nicht mehr.', RECEIVED);
  t.is(alone.kind, 'opt_out');
  t.true(alone.words.length > 0);
  for (const word of alone.words) t.true('Bitte schreiben Sie mir nicht mehr.'.includes(word), word);
});

test('an answer has the details of its kind', (t) => {
  const later = readAnswer('Not now, please ask me again in two weeks.', RECEIVED);
  t.is(later.kind, 'not_now');
  t.like(later.time, { day: new Date('2026-12-04T00:00:00Z'), words: 'in two weeks' });
  const away = readAnswer(
    'I am out of the office until 3 December. Urgent matters: Jonas Weber, jonas@firm.example',
    RECEIVED,
  );
  t.is(away.kind, 'out_of_office');
  t.deepEqual(away.time?.day, new Date('2026-12-03T00:00:00Z'));
  t.is(away.person?.address, 'jonas@firm.example');
  const other = readAnswer('Please write to our buyer Maria Lopez, maria@firm.example, she decides this.', RECEIVED);
  t.is(other.kind, 'referral');
  t.like(other.person, { address: 'maria@firm.example' });
  t.regex(other.person?.name ?? '', /Maria Lopez/);
  t.is(readAnswer('I am forwarding this to my lawyer if you write again.', RECEIVED).force, 'legal');
});

test('accents, capitals and the form of letters make no difference', (t) => {
  for (const [one, other] of [
    ['Réponse: désinscrivez-moi', 'reponse: DESINSCRIVEZ-MOI'],
    ['ne m’écrivez plus', "NE M'ECRIVEZ PLUS"],
    ['Straße', 'STRASSE'],
    ['ﬁnal', 'final'],
    ['ＳＴＯＰ', 'stop'],
  ] as const)
    t.deepEqual([...readText(one).probabilities], [...readText(other).probabilities], one);
});

test('a text of any size has a bounded number of features', (t) => {
  for (const text of [
    'x'.repeat(1e6),
    'a@'.repeat(1e5),
    '删除我的邮箱'.repeat(1e5),
    "a'".repeat(1e5),
    '\u0301'.repeat(1e5),
  ])
    t.true(featuresOf(tokensOf(foldText(text))).length <= MAX_CHARACTERS * 20, text.slice(0, 4));
});

test('a model is what was stored, and one of other features is refused', (t) => {
  const model = shippedModel();
  const again = decodeModel(encodeModel(model));
  t.deepEqual(again.bias, model.bias);
  t.true(Buffer.from(again.weights).equals(Buffer.from(model.weights)));
  t.throws(() => decodeModel(encodeModel({ ...model, bits: 3 })), { message: /train-reading/ });
});
