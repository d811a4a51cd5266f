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
  ['Thanks, I have passed it on to my colleagues.', 'neutral'],
  ['', 'neutral'],
  ['What is the price?', 'question'],
  ['Who runs this?', 'question'],
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

test("a workspace's words decide before the model does, an empty list does not", (t) => {
  t.is(replyIntent('We sold the warehouse', '', { positive_keywords: ['warehouse'] }).intent, 'positive');
  t.is(replyIntent('Hell  YEAH!', '', { positive_keywords: ['hell yeah'] }).intent, 'positive');
  t.is(replyIntent('Interested', '', { negative_keywords: [] }).intent, 'positive');
  t.like(replyIntent('Please unsubscribe me.', '', { positive_keywords: ['please'] }), {
    intent: 'negative',
    unsubscribeRequest: true,
  });
});

test('keywords are text, not patterns, and blank ones match nothing', (t) => {
  t.not(replyIntent('abc', '', { positive_keywords: ['a.c', '(', ' '] }).intent, 'positive');
  t.is(replyIntent('I like C++ a lot', '', { positive_keywords: ['c++'] }).intent, 'positive');
});

test('a keyword inside a longer one of the other side counts for neither', (t) => {
  const settings = { negative_keywords: ['interested in leaving'], positive_keywords: ['interested'] };
  t.like(replyIntent('We are interested in leaving', '', settings), { intent: 'negative', confidence: 0.6 });
});

test('more keywords of one side make it surer, of the other side less', (t) => {
  const settings = { positive_keywords: ['interested', 'sounds good', "let's talk"], negative_keywords: ['not now'] };
  const sure = replyIntent("Interested, sounds good, let's talk", '', settings).confidence;
  const mixed = replyIntent("Not now. Interested, sounds good, let's talk", '', settings).confidence;
  t.true(sure > replyIntent('Interested', '', settings).confidence);
  t.true(mixed < sure);
});

for (const words of [
  'How do we opt out of the contract after a year?',
  'Interested. How many of your users unsubscribe, and do not contact you again?',
  'Können Ihre Kunden sich jederzeit abmelden?',
  'Our lawyers asked whether one can opt out of the agreement.',
]) {
  test(`${JSON.stringify(words)} speaks of opting out and asks for nothing`, (t) => {
    t.false(replyIntent(words, 'Re: Hello').unsubscribeRequest);
  });
}

test('a request beside interest, or in a long text, is heard', (t) => {
  const both = replyIntent('We would like to see a demo. By the way, how do I unsubscribe?', 'Re: Hello');
  t.true(both.unsubscribeRequest || both.unsubscribeDoubtful);
  t.true(replyIntent('Please remove me from your list.', '').unsubscribeRequest);
  const houses = 'We build houses in the north and sell them in the south. '.repeat(6);
  const long = replyIntent(`${houses}Please remove me from your list. ${houses}`, '');
  t.true(long.unsubscribeRequest || long.unsubscribeDoubtful);
});
