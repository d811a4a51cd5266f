import test from 'ava';
import fc from 'fast-check';
import { returnDate } from './when.ts';

/** Time of arrival of the messages, a Friday. */
const RECEIVED = new Date('2026-11-20T09:30:00Z');

const READ: readonly (readonly [string, string | null])[] = [
  ['I will be back on Monday, 24 November', '2026-11-24'],
  ['I am out of the office until 3/12/2026.', '2026-12-03'],
  ['I will return on Dec 1st', '2026-12-01'],
  ['Out of office until 2026-12-03.', '2026-12-03'],
  ['I am away from 24 November to 3 December with limited access.', '2026-12-04'],
  ['I will be out of the office starting 11/23/2026 and will return on 11/30/2026.', '2026-11-30'],
  ['I will be back in the office on\nWednesday, December 2nd, 2026.', '2026-12-02'],
  ['On January 5 I will be back in the office.', '2027-01-05'],
  ['I am on leave 23 Nov - 27 Nov.', '2026-11-28'],
  ['I am on leave 23-27 November.', '2026-11-28'],
  ['Away through Friday 27 November', '2026-11-28'],
  ["I'm out today and will be back tomorrow.", '2026-11-21'],
  ['Back next week!', '2026-11-23'],
  ['Guten Morgen, ich bin bald wieder da.', null],
  ["I'll be back on Wednesday", '2026-11-25'],
  ["I'll be back on Friday", '2026-11-27'],
  ['Out until 3 Dec. Back in the office on 4 Dec.', '2026-12-04'],
  ['Ich bin zurück am 05.01.2027', '2027-01-05'],
  ['Ich bin ab 23.11. nicht im Büro und am 05.01.2027 wieder zurück.', '2027-01-05'],
  ['Bis zum 3. Dezember bin ich nicht erreichbar.', '2026-12-03'],
  ['Vom 23.11. bis einschließlich 4.12.2026 bin ich im Urlaub.', '2026-12-05'],
  ['Urlaub 23.11.-27.11.2026', '2026-11-28'],
  ['Je serai de retour le 12 janvier', '2027-01-12'],
  ["Je suis absente jusqu'au mercredi 2 décembre inclus.", '2026-12-03'],
  ['absent du 23/11/2026 au 27/11/2026', '2026-11-28'],
  ['Estaré fuera de la oficina hasta el 12 de enero de 2027.', '2027-01-12'],
  ['Vuelvo el lunes 7 de diciembre.', '2026-12-07'],
  ['Sarò fuori ufficio fino al 5 gennaio', '2027-01-05'],
  ['Rientro il 7 gennaio 2027.', '2027-01-07'],
  ['Estarei ausente até 5 de janeiro.', '2027-01-05'],
  ['Ik ben afwezig t/m 3 december.', '2026-12-04'],
  ['Vanaf 7 december ben ik weer bereikbaar.', '2026-12-07'],
  ['Jestem na urlopie do 30 listopada.', '2026-11-30'],
  ['Wracam 1 grudnia.', '2026-12-01'],
  ['Január 5-ig szabadságon vagyok.', '2027-01-06'],
  ['2027. január 5-én érek vissza az irodába.', '2027-01-05'],
  // Ambiguous dates, of which the future one, the nearer one, or the one with the right weekday is chosen.
  ['Return date: 11/12/2025', null],
  ['back on 12/1', '2026-12-01'],
  ['back on 12/5', '2026-12-05'],
  ['will be back Thursday 3/12/2026', '2026-12-03'],
  ['will be back Friday 12/03/2027', '2027-03-12'],
  ['will be back Wednesday 03/02/2027', '2027-02-03'],
  ['will be back Tuesday 03/02/2027', '2027-03-02'],
  // Texts without a usable date.
  ['I was out until Nov 18', null],
  ['back on 29 February', null],
  ['back 31/12/2028', null],
  ['back at 14.30 Uhr', null],
  ['Our summer party was on 3 July', null],
  ['Call +1 555 12-34 until further notice.', null],
  ['I am not available from 23 November.', null],
  ['', null],
];

for (const [text, expected] of READ) {
  test(`reads ${JSON.stringify(text)}`, (t) => {
    t.is(returnDate(text, RECEIVED)?.toISOString().slice(0, 10) ?? null, expected);
  });
}

test('a return on the day of the message is the moment of the message, not the midnight before', (t) => {
  t.deepEqual(returnDate('back on 20/11/2026', RECEIVED), RECEIVED);
});

test('the day is the one of the recipient: late evening in UTC is tomorrow in Tokyo', (t) => {
  const evening = new Date('2026-11-20T22:00:00Z');
  t.is(returnDate('back tomorrow', evening, 'Asia/Tokyo')?.toISOString(), '2026-11-21T15:00:00.000Z');
  t.is(returnDate('back tomorrow', evening, 'Not/AZone')?.toISOString(), '2026-11-21T00:00:00.000Z');
});

test('never past, never more than a year ahead', (t) => {
  const cue = fc.constantFrom('back on ', 'until ', 'bis ', 'de retour le ', 'vuelvo el ', 'through ', 'from 1/1 to ');
  const number = fc.integer({ min: 0, max: 40 });
  const separator = fc.constantFrom('.', '/', '-', ' ', ' January ', ' december ');
  const year = fc.constantFrom('', '/2026', '.2027', '-2028', ' 2027', '/27');
  const received = fc.date({ min: new Date('2024-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(cue, number, separator, number, year, received, (words, a, between, b, end, at) => {
      const found = returnDate(`${words}${a}${between}${b}${end}`, at);
      if (found === null) return true;
      return found >= at && found.getTime() <= at.getTime() + 366 * 24 * 3_600_000;
    }),
    { numRuns: 2000 },
  );
  t.pass();
});
