import { readdir, readFile, rm, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import iconv from 'iconv-lite';
import { render } from '../../../messages/render.ts';
import { xlsxOf, zipOf } from '../../../test/harness/zip.ts';
import { inspectFile, type Inspected, type Outcome, type ReadingChoices } from './inspect.ts';

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url));

let folder: string;
let files = 0;
test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heron-files-'));
});
test.after.always(() => rm(folder, { recursive: true, force: true }));

type Read = Inspected & { outcome: Outcome };

async function answer(bytes: string | Buffer, choices: ReadingChoices = {}) {
  const path = join(folder, `${(files += 1)}`);
  await writeFile(path, bytes);
  return inspectFile({ path, choices, preview: {} });
}

async function read(bytes: string | Buffer, choices: ReadingChoices = {}): Promise<Read> {
  const found = await answer(bytes, choices);
  if ('refused' in found) throw new Error(render(found.refused.message));
  return found.inspected as Read;
}

const fixture = (name: string) => readFile(join(FIXTURES, name));
const targets = ({ suggestedMapping }: Inspected) => suggestedMapping.map(({ target }) => target);
const people = ({ outcome }: Read) => outcome.stored.flatMap(({ person }) => person ?? []);
const drafts = (file: Read) => people(file).map(({ draft }) => draft);
const reasons = ({ outcome }: Read) => outcome.problems.map(({ reason, rows, firstLine }) => [reason, rows, firstLine]);

test('a byte order mark, semicolons, line ends of a Mac, and numbers come through as written', async (t) => {
  t.like(drafts(await read(await fixture('bom.csv')))[0], { email: 'bom@example.com', firstName: 'Ada' });
  const semicolons = drafts(await read(await fixture('semicolon.csv')))[0];
  t.deepEqual([semicolons?.firstName, semicolons?.customFields], ['Änne', { umsatz: '1.234,50' }]);
  const mac = await read(await fixture('cr-only-quoted-newline.csv'));
  t.is(mac.rows, 2);
  t.is(drafts(mac)[0]?.customFields.note, 'line one\nline "two"; three');
  const numbers = drafts(await read(await fixture('numbers.csv')))[0];
  t.is(numbers?.phone, '+491512345678');
  t.deepEqual(numbers?.customFields, { postcode: '01067', employee_id: '12345678901234567890', born: '44927' });
});

test('one wrong byte costs its own row, and the file stays UTF-8', async (t) => {
  const file = await read(await fixture('one-bad-byte.csv'));
  t.is(file.encoding, 'utf-8');
  t.true(file.confidence > 0.5 && file.confidence < 1);
  t.deepEqual(
    drafts(file).map(({ firstName, company }) => [firstName, company]),
    [
      ['José', 'Müller GmbH'],
      ['Łukasz', 'Żabka'],
    ],
  );
  t.deepEqual(reasons(file), [['broken_characters', 1, 3]]);
});

test("Excel's separator line is a directive, whatever it names", async (t) => {
  t.deepEqual(
    drafts(await read(await fixture('sep-line.csv'))).map(({ firstName, customFields }) => [
      firstName,
      customFields.city,
    ]),
    [
      ['Ada', 'Oslo'],
      ['Bo', 'Bergen'],
    ],
  );
  for (const delimiter of [';', ',', '\t', '|', '^']) {
    const file = await read(`sep=${delimiter}\r\nEmail${delimiter}First name\r\nada@example.com${delimiter}Ada\r\n`);
    t.deepEqual([file.delimiter, file.hasHeader, drafts(file)[0]?.firstName], [delimiter, true, 'Ada']);
  }
});

test('headers of one name, and headers alike in their first 64 characters, are kept apart', async (t) => {
  const file = await read(await fixture('duplicate-headers.csv'));
  t.true(file.hasHeader);
  t.deepEqual(targets(file), ['email', 'first_name', 'phone', 'custom:phone']);
  const long = 'Which of these would you like to hear more about in our next letter to you';
  const twins = await read(`email,${long} (first),${long} (second)\na@example.com,x,y\n`);
  const [, one, two] = targets(twins);
  t.not(one, two);
  t.true(one!.length <= 71 && two!.length <= 71);
  t.deepEqual(Object.values(drafts(twins)[0]!.customFields), ['x', 'y']);
  t.deepEqual(targets(await read('email,note,Note,NOTE\na@example.com,1,2,3\n')), [
    'email',
    'custom:note',
    'custom:note_2',
    'custom:note_3',
  ]);
  t.deepEqual(targets(await read(await fixture('similar-headers.csv'))), [
    'email',
    'custom:email_2',
    'phone',
    'custom:mobile_phone',
    'custom:mobile',
    'company',
    'custom:company',
  ]);
});

