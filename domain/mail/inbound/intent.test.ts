import test from 'ava';
import { replyIntent } from './intent.ts';
import type { ReplyIntent } from './intent.ts';

const CASES: readonly (readonly [string, ReplyIntent])[] = [
  ["Yes, I'm interested.", 'positive'],
  ['Interested, can you send pricing?', 'positive'],
  ['Sounds good, let’s talk.', 'positive'],
  ['Wir sind sehr interessiert, rufen Sie mich an.', 'positive'],
  ['Je suis intéressée', 'positive'],
  ['Not interested.', 'negative'],
  ["I'm not really that interested", 'negative'],
  ["We aren't interested", 'negative'],
  ['No thanks', 'negative'],
  ['Wir haben keinen Bedarf.', 'negative'],
  ['Je ne suis pas du tout intéressé', 'negative'],
  ['No estamos interesados, gracias', 'negative'],
  ['Nie jestem zainteresowany', 'negative'],
  ['Köszönöm, nem érdekel', 'negative'],
  ['uninterested', 'neutral'],
  ['The demolition is done', 'neutral'],
  ['We sold the warehouse', 'neutral'],
  ['', 'neutral'],
  ['What is the price?', 'question'],
  ['Who runs this?', 'question'],
  ['See https://example.com/?a=b', 'neutral'],
  ["I'm on vacation", 'out_of_office'],
  ["I'm on vacation but very interested", 'positive'],
  ['Not now. But I am interested, send me details, it sounds great', 'positive'],
  ['Interested, but not now', 'negative'],
];

for (const [words, expected] of CASES) {
  test(`${JSON.stringify(words)} is ${expected}`, (t) => {
    const verdict = replyIntent(words, 'Re: Hello');
    t.is(verdict.intent, expected);
    t.false(verdict.unsubscribeRequest);
    t.true(verdict.confidence > 0 && verdict.confidence <= 1);
  });
}

const LEAVING: readonly (readonly [string, boolean])[] = [
  ['Please unsubscribe me.', true],
  ['REMOVE ME FROM YOUR LIST', true],
  ['Stop emailing me!', true],
  ['Stop.', true],
  ['stop please', true],
  ["Don't contact me again", true],
  ['How do I unsubscribe?', true],
  ['I did not ask for this, unsubscribe', true],
  ['Bitte aus dem Verteiler nehmen', true],
  ['Merci de me désinscrire', true],
  ['Proszę wypisz mnie', true],
  ["I don't want to unsubscribe", false],
  ['Please do not remove me', false],
  ['We stop at the warehouse', false],
  ['unsubscribed customers are a problem of ours', false],
];

for (const [words, expected] of LEAVING) {
  test(`${JSON.stringify(words)} ${expected ? 'asks' : "doesn't ask"} to be left out`, (t) => {
    const verdict = replyIntent(words, 'Re: Hello');
    t.is(verdict.unsubscribeRequest, expected);
    if (expected) t.is(verdict.intent, 'negative');
  });
}

test('the bare subject "unsubscribe" asks too', (t) => {
  t.true(replyIntent('', ' Unsubscribe ').unsubscribeRequest);
  t.false(replyIntent('', 'Re: how to unsubscribe fewer people').unsubscribeRequest);
});

test("a workspace's list replaces the built-in one, an empty list doesn't", (t) => {
  t.is(replyIntent('Interested', '', { positive_keywords: ['hell yeah'] }).intent, 'neutral');
  t.is(replyIntent('Hell  YEAH!', '', { positive_keywords: ['hell yeah'] }).intent, 'positive');
  t.is(replyIntent('Interested', '', { positive_keywords: [] }).intent, 'positive');
});

test('keywords are text, not patterns, and blank ones match nothing', (t) => {
  t.is(replyIntent('abc', '', { positive_keywords: ['a.c', '(', ' '] }).intent, 'neutral');
  t.is(replyIntent('I like C++ a lot', '', { positive_keywords: ['c++'] }).intent, 'positive');
});

test('a keyword inside a longer one of the other side counts for neither', (t) => {
  const settings = { negative_keywords: ['interested in leaving'], positive_keywords: ['interested'] };
  t.like(replyIntent('We are interested in leaving', '', settings), { intent: 'negative', confidence: 0.6 });
});

test('more keywords of one side make it surer, of the other side less', (t) => {
  const sure = replyIntent("Interested, sounds good, let's talk", '').confidence;
  const mixed = replyIntent("Not now. Interested, sounds good, let's talk", '').confidence;
  t.true(sure > replyIntent('Interested', '').confidence);
  t.true(mixed < sure);
});

for (const words of [
  'How do we opt out of the contract after a year?',
  'Interested. How many of your users unsubscribe, and do not contact you again?',
  'We would like to see a demo. By the way, how do I unsubscribe?',
  'Können Ihre Kunden sich jederzeit abmelden?',
  'Our lawyers asked whether one can opt out of the agreement.',
]) {
  test(`${JSON.stringify(words)} may ask to be left out: for a person to read, never decided`, (t) => {
    t.like(replyIntent(words, 'Re: Hello'), { unsubscribeRequest: false, unsubscribeDoubtful: true });
  });
}

test('a request drowned in a long text is doubtful, alone it is one', (t) => {
  t.true(replyIntent('Please remove me from your list.', '').unsubscribeRequest);
  const long = `${'We build houses in the north and sell them in the south. '.repeat(12)}To unsubscribe write to us.`;
  t.like(replyIntent(long, ''), { unsubscribeRequest: false, unsubscribeDoubtful: true });
});
