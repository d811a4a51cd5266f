import test from 'ava';
import { isHeldOut, sentences, type Sentence } from '../../../training/corpus.ts';
import { measure } from '../../../training/measure.ts';
import { seeded } from '../../../test/faults/random.ts';
import { mistyped } from '../../../training/variants.ts';
import { DOUBT, SURE } from '../inbound/intent.ts';
import { featuresOf, foldText, MAX_CHARACTERS, tokensOf } from './features.ts';
import { decodeModel, encodeModel, readText, shippedModel } from './model.ts';
import { readReply } from './read-reply.ts';

const THRESHOLDS = { sure: SURE, doubt: DOUBT };
const held = sentences().filter((sentence) => isHeldOut(sentence));

test('people whom the model has not met are heard: a floor for each figure', (t) => {
  t.true(held.length > 12_000, `${held.length}`);
  const asked = measure(shippedModel(), held, { sure: 0.7, doubt: 0.2 });
  t.true(asked.heard >= 0.93, `heard ${asked.heard}`);
  t.true(asked.suppressed >= 0.75, `suppressed ${asked.suppressed}`);
  t.true(asked.precision >= 0.92, `precision ${asked.precision}`);
  const { precision, stopped } = measure(shippedModel(), held, THRESHOLDS);
  t.true(precision >= 0.97, `precision of what is suppressed at once ${precision}`);
  t.true(stopped <= 0.01, `plain answers suppressed ${stopped}`);
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
  const alone = readReply('Bitte schreiben Sie mir nicht mehr.');
  t.is(alone.kind, 'opt_out');
  t.true(alone.words.length > 0);
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
    t.true(featuresOf(tokensOf(foldText(text))).length <= MAX_CHARACTERS * 12, text.slice(0, 4));
});

test('a model is what was stored, and one of other features is refused', (t) => {
  const model = shippedModel();
  const again = decodeModel(encodeModel(model));
  t.deepEqual(again.bias, model.bias);
  t.true(Buffer.from(again.weights).equals(Buffer.from(model.weights)));
  t.throws(() => decodeModel(encodeModel({ ...model, bits: 3 })), { message: /train-reading/ });
});