test('of two hundred columns a hundred become fields, and the others are shown as ignored', async (t) => {
  const mapped = targets(await read(await fixture('200-columns.csv')));
  t.is(mapped.filter((target) => target.startsWith('custom:')).length, 100);
  t.is(mapped.filter((target) => target === 'ignore').length, mapped.length - 101);
});

test('a cell of five megabytes costs its row', async (t) => {
  const file = await read(`email,first_name,note\nbig@example.com,Ada,"${'x'.repeat(5e6)}"\nbig2@example.com,Bo,ok`);
  t.deepEqual(reasons(file), [['malformed_row', 1, 2]]);
  t.like(drafts(file)[0], { email: 'big2@example.com', firstName: 'Bo' });
});

test('a row whose cells have moved is reported; blank cells at the end are usual', async (t) => {
  for (const [name, expected] of [
    ['ragged-1.csv', 'too_many_cells'],
    ['ragged-2.csv', 'too_many_cells'],
    ['ragged-4.csv', 'too_many_cells'],
    ['ragged-6.csv', 'too_many_cells'],
  ] as const)
    t.deepEqual(reasons(await read(await fixture(name))), [[expected, 1, 2]], name);
  // Accepts a space before the quote that opens a cell.
  t.like(drafts(await read(await fixture('ragged-3.csv')))[0], { firstName: 'Ada', company: 'Acme, Inc.' });
  t.like(drafts(await read(await fixture('ragged-5.csv')))[0], { firstName: 'Ada', company: '' });
  t.is(drafts(await read('email,first_name\na@example.com,Ada,,\nb@example.com,Bo, \nc@example.com, Cy,\n')).length, 3);
  t.deepEqual(
    reasons(await read('email,company,first_name,phone\na@example.com,Acme, Inc.,Ada,\nb@example.com,Beta,Bo,1\n')),
    [['too_many_cells', 1, 2]],
    'the surplus cell is blank, the company is not',
  );
  t.like(drafts(await read('email,company\na@example.com,"Acme, Inc." \n'))[0], { company: 'Acme, Inc.' });
});

test('NUL characters, wide encodings and header rows of nothing are read, and no half of a character is stored', async (t) => {
  for (const name of ['utf-32le.csv', 'utf-32be.csv']) {
    const file = await read(await fixture(name));
    t.is(file.encoding, name.slice(0, 8));
    t.is(drafts(file)[0]?.firstName, 'Ada');
  }
  t.deepEqual(targets(await read(await fixture('nul-in-a-header.csv'))), ['email', 'custom:name']);
  t.is(drafts(await read(await fixture('header-of-blanks-and-nul.csv'))).length, 1);
  t.is(drafts(await read('email,first_name\na@example.com,A\0da\n'))[0]?.firstName, 'Ada');
  const halved = Buffer.from('\ufeffemail,na\ud83dme\na@example.com,x\n', 'utf16le');
  t.notRegex(JSON.stringify((await read(halved)).columns), /\\ud83d/i);
  t.is(
    (await read(Buffer.concat([Buffer.from('\ufeffemail\na@example.com\n', 'utf16le'), Buffer.from([0x61])]))).encoding,
    'utf-16le',
  );
});

test('addresses are cleaned, and domains with umlauts have one form', async (t) => {
  const file = await read(await fixture('invisible-characters.csv'));
  t.deepEqual(
    drafts(file).map(({ email }) => email),
    ['zw', 'zn', 'zb', 'zm', 'ze', 'zd'].map((name) => `${name}@example.com`),
  );
  const umlauts = await read(await fixture('idn-addresses.csv'));
  t.deepEqual(
    drafts(umlauts).map(({ email }) => email),
    ['ida@xn--mller-kva.example', 'idp@xn--mller-kva.example'],
  );
  t.deepEqual(reasons(umlauts), [['invalid_email', 1, 3]]);
  const several = await read('email\n"a@example.com; b@example.com"\n');
  t.deepEqual(drafts(several)[0], {
    ...drafts(several)[0]!,
    email: 'a@example.com',
    customFields: { other_emails: 'b@example.com' },
  });
});

