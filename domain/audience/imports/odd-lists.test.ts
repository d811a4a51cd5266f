import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import iconv from 'iconv-lite';
import { render } from '../../../messages/render.ts';
import { xlsxOf, zipOf } from '../../../test/harness/zip.ts';
import { inspectFile } from './inspect.ts';

let folder: string;
let files = 0;
test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heron-odd-lists-'));
});
test.after.always(() => rm(folder, { recursive: true, force: true }));

async function read(bytes: string | Buffer) {
  const path = join(folder, `${(files += 1)}`);
  await writeFile(path, bytes);
  const answer = await inspectFile({ path, choices: {}, preview: {} });
  if ('refused' in answer) throw new Error(render(answer.refused.message));
  const { suggestedMapping, outcome, ...file } = answer.inspected;
  const people = outcome!.stored.map(({ person, reason }) => person ?? { reason });
  return { ...file, targets: suggestedMapping.map(({ target }) => target), people, problems: outcome!.problems };
}

/** Returns what may be done with each person: `mailed`, `withheld`, or the reason against it. */
async function mailed(bytes: string | Buffer): Promise<string[]> {
  const { people } = await read(bytes);
  return people.map((person) =>
    'reason' in person ? String(person.reason) : person.draft.subscribed ? 'mailed' : person.optOut!.state,
  );
}

test('a column about permission is known by its words, in any order and language, and never read as yes', async (t) => {
  for (const [header, no, yes] of [
    ['Do not allow Bulk Emails', 'Do Not Allow', 'Allow'],
    ['Email on Hold', 'On Hold Opt Out', 'No'],
    ['email_disabled', 'true', 'false'],
    ['Mailingsperre', 'WAHR', 'FALSCH'],
    ['Newsletterabmeldung', 'ja', 'nein'],
    ['Refus e-mailing', 'oui', 'non'],
    ['No desea recibir correos', 'sí', 'no'],
    ['Vill ej ha e-post', 'ja', 'nej'],
    ['Inget nyhetsbrev', 'ja', 'nej'],
    ['メルマガ拒否', '○', ''],
    ['이메일 거부', '예', '아니요'],
    ['Do not contact by phone or email', 'yes', 'no'],
    ['Nicht mehr anschreiben', '1', '0'],
    ['Niente newsletter', 'sì', 'no'],
    ['Blocage e-mail', 'oui', 'non'],
    ['Email address invalid', 'true', 'false'],
    ['ไม่รับจดหมายข่าว', 'ใช่', 'ไม่ใช่'],
    ['Email Suppressions', '[UNSUBSCRIBE]', '[]'],
    ['May we contact you by email?', 'No', 'Yes'],
    ['Would you like our newsletter? (yes/no)', 'no', 'yes'],
    ['Marketingeinwilligung', 'nein', 'ja'],
    ['Nieuwsbrief', 'nee', 'ja'],
    ['Рассылка', 'нет', 'да'],
    ['メール配信', '×', '○'],
    ['수신동의', 'X', 'O'],
    ['Email permission status', 'No permissions set', 'Implicit'],
  ]) {
    const [first, second] = await mailed(`email;${header}\na@example.com;${no}\nb@example.com;${yes}\n`);
    t.not(first, 'mailed', header);
    t.is(second, 'mailed', header);
  }
  for (const [header, cell] of [
    ['ConsentToTrack', 'No'],
    ['Cookie consent', 'no'],
    ['Subscription plan', 'Free'],
    ['Mailing State', 'NO'],
    ['Marketing emails opened', '0'],
    ['Do not allow Phone Calls', 'Do Not Allow'],
    ['SMS subscriber status', 'Never subscribed'],
    ['No. of emails', '0'],
    ['State', 'Baja California'],
  ])
    t.deepEqual(await mailed(`email;${header}\na@example.com;${cell}\n`), ['mailed'], header);
});

