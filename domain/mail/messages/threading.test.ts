import test from 'ava';
import { buildFooter, UNSUBSCRIBE_DEFAULTS } from './footer.ts';
import { defaultThreadReply, messageIdFor, threadMessage } from './threading.ts';

test("a Message-ID is made of the send and the sender's domain", (t) => {
  t.is(messageIdFor('0189-ab', 'ada@Example.com'), '<0189-ab@example.com>');
  t.is(messageIdFor('a>\r\nb', 'ada@bücher.example'), '<ab@xn--bcher-kva.example>');
  t.throws(() => messageIdFor('a', 'no address@'), { instanceOf: TypeError });
});

test("a step with no subject, or the conversation's, replies by default", (t) => {
  t.true(defaultThreadReply('', 'Hello'));
  t.true(defaultThreadReply(null, 'Hello'));
  t.true(defaultThreadReply(' Hello ', 'Hello'));
  t.true(defaultThreadReply('RE: Hello', 'Hello'));
  t.false(defaultThreadReply('Hello again', 'Hello'));
});

test('a reply names its predecessors and carries one Re:', (t) => {
  const ids = ['<1@x>', '<2@x>'];
  t.deepEqual(
    threadMessage({
      threadReply: true,
      subject: 'other',
      messageId: '<3@x>',
      conversation: { subject: 'Re: re:Hello', messageIds: ids },
    }),
    {
      subject: 'Re: Hello',
      inReplyTo: '<2@x>',
      references: ids,
      conversation: { subject: 'Hello', messageIds: ['<1@x>', '<2@x>', '<3@x>'] },
    },
  );
});

test('without threading, or with nothing to reply to, a conversation starts', (t) => {
  const fresh = { subject: 'Own', conversation: { subject: 'Own', messageIds: ['<9@x>'] } };
  t.deepEqual(
    threadMessage({
      threadReply: true,
      subject: 'Own',
      messageId: '<9@x>',
      conversation: { subject: '', messageIds: [] },
    }),
    fresh,
  );
  t.deepEqual(
    threadMessage({
      threadReply: false,
      subject: 'Own',
      messageId: '<9@x>',
      conversation: { subject: 'Old', messageIds: ['<1@x>'] },
    }),
    fresh,
  );
});

test('a long conversation keeps its first and latest references', (t) => {
  const messageIds = Array.from({ length: 50 }, (_, index) => `<${index}@x>`);
  const { references } = threadMessage({
    threadReply: true,
    subject: '',
    messageId: '<n@x>',
    conversation: { subject: 'S', messageIds },
  });
  t.is(references?.length, 20);
  t.is(references?.[0], '<0@x>');
  t.is(references?.at(-1), '<49@x>');
});

test('the footer in its three modes, blank copy falling back', (t) => {
  const url = 'https://t.example/u?a=1&b=2';
  t.deepEqual(buildFooter({ mode: 'off' }, url), { text: '', html: '' });
  t.is(buildFooter({}, url).text, UNSUBSCRIBE_DEFAULTS.text);
  t.is(buildFooter({ text: ' \n ' }, url).text, UNSUBSCRIBE_DEFAULTS.text);
  const link = buildFooter({ mode: 'link', link_intro: 'No <more>\nplease?', link_text: 'Out & away' }, url);
  t.is(link.text, `No <more> please? Out & away: ${url}`);
  t.true(link.html.includes('No &lt;more&gt; please? <a href="https://t.example/u?a=1&amp;b=2">Out &amp; away</a>'));
  t.is(buildFooter({ text: 'x'.repeat(400) }, url).text.length, 300);
});