test('no value that forbids mail is read as yes, and one that is not understood is reported', async (t) => {
  const file = await read(await fixture('opt-out-values.csv'));
  t.is(drafts(file).filter(({ subscribed }) => subscribed).length, 0);
  t.is(file.outcome.unsubscribed, 15);
  const unclear = await read('email,subscribed\na@example.com,yes\nb@example.com,ask Bo\n');
  t.deepEqual(
    drafts(unclear).map(({ subscribed }) => subscribed),
    [true, false],
  );
  t.deepEqual(reasons(unclear), [['unclear_permission', 1, 3]]);
  for (const header of ['Email Opt Out', 'Unsubscribed', 'Do Not Email', 'DNC', 'Abgemeldet', '配信停止']) {
    const opted = await read(`Email,${header}\na@example.com,1\nb@example.com,\nc@example.com,0\n`);
    t.deepEqual(targets(opted), ['email', 'unsubscribed'], header);
    t.deepEqual(
      drafts(opted).map(({ subscribed }) => subscribed),
      [false, true, true],
      header,
    );
  }
  const states = await read(
    'Email,Lead Status\na@example.com,Unsubscribed\nb@example.com,Bounced\nc@example.com,Interested\n',
  );
  t.deepEqual(
    people(states).map(({ draft, optOut }) => [
      draft.subscribed,
      optOut?.state ?? null,
      draft.customFields.lead_status,
    ]),
    [
      [false, 'opted_out', 'Unsubscribed'],
      [false, 'bounced', 'Bounced'],
      [true, null, 'Interested'],
    ],
  );
});

test('the address column is found by its name in any language, and by its content', async (t) => {
  for (const header of [
    'E-Mail-Adresse,Vorname,Firma',
    'Adresse e-mail,Prénom,Société',
    'Correo electrónico,Nombre,Empresa',
    'Indirizzo e-mail,Nome,Azienda',
    'E-mail 1 - Value,Given Name,Organization 1 - Name',
    'メールアドレス,名,会社',
    'Email Address (Work),First Name,Company',
    'Person - Email - Work,First name,Organization Name',
    'Адрес электронной почты,Имя,Компания',
    'البريد الإلكتروني,الاسم الأول,الشركة',
    '电子邮件,名字,公司',
    'Sähköposti,Etunimi,Yritys',
    'E-mailová adresa,Jméno,Společnost',
    'E-posta,Ad,Şirket',
    '이메일,이름,회사',
    'อีเมล,ชื่อ,บริษัท',
  ])
    t.deepEqual(targets(await read(`${header}\na@example.com,Ada,Acme\n`)), ['email', 'first_name', 'company'], header);
  t.deepEqual(targets(await read(await fixture('german-headers.csv'))), ['email', 'first_name', 'company']);
  t.deepEqual(targets(await read(await fixture('non-latin-headers.csv'))), ['email', 'first_name', 'company']);
  t.deepEqual(targets(await read('Kto,Kontakt\nAda,a@example.com\n')), ['custom:kto', 'email']);
  const owners = await read(
    `Contact owner,Person\n${Array.from({ length: 6 }, (_, n) => `boss@ours.example,p${n}@example.com`).join('\n')}\n`,
  );
  t.deepEqual(targets(owners), ['custom:contact_owner', 'email'], "a colleague's address is nobody's");
  t.deepEqual(targets(await read('Email,E-mail 1 - Value\n,a@example.com\n')).indexOf('email'), 1, 'blank column');
});

test('lines of a title above the header are found, and can be named', async (t) => {
  const bytes = await fixture('preamble.csv');
  const file = await read(bytes);
  t.deepEqual([file.skipRows, file.hasHeader, file.columns], [3, true, ['Email', 'First Name', 'Company']]);
  t.deepEqual(
    drafts(file).map(({ firstName, company }) => [firstName, company]),
    [
      ['Ada', 'Acme'],
      ['Bo', 'Beta'],
    ],
  );
  t.is((await read(bytes, { skipRows: 3 })).rows, 2);
  t.deepEqual((await read('Our people;;\n\nE-Mail;Vorname;Ort\na@example.com;Ada;Wien\n')).columns, [
    'E-Mail',
    'Vorname',
    'Ort',
  ]);
  const bare = await read('Liste\na@example.com,Ada\nb@example.com,Bo\n', { skipRows: 1 });
  t.deepEqual([bare.hasHeader, bare.rows], [false, 2]);
  t.deepEqual(
    (await read('email,name\n,Nobody\na@example.com,Ada\n')).columns,
    ['email', 'name'],
    'a row without address is no header',
  );
});

