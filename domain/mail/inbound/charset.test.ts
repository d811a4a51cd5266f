import test from 'ava';
import { loadTextReader } from './charset.ts';
import { unflowed } from './flowed.ts';
import { parseInbound } from './parse.ts';

/** Texts with an opt-out request, by their charset. */
const TEXTS: Readonly<Record<string, { text: string; base64: string }>> = {
  'windows-1252': {
    text: 'Löschen Sie bitte meine Adresse – Grüße',
    base64: 'TPZzY2hlbiBTaWUgYml0dGUgbWVpbmUgQWRyZXNzZSCWIEdy/N9l',
  },
  'iso-8859-2': {
    text: 'Proszę mnie usunąć z listy, dziękuję',
    base64: 'UHJvc3rqIG1uaWUgdXN1brHmIHogbGlzdHksIGR6aeprdWrq',
  },
  'windows-1250': {
    text: 'Prosím, odhlaste mě z odběru, už mi nepište',
    base64: 'UHJvc+1tLCBvZGhsYXN0ZSBt7CB6IG9kYuxydSwgdZ4gbWkgbmVwaZp0ZQ==',
  },
  'windows-1251': { text: 'Больше не пишите мне', base64: 'we7r/PjlIO3lIO/o+Ojy5SDs7eU=' },
  'koi8-r': { text: 'Больше не пишите мне', base64: '4s/M2NvFIM7FINDJ28nUxSDNzsU=' },
  'windows-1253': {
    text: 'Παρακαλώ διαγράψτε με από τη λίστα',
    base64: '0OHx4erh6/4g5Onh4/Hc+PTlIOzlIOHw/CD05yDr3/P04Q==',
  },
  'windows-1254': {
    text: 'Lütfen beni listeden çıkarın, teşekkürler',
    base64: 'TPx0ZmVuIGJlbmkgbGlzdGVkZW4g5/1rYXL9biwgdGX+ZWtr/HJsZXI=',
  },
  'windows-1255': { text: 'נא להסיר אותי מרשימת התפוצה', base64: '8OAg7OTx6fgg4OX66SDu+Pnp7vog5Pr05fbk' },
  'windows-1256': { text: 'يرجى إزالة عنواني من القائمة', base64: '7dHM7CDF0sfhySDa5ObH5O0g4+Qgx+Hex8bjyQ==' },
  'windows-874': { text: 'กรุณาลบอีเมลของฉันออกจากรายชื่อ', base64: 'ocPYs9LFus3V4MHFos2nqdG5zc2hqNKhw9LCqtfozQ==' },
  shift_jis: { text: '配信停止をお願いします。', base64: 'lHqQTZLijn6C8IKoiuiCooK1gtyCt4FC' },
  'euc-jp': { text: '配信停止をお願いします。', base64: 'x9u/rsTku9+k8qSqtOqkpKS3pN6kuaGj' },
  gb18030: { text: '请把我从列表中删除，谢谢。', base64: 'x+uw0c7StNPB0LHt1tDJvrP9o6zQu9C7oaM=' },
  big5: { text: '請把我從名單中移除，謝謝。', base64: 'vdCn4qfasXGmV7PmpKSyvrCjoUHBwsHCoUM=' },
  'euc-kr': { text: '더 이상 메일을 보내지 마세요', base64: 'tPUgwMy78yC43sDPwLsgurizu8H2ILi2vLy/5A==' },
};

for (const [charset, { text, base64 }] of Object.entries(TEXTS)) {
  const bytes = Buffer.from(base64, 'base64');

  test(`${charset}: read without a label, under its own, under a wrong one, and UTF-8 under its label`, async (t) => {
    const read = await loadTextReader();
    t.is(read(bytes), text);
    t.is(read(bytes, [charset]), text);
    t.is(read(bytes, ['utf-8']), text);
    t.is(read(bytes, ['us-ascii']), text);
    t.is(read(bytes, ['x-nobody-knows']), text);
    t.is(read(Buffer.from(text), [charset]), text);
  });
}

for (const charset of [
  'windows-1251',
  'koi8-r',
  'windows-1253',
  'windows-1255',
  'windows-1256',
  'shift_jis',
  'gb18030',
  'euc-kr',
])
  test(`${charset}: read under a label of ISO-8859-1`, async (t) => {
    const { text, base64 } = TEXTS[charset]!;
    t.is((await loadTextReader())(Buffer.from(base64, 'base64'), ['iso-8859-1']), text);
  });

test('charsets of seven bits, by their escapes', async (t) => {
  const read = await loadTextReader();
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  t.is(read(bytes('\u001b$B;qNA\u001b(B')), '資料');
  t.is(read(bytes('\u001b$)C\u000e<v=E0E:N\u000f please'), ['iso-2022-kr']), '수신거부 please');
  t.is(read(bytes('~{GkMK6)~} now')), '请退订 now');
  t.is(read(bytes('f+APw-r M+AOQ-rz'), ['utf-7']), 'für März');
  t.is(read(bytes('f+APw-r M+AOQ-rz')), 'f+APw-r M+AOQ-rz');
});