test('a mark, a cause in brackets and a failed formula never turn a no into a yes', async (t) => {
  for (const [header, cell, expected] of [
    ['subscribed', 'Yes (revoked 2024)', 'opted_out'],
    ['subscribed', '☒', 'withheld'],
    ['subscribed', 'SANN', 'mailed'],
    ['unsubscribed', '☒', 'unclear'],
    ['unsubscribed', '☐', 'mailed'],
    ['unsubscribed', '5 March 2024', 'opted_out'],
    ['unsubscribed', '#N/A', 'unclear'],
    ['Status', 'Active (bounced)', 'bounced'],
    ['Status', 'Never subscribed', 'withheld'],
    ['Status', 'Bitte nicht kontaktieren', 'opted_out'],
    ['Status', 'Paused', 'mailed'],
  ])
    t.deepEqual(await mailed(`email;${header}\na@example.com;${cell}\n`), [expected], `${header}: ${cell}`);
});

test('texts that spreadsheets add to cells are removed', async (t) => {
  const { people } = await read(
    'email,first_name,company,phone,tags\n' +
      `'a@example.com,#N/A,#BEZUG!,"=""00491511""","""VIP"",""New Customer"""\n`,
  );
  t.like(people[0], {
    draft: { email: 'a@example.com', firstName: '', company: '', phone: '00491511' },
    categories: ['vip', 'new customer'],
  });
  const text = (reference: string, value: string) => `<c r="${reference}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const book = xlsxOf({
    A: `<row r="1">${text('A1', 'Email')}${text('B1', 'Opted out')}${text('C1', 'Since')}</row>
      <row r="2">${text('A2', 'a@example.com')}<c r="B2" t="e"><v>#REF!</v></c><c r="C2" t="d"><v>2026-11-28T00:00:00</v></c></row>`,
  });
  t.deepEqual(await mailed(book), ['unclear']);
  t.like((await read(book)).people[0], { draft: { customFields: { since: '2026-11-28' } } });
});

test('a hidden OpenDocument sheet is not imported', async (t) => {
  const table = (name: string, style: string, address: string) =>
    `<table:table table:name="${name}" table:style-name="${style}">${['Email', address]
      .map((cell) => `<table:table-row><table:table-cell><text:p>${cell}</text:p></table:table-cell></table:table-row>`)
      .join('')}</table:table>`;
  const file = await read(
    zipOf({
      'content.xml': `<office:document-content><office:automatic-styles><style:style style:name="ta2" style:family="table">
        <style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body><office:spreadsheet>
        ${table('Old', 'ta2', 'old@example.com')}${table('People', 'ta1', 'a@example.com')}</office:spreadsheet></office:body></office:document-content>`,
    }),
  );
  t.deepEqual(file.sheet?.sheets, ['People']);
});

test('the header is found below a title with an address, and each column keeps a name', async (t) => {
  const titled = await read(
    'Exported by:,admin@ours.example,\nDate:,2026-11-01,\n\nEmail,First Name (required),Contact: Company,€\na@example.com,Ada,Acme,5\n',
  );
  t.deepEqual(titled.targets, ['email', 'first_name', 'company', 'custom:column_4']);
  t.is(titled.people.length, 1);
  const pasted = await read('a@example.com; b@example.com; c@example.com\n');
  t.like(pasted.people[0], {
    draft: { email: 'a@example.com', customFields: { other_emails: 'b@example.com, c@example.com' } },
  });
  await t.throwsAsync(read("-- Dump\nINSERT INTO `users` VALUES (1,'a@example.com');\n"), { message: /SQL/ });
});

test('encodings of the Mac, of MS-DOS, and UTF-16 without a byte order mark are detected', async (t) => {
  for (const [encoding, lines, end] of [
    ['macintosh', ['email;first_name', 'a@example.com;Jürgen', 'b@example.com;Änne Größmann'], '\r'],
    ['cp850', ['email;first_name', 'a@example.com;Jürgen', 'b@example.com;Änne Größmann'], '\r\n'],
    ['utf-16be', ['Почта;Имя', 'a@example.com;Екатерина Северный берег', 'b@example.com;Дмитрий'], '\n'],
    ['windows-1252', ['email;first_name', 'a@example.com;Zoë “50 €” – ok…'], '\n'],
  ] as const) {
    const { people } = await read(iconv.encode(lines.join(end), encoding));
    t.like(people[0], { draft: { firstName: lines[1].split(';')[1]! } }, encoding);
  }
});