const WRITTEN: readonly (readonly [encoding: string, text: string])[] = [
  [
    'windows-1252',
    'email,first_name,company\na@example.de,Jürgen,Müller & Söhne\nb@example.de,Änne,Straße\nc@example.fr,Chloé,Société Générale\n',
  ],
  [
    'windows-1250',
    'email,first_name,company\na@example.pl,Łukasz,Żabka\nb@example.pl,Małgorzata,Spółdzielnia\nc@example.pl,Paweł,Wiśniewski\n',
  ],
  ['windows-1251', 'email,first_name,company\na@example.ru,Юлия,Ромашка\nb@example.ru,Дмитрий,Северный берег\n'],
  ['koi8-r', 'email,first_name,company\na@example.ru,Юлия,Ромашка\nb@example.ru,Дмитрий,Северный берег\n'],
  ['windows-1253', 'email,first_name,company\na@example.gr,Δημήτρης,Ελληνική Εταιρεία\nb@example.gr,Ελένη,Νικολάου\n'],
  [
    'windows-1254',
    'email,first_name,company\na@example.com.tr,Işıl,Şahin İnşaat\nb@example.com.tr,Çağrı,Yılmaz\nc@example.com.tr,Gülşah,Öğüt\n',
  ],
  ['windows-1255', 'email,first_name,company\na@example.co.il,דוד,חברה לישראל\nb@example.co.il,שרה,לוי\n'],
  ['windows-1256', 'email,first_name,company\na@example.ae,محمد,شركة النور\nb@example.sa,فاطمة,العلي\n'],
  ['shift_jis', 'email,first_name,company\na@example.co.jp,さくら,株式会社みらい\nb@example.co.jp,太郎,田中商事\n'],
  ['euc-jp', 'email,first_name,company\na@example.co.jp,さくら,株式会社みらい\nb@example.co.jp,太郎,ヤマダ電機\n'],
  ['gb18030', 'email,first_name,company\na@example.cn,王伟,北京科技有限公司\nb@example.cn,李娜,上海贸易公司\n'],
  ['big5', 'email,first_name,company\na@example.tw,王大明,台北科技公司\nb@example.tw,陳小美,高雄貿易\n'],
  ['euc-kr', 'email,first_name,company\na@example.kr,민준,서울상사\nb@example.kr,서연,한국무역\n'],
  ['windows-874', 'email,first_name,company\na@example.co.th,สมชาย,บริษัทไทย\nb@example.co.th,สุดา,กรุงเทพ\n'],
];

test('older encodings are detected with a confidence, or taken as named', async (t) => {
  for (const [encoding, text] of WRITTEN) {
    const bytes = iconv.encode(text, encoding);
    const file = await read(bytes);
    t.is(file.encoding, encoding);
    t.true(file.confidence > 0 && file.confidence < 1);
    t.is(drafts(file)[0]?.firstName, text.split('\n')[1]!.split(',')[1]);
    t.like(await read(bytes, { encoding }), { encoding, confidence: 1 });
  }
  const file = await read(await fixture('shift-jis.csv'));
  t.deepEqual([file.encoding, drafts(file)[0]?.firstName], ['shift_jis', '山田']);
});

test('a file that is no table is refused by its name', async (t) => {
  const named = async (bytes: string | Buffer) => {
    const found = await answer(bytes);
    return 'refused' in found ? render(found.refused.message) : `read as ${found.inspected.format}`;
  };
  t.regex(await named(await fixture('not-a-table.pdf')), /PDF/);
  t.regex(await named(Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0])), /\.xls/);
  t.regex(await named(zipOf({ 'word/document.xml': '<w/>' })), /Word/);
  t.regex(await named(zipOf({ 'readme.txt': 'hello' })), /ZIP/);
  t.regex(await named('<!DOCTYPE html><html><table><tr><td>a@example.com'), /HTML/);
  t.regex(await named('<?xml version="1.0"?><a/>'), /XML/);
  t.regex(await named('[{"email": "a@example.com"}]'), /JSON/);
  t.regex(await named('BEGIN:VCARD\nVERSION:3.0\nEMAIL:a@example.com'), /vCard/);
  t.regex(await named(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a])), /PNG/);
  t.regex(await named(Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 7) % 32))), /without text/);
  t.regex(await named('PK\u0003\u0004 broken'), /damaged/);
  t.regex(await named('\n \n'), /no rows/);
});