test('what is mostly UTF-8 stays UTF-8: cut in a character, or with a footer of a gateway', async (t) => {
  const read = await loadTextReader();
  const whole = Buffer.from('Grüße aus Köln. Bitte löschen ü');
  t.is(read(whole.subarray(0, -1), ['utf-8']), 'Grüße aus Köln. Bitte löschen ');
  const footer = Buffer.from('Geprüft\n', 'latin1');
  t.is(read(Buffer.concat([Buffer.from('Grüße\nBitte löschen\n'), footer])), 'Grüße\nBitte löschen\nGeprüft\n');
});

test('a text of one line in UTF-8 with bytes of another charset', async (t) => {
  const read = await loadTextReader();
  const bytes = Buffer.concat([Buffer.from('Größere Mengen, bitte '), Buffer.from([0xe4]), Buffer.from(' Grüße')]);
  t.is(read(bytes, ['utf-8']), 'Größere Mengen, bitte ä Grüße');
});

test('letters that an older part of a charset lacks, separate accents, and Czech under a Western label', async (t) => {
  const read = await loadTextReader();
  const bytes = (text: string) => Buffer.from(text, 'base64');
  t.is(read(bytes('jGO55rCi')), '똠방각');
  t.is(read(bytes('jGO55rCi'), ['ks_c_5601-1987']), '똠방각');
  t.is(read(bytes('+dj+0w=='), ['big5-hkscs']), '裏着');
  t.is(read(bytes('bG/Mbmc='), ['windows-1258']), 'lòng');
  t.is(read(bytes(TEXTS['windows-1250']!.base64), ['windows-1252']), TEXTS['windows-1250']!.text);
});

test('UTF-16 in either order, marked or not', async (t) => {
  const read = await loadTextReader();
  const little = Buffer.from('Sounds good', 'utf16le');
  const big = Buffer.from(little).swap16();
  t.is(read(little, ['utf-16le']), 'Sounds good');
  t.is(read(big, ['utf-16']), 'Sounds good');
  t.is(read(Buffer.concat([Buffer.from([0xfe, 0xff]), big]), ['utf-8']), 'Sounds good');
});

const message = (head: string | Buffer, body: string | Buffer = 'x') =>
  parseInbound(Buffer.concat([Buffer.from(head as string), Buffer.from('\r\n\r\n'), Buffer.from(body as string)]));

test('headers: raw bytes by the charset of the text, encoded words by their bytes, also cut in a character', async (t) => {
  const raw = Buffer.concat([
    Buffer.from('Subject: '),
    Buffer.from(TEXTS['windows-1251']!.base64, 'base64'),
    Buffer.from('\r\nContent-Type: text/plain; charset=windows-1251'),
  ]);
  t.is((await message(raw)).subject, TEXTS['windows-1251']!.text);
  const split = 'Subject: =?gbk?B?x+uw0c7StNPB0LHt1tDJvrP9o6zQu9C7oQ==?=\r\n =?GBK?B?ow==?=';
  t.is((await message(split)).subject, TEXTS.gb18030!.text);
  t.is((await message('Subject: =?utf-8?Q?d=E9sinscrire?=')).subject, 'désinscrire');
  const japanese = 'Subject: =?ISO-2022-JP?B?GyRCJCpMZCQkGyhC?=\r\n =?ISO-2022-JP?B?GyRCOWckbyQ7GyhC?=';
  t.is((await message(japanese)).subject, 'お問い合わせ');
  t.is((await message('From: =?iso-8859-1?Q?M=FCller=2C_Jan?= <jan@x.example>')).fromName, 'Müller, Jan');
});

test('the charset of an HTML head counts where no header has one', async (t) => {
  const html = Buffer.concat([
    Buffer.from('<html><head><meta http-equiv="Content-Type" content="text/html; charset=koi8-r"></head><body>'),
    Buffer.from(TEXTS['koi8-r']!.base64, 'base64'),
    Buffer.from('</body></html>'),
  ]);
  t.is((await message('Content-Type: text/html', html)).text, TEXTS['koi8-r']!.text);
});

test('addresses have one form: ASCII domains, in every header', async (t) => {
  const parsed = await message('From: Dana <Dana@B\u00fccher.example>\r\nTo: sam@sender.example., X <x@EXAMPLE.com>');
  t.is(parsed.from, 'dana@xn--bcher-kva.example');
  t.deepEqual(parsed.to, ['sam@sender.example', 'x@example.com']);
});

test('format=flowed: lines are joined where they are quoted equally deep', (t) => {
  const text = '> Which day \n> suits you? \nThursday \nat ten.\n -- not a signature\n-- \nDana';
  t.is(unflowed(text, false), '> Which day suits you? \nThursday at ten.\n-- not a signature\n-- \nDana');
  t.is(unflowed('Donners \ntag', true), 'Donnerstag');
});
