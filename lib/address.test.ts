import test from 'ava';
import { addressKey, parseAddress, parseAddresses, shownAddress } from './address.ts';

test('an address is found in what people paste, and has one form', (t) => {
  const ada = 'ada@example.com';
  for (const written of [
    'Ada@Example.COM',
    '  ada@example.com\u00a0',
    '\u200bada@example.com',
    '\ufeffada@example.com\u200d',
    'a\u00adda@exam\u00adple.com',
    '\u2068ada@example.com\u2069',
    '\u202aada@example.com\u202c',
    '\u200eada@example.com\u200f',
    'mailto:ada@example.com',
    'MAILTO:ada%40example.com?subject=Hi',
    '<ada@example.com>',
    'Ada Lovelace <ada@example.com>',
    '"Lovelace, Ada" <ada@example.com>',
    'ada@example.com <ada@example.com>',
    '<mailto:ada@example.com|ada@example.com>',
    'ada@example.com,',
    'ada@example.com;',
    'ada@example.com.',
    '"ada@example.com"',
    "'ada@example.com'",
    "'ada@example.com",
    '‘ada@example.com’',
    'ada@example.com>',
    '[ada@example.com](mailto:ada@example.com)',
    '"Ada" <ada@example.com>;',
    '“ada@example.com”',
    '(ada@example.com)',
    '<ada@example.com>,',
    'ada＠example.com',
    'ada﹫example.com',
    'ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ',
    'ada@example.com\0',
  ])
    t.is(parseAddress(written), ada, JSON.stringify(written));
});

test('a domain is compared in A-labels, and shown in letters', (t) => {
  for (const written of [
    'info@müller.example',
    'INFO@MÜLLER.example',
    'info@mu\u0308ller.example',
    'info@xn--mller-kva.example',
    'info@müller。example',
  ])
    t.is(parseAddress(written), 'info@xn--mller-kva.example', written);
  t.is(parseAddress('info@faß.example'), 'info@xn--fa-hia.example');
  t.is(shownAddress('info@xn--mller-kva.example'), 'info@müller.example');
  t.is(shownAddress('info@example.com'), 'info@example.com');
  t.is(shownAddress('xn--mller-kva.example'), 'müller.example');
});

test('text that is no single address is none', (t) => {
  for (const written of [
    '',
    '@',
    'ada',
    'ada@',
    '@example.com',
    'ada@localhost',
    'a b@example.com',
    'ada@@example.com',
    'ada..b@example.com',
    'jörg@example.com',
    'ada(at)example.com',
    'a@example.com, b@example.com',
    'a@example.com b@example.com',
    'A <a@example.com>, B <b@example.com>',
    'b@example.com <a@example.com>',
    '[b@example.com](mailto:a@example.com)',
    `${'x'.repeat(3_000)}@example.com`,
  ])
    t.is(parseAddress(written), null, written);
  t.is(addressKey(' Not One '), 'not one');
});

test('several addresses of one cell are told apart, and nothing else is read into a text', (t) => {
  const both = ['a@example.com', 'b@example.com'];
  for (const written of [
    'a@example.com; b@example.com',
    'a@example.com,b@example.com,',
    'a@example.com b@example.com',
    'a@example.com\nb@example.com',
    'a@example.com ::: b@example.com',
    'a@example.com | B@example.com',
    'a@example.com / b@example.com',
    'A <a@example.com>, B <b@example.com>',
    'a@example.com; a@example.com; b@example.com',
  ])
    t.deepEqual(parseAddresses(written), both, written);
  t.deepEqual(parseAddresses('call a@example.com'), []);
  t.deepEqual(parseAddresses('a b@example.com'), []);
});