test('a workbook is read as people see it', async (t) => {
  t.deepEqual(
    drafts(await read(await fixture('book.xlsx'))).map(({ firstName }) => firstName),
    ['Ada'],
  );
  const text = (reference: string, value: string) => `<c r="${reference}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="dd.mm.yyyy"/><numFmt numFmtId="165" formatCode="00000"/></numFmts>' +
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="9"/></cellXfs>';
  const header = ['Email', 'First name', 'Since', 'Until', 'Zip', 'Share', 'Id', 'Sum', 'Made', 'Broken', 'Ok'];
  const bytes = xlsxOf(
    {
      Cover: `<row r="1">${text('A1', 'Our list')}</row>`,
      Secret: `<row r="1">${text('A1', 'hidden@example.com')}</row>`,
      People: `<row r="1">${text('A1', 'Leads of November')}</row>
        <row r="3">${header.map((name, n) => text(`${String.fromCharCode(65 + n)}3`, name)).join('')}</row>
        <row r="4"><c r="A4" t="s"><v>0</v></c><c r="B4" t="s"><v>1</v></c><c r="C4" s="1"><v>46354</v></c><c r="D4" s="2"><v>46354</v></c>
          <c r="E4" s="3"><v>1067</v></c><c r="F4" s="4"><v>0.25</v></c><c r="G4"><v>491512345678</v></c><c r="H4"><v>0.30000000000000004</v></c>
          <c r="I4" t="str"><f>A4&amp;"x"</f><v>made up</v></c><c r="J4" t="e"><v>#N/A</v></c><c r="K4" t="b"><v>1</v></c></row>
        <row r="7">${text('A7', 'b@example.com')}${text('B7', 'two\nlines')}</row>
        <row r="8">${text('B8', 'Nobody')}</row>`,
    },
    {
      styles,
      strings:
        '<si><r><t>a@</t></r><r><t>example.com</t></r></si><si><t>山田</t><rPh sb="0" eb="2"><t>やまだ</t></rPh></si>',
      hidden: ['Secret'],
    },
  );
  const file = await read(bytes);
  t.deepEqual(
    [file.format, file.sheet?.sheet, file.sheet?.sheets, file.skipRows],
    ['xlsx', 'People', ['Cover', 'People'], 2],
  );
  t.deepEqual(drafts(file)[0], {
    email: 'a@example.com',
    firstName: '山田',
    lastName: '',
    company: '',
    phone: '',
    subscribed: true,
    customFields: {
      since: '2026-11-28',
      until: '28.11.2026',
      zip: '01067',
      share: '25%',
      id: '491512345678',
      sum: '0.3',
      made: 'made up',
      ok: 'TRUE',
    },
  });
  t.deepEqual(
    file.outcome.stored.map(({ line, reason }) => [line, reason]),
    [
      [4, null],
      [7, null],
      [8, 'missing_email'],
    ],
  );
  t.is(drafts(file)[1]?.firstName, 'two\nlines');
  t.like(await read(bytes, { sheet: 'Cover' }), { columns: ['Our list'], rows: 0 });
  t.like(await answer(bytes, { sheet: 'None' }), { refused: { path: 'body.options.sheet' } });
  const old = await read(
    xlsxOf(
      { A: `<row>${'<c t="inlineStr"><is><t>a@example.com</t></is></c><c s="1"><v>44892</v></c>'}</row>` },
      { styles, date1904: true },
    ),
  );
  t.is(old.sample[0]?.[1], '2026-11-28');
});

test('an OpenDocument sheet is read as people see it', async (t) => {
  const cell = (text: string, attributes = '') =>
    `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
  const bytes = zipOf({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content><office:body><office:spreadsheet><table:table table:name="People">
      <table:table-row>${cell('Email')}${cell('First name')}${cell('Since')}${cell('Id')}</table:table-row>
      <table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="1024"/></table:table-row>
      <table:table-row><table:table-cell><office:annotation><text:p>ask her</text:p></office:annotation><text:p>a@<text:span>example.com</text:span></text:p></table:table-cell>${cell('Zoë')}${cell('28.11.2026', 'office:value-type="date" office:date-value="2026-11-28"')}${cell('4.9E+19', 'office:value-type="float" office:value="49000000000000000000"')}<table:table-cell table:number-columns-repeated="16000"/></table:table-row>
      <table:table-row table:number-rows-repeated="1048572"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
    </table:table></office:spreadsheet></office:body></office:document-content>`,
  });
  const file = await read(bytes);
  t.deepEqual([file.format, file.rows], ['ods', 1]);
  t.deepEqual(file.outcome.stored[0]?.line, 4);
  t.deepEqual(file.outcome.stored[0]?.person?.draft, {
    email: 'a@example.com',
    firstName: 'Zoë',
    lastName: '',
    company: '',
    phone: '',
    subscribed: true,
    customFields: { since: '28.11.2026', id: '49000000000000000000' },
  });
});

test('a small archive that unpacks to more than a list may have is refused, and leaves nothing behind', async (t) => {
  const before = (await readdir(folder)).length;
  const found = await answer(
    zipOf({ ...partsOfEmptyBook(), 'xl/sharedStrings.xml': Buffer.alloc(120 * 1024 * 1024, 0x20) }),
  );
  t.regex('refused' in found ? render(found.refused.message) : '', /unpacked/);
  t.is((await readdir(folder)).length, before + 1, 'the uploaded file alone');
});

function partsOfEmptyBook(): Record<string, string> {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  return {
    'xl/workbook.xml': '<workbook><sheets><sheet name="A" r:id="a"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="a" Type="${type}/worksheet" Target="a.xml"/><Relationship Id="b" Type="${type}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    'xl/a.xml': '<worksheet><sheetData/></worksheet>',
  };
}

test('the exports of other tools are read by their columns, opt-outs and bounces with them', async (t) => {
  const known: readonly (readonly [tool: string, header: string, expected: readonly string[]])[] = [
    [
      'Instantly',
      'Email,First Name,Last Name,Company Name,Phone,Website,Lead Status',
      ['email', 'first_name', 'last_name', 'company', 'phone', 'custom:website', 'custom:lead_status'],
    ],
    [
      'Smartlead',
      'id,first_name,last_name,email,phone_number,company_name,is_unsubscribed,status',
      ['custom:id', 'first_name', 'last_name', 'email', 'phone', 'company', 'unsubscribed', 'custom:status'],
    ],
    [
      'Lemlist',
      'email,firstName,lastName,companyName,phone,isUnsubscribed,lastState',
      ['email', 'first_name', 'last_name', 'company', 'phone', 'unsubscribed', 'custom:laststate'],
    ],
    [
      'Apollo',
      'First Name,Last Name,Title,Company,Email,Email Status,Contact Owner,Work Direct Phone,Email Bounced',
      [
        'first_name',
        'last_name',
        'custom:title',
        'company',
        'email',
        'custom:email_status',
        'custom:contact_owner',
        'custom:work_direct_phone',
        'bounced',
      ],
    ],
    [
      'HubSpot',
      'Record ID,First Name,Last Name,Email,Phone Number,Contact owner,Unsubscribed from all email,Email hard bounce reason',
      [
        'custom:record_id',
        'first_name',
        'last_name',
        'email',
        'phone',
        'custom:contact_owner',
        'unsubscribed',
        'bounced',
      ],
    ],
    [
      'Salesforce',
      'FirstName,LastName,Email,Phone,Account Name,HasOptedOutOfEmail,EmailBouncedReason,DoNotCall',
      ['first_name', 'last_name', 'email', 'phone', 'company', 'unsubscribed', 'bounced', 'custom:donotcall'],
    ],
    [
      'Mailchimp',
      'Email Address,First Name,Last Name,MEMBER_RATING,OPTIN_TIME,UNSUB_TIME,UNSUB_REASON,CLEAN_TIME,TAGS',
      [
        'email',
        'first_name',
        'last_name',
        'custom:member_rating',
        'custom:optin_time',
        'unsubscribed',
        'unsubscribed',
        'bounced',
        'categories',
      ],
    ],
    [
      'Google Contacts',
      'First Name,Last Name,Organization Name,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Value',
      ['first_name', 'last_name', 'company', 'categories', 'custom:e_mail_1_label', 'email', 'phone'],
    ],
    [
      'Outlook',
      'First Name,Last Name,Company,Business Phone,E-mail Address,E-mail 2 Address,Categories',
      ['first_name', 'last_name', 'company', 'phone', 'email', 'custom:e_mail_2_address', 'categories'],
    ],
  ];
  for (const [tool, header, expected] of known) {
    const row = expected.map((target) => (target === 'email' ? 'a@example.com' : ''));
    t.deepEqual(targets(await read(`${header}\n${row.join(',')}\n`)), expected, tool);
  }
});
