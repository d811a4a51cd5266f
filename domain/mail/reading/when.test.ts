import test from 'ava';
import { laterTime, returnTime } from './when.ts';

/** Time of arrival of the messages, a Friday. */
const RECEIVED = new Date('2026-11-20T09:30:00Z');
const day = (found: { day: Date } | null): string | null => found?.day.toISOString().slice(0, 10) ?? null;

/** Away notes of each language: a date in words, a numeric date, a weekday, a range or an inclusive end. */
const AWAY: Readonly<Record<string, readonly (readonly [string, string | null])[]>> = {
  ar: [
    ['أنا في إجازة حتى 3 ديسمبر', '2026-12-03'],
    ['سأعود يوم الاثنين', '2026-11-23'],
    ['خارج المكتب من 24 نوفمبر إلى 3 ديسمبر', '2026-12-04'],
    ['سأعود غداً', '2026-11-21'],
  ],
  bg: [
    ['В отпуск съм до 3 декември.', '2026-12-03'],
    ['Връщам се в понеделник.', '2026-11-23'],
    ['Няма ме, връщам се на 12.01.', '2027-01-12'],
    ['vryshtam se utre', '2026-11-21'],
  ],
  cs: [
    ['Jsem na dovolené do 3. prosince.', '2026-12-03'],
    ['Vrátím se v pondělí.', '2026-11-23'],
    ['Zpět budu 12. 1.', '2027-01-12'],
    ['jsem pryc do 4. prosince vcetne', '2026-12-05'],
  ],
  da: [
    ['Jeg er på ferie til den 3. december.', '2026-12-03'],
    ['Jeg er tilbage på mandag.', '2026-11-23'],
    ['Tilbage d. 12/1', '2027-01-12'],
    ['Ferie til og med 4. december', '2026-12-05'],
  ],
  de: [
    ['Ich bin bis zum 3. Dezember im Urlaub.', '2026-12-03'],
    ['Am Montag bin ich zurück.', '2026-11-23'],
    ['Urlaub bis einschließlich 4.12.', '2026-12-05'],
    ['Bin ab dem 12. Jänner wieder da.', '2027-01-12'],
    ['Ich bin nächste Woche wieder erreichbar.', '2026-11-23'],
  ],
  el: [
    ['Λείπω μέχρι τις 3 Δεκεμβρίου.', '2026-12-03'],
    ['Επιστρέφω τη Δευτέρα.', '2026-11-23'],
    ['epistrefo sis 12 ianouariou', '2027-01-12'],
    ['Επιστροφή 12/1', '2027-01-12'],
  ],
  en: [
    ['Back on the 2nd of December', '2026-12-02'],
    ['ooo til wed', '2026-11-25'],
    ['I am away until and including Friday 4 December.', '2026-12-05'],
    ['closed until the 7th', '2026-12-07'],
    ['I shall be back in two weeks.', '2026-12-04'],
  ],
  es: [
    ['Estoy de vacaciones hasta el 3 de diciembre.', '2026-12-03'],
    ['Vuelvo el lunes.', '2026-11-23'],
    ['Fuera de la oficina del 24/11 al 4/12', '2026-12-05'],
    ['Regreso el 12 de enero de 2027.', '2027-01-12'],
  ],
  fi: [
    ['Olen lomalla 3. joulukuuta asti.', '2026-12-03'],
    ['Palaan maanantaina.', '2026-11-23'],
    ['Palaan töihin 12.1.', '2027-01-12'],
    ['takaisin huomenna', '2026-11-21'],
  ],
  fr: [
    ["Je suis en congé jusqu'au 3 décembre.", '2026-12-03'],
    ['De retour lundi.', '2026-11-23'],
    ["absente jusqu'au 4 decembre inclus", '2026-12-05'],
    ['De retour le 12/01', '2027-01-12'],
  ],
  he: [
    ['אני בחופשה עד 3 בדצמבר', '2026-12-03'],
    ['אחזור ביום שני', '2026-11-23'],
    ['חוזרת ב-12.1', '2027-01-12'],
    ['אחזור מחר', '2026-11-21'],
  ],
  hi: [
    ['मैं 3 दिसंबर तक छुट्टी पर हूँ', '2026-12-03'],
    ['somvar ko wapas', '2026-11-23'],
    ['main 3 december tak chutti par hoon', '2026-12-03'],
  ],
  hr: [
    ['Na godišnjem sam do 3. prosinca.', '2026-12-03'],
    ['Vraćam se u ponedjeljak.', '2026-11-23'],
    ['Vracam se 12. 1.', '2027-01-12'],
  ],
  hu: [
    ['Szabadságon vagyok december 3-ig.', '2026-12-04'],
    ['Hétfőn jövök vissza.', '2026-11-23'],
    ['Január 12-én leszek újra az irodában.', '2027-01-12'],
  ],
  id: [
    ['Saya cuti sampai 3 Desember.', '2026-12-03'],
    ['Kembali hari Senin.', '2026-11-23'],
    ['Masuk kembali tanggal 12 Januari', '2027-01-12'],
  ],
  it: [
    ['Sono in ferie fino al 3 dicembre.', '2026-12-03'],
    ['Rientro lunedì.', '2026-11-23'],
    ['Chiuso dal 24/11 al 4/12', '2026-12-05'],
    ['torno domani', '2026-11-21'],
  ],
  ja: [
    ['12月3日まで休暇です。', '2026-12-04'],
    ['月曜日に戻ります。', '2026-11-23'],
    ['1月12日に出社いたします。', '2027-01-12'],
    ['明日戻ります', '2026-11-21'],
  ],
  ko: [
    ['12월 3일까지 휴가입니다.', '2026-12-04'],
    ['월요일에 복귀합니다.', '2026-11-23'],
    ['1월 12일에 복귀합니다.', '2027-01-12'],
  ],
  nl: [
    ['Ik ben met vakantie tot 3 december.', '2026-12-03'],
    ['Maandag ben ik weer terug.', '2026-11-23'],
    ['Afwezig tot en met 4 december', '2026-12-05'],
    ['Terug op 12-1-2027', '2027-01-12'],
  ],
  no: [
    ['Jeg har ferie til 3. desember.', '2026-12-03'],
    ['Tilbake mandag.', '2026-11-23'],
    ['Borte til og med 4. desember', '2026-12-05'],
    ['Jeg er tilbake 12.01.', '2027-01-12'],
  ],
  pl: [
    ['Jestem na urlopie do 3 grudnia.', '2026-12-03'],
    ['Wracam w poniedziałek.', '2026-11-23'],
    ['wroce 12 stycznia', '2027-01-12'],
    ['Wracam jutro.', '2026-11-21'],
  ],
  pt: [
    ['Estou de férias até 3 de dezembro.', '2026-12-03'],
    ['Volto na segunda-feira.', '2026-11-23'],
    ['Ausente de 24/11 a 4/12', '2026-12-05'],
    ['volto dia 12 de janeiro', '2027-01-12'],
  ],
  ro: [
    ['Sunt în concediu până la 3 decembrie.', '2026-12-03'],
    ['Revin luni.', '2026-11-23'],
    ['revin pe 12 ianuarie', '2027-01-12'],
  ],
  ru: [
    ['Я в отпуске до 3 декабря.', '2026-12-03'],
    ['Вернусь в понедельник.', '2026-11-23'],
    ['В отпуске по 4 декабря включительно.', '2026-12-05'],
    ['vernus zavtra', '2026-11-21'],
  ],
  sk: [
    ['Som na dovolenke do 3. decembra.', '2026-12-03'],
    ['Vrátim sa v pondelok.', '2026-11-23'],
    ['Návrat 12. januára', '2027-01-12'],
  ],
  sv: [
    ['Jag är på semester till den 3 december.', '2026-12-03'],
    ['Jag är tillbaka på måndag.', '2026-11-23'],
    ['Ledig till och med 4 december', '2026-12-05'],
    ['Åter den 12/1', '2027-01-12'],
  ],
  th: [
    ['ลาพักร้อนถึงวันที่ 3 ธันวาคม', '2026-12-03'],
    ['กลับวันจันทร์', '2026-11-23'],
    ['กลับมาทำงาน 12 มกราคม', '2027-01-12'],
  ],
  tr: [
    ["3 Aralık'a kadar izindeyim.", '2026-12-03'],
    ['Pazartesi döneceğim.', '2026-11-23'],
    ['12 Ocakta ofisteyim.', '2027-01-12'],
    ['yarin donecegim', '2026-11-21'],
  ],
  uk: [
    ['Я у відпустці до 3 грудня.', '2026-12-03'],
    ['Повернуся в понеділок.', '2026-11-23'],
    ['Буду 12 січня.', '2027-01-12'],
  ],
  vi: [
    ['Tôi nghỉ phép đến ngày 3 tháng 12.', '2026-12-03'],
    ['Thứ hai tôi đi làm lại.', '2026-11-23'],
    ['tro lai ngay 12/1', '2027-01-12'],
  ],
  zh: [
    ['我休假到12月3日。', '2026-12-03'],
    ['星期一回来。', '2026-11-23'],
    ['1月12日返回公司。', '2027-01-12'],
    ['明天回来', '2026-11-21'],
  ],
};

/** Replies that mean "not now" and name a time. */
const LATER: Readonly<Record<string, readonly (readonly [string, string | null])[]>> = {
  ar: [
    ['تواصلوا معنا بعد شهرين', '2027-01-20'],
    ['الأسبوع القادم', '2026-11-23'],
    ['في مارس', '2027-03-01'],
  ],
  bg: [
    ['Пишете след две седмици.', '2026-12-04'],
    ['през март', '2027-03-01'],
  ],
  cs: [
    ['Ozvěte se za dva týdny.', '2026-12-04'],
    ['v březnu', '2027-03-01'],
    ['příští týden', '2026-11-23'],
  ],
  da: [
    ['Prøv igen om to uger.', '2026-12-04'],
    ['i marts', '2027-03-01'],
    ['næste måned', '2026-12-01'],
  ],
  de: [
    ['Fragen Sie in zwei Wochen noch mal.', '2026-12-04'],
    ['Mitte März', '2027-03-15'],
    ['nach Weihnachten', '2026-12-26'],
    ['nächsten Monat', '2026-12-01'],
  ],
  el: [
    ['Σε δύο εβδομάδες', '2026-12-04'],
    ['τον Μάρτιο', '2027-03-01'],
  ],
  en: [
    ['Ask me again in two weeks.', '2026-12-04'],
    ['next quarter', '2027-01-01'],
    ['not before 15 March', '2027-03-15'],
    ['try in feb', '2027-02-01'],
    ['after the summer', '2027-09-01'],
    ['Q2', '2027-04-01'],
    ['in 2027', '2027-01-01'],
    ['next week', '2026-11-23'],
    ['after Easter', '2027-03-29'],
    ['Not at this juncture.', null],
  ],
  es: [
    ['dentro de dos semanas', '2026-12-04'],
    ['en marzo', '2027-03-01'],
    ['el mes que viene', '2026-12-01'],
    ['finales de enero', '2027-01-31'],
  ],
  fi: [
    ['kahden viikon päästä', '2026-12-04'],
    ['maaliskuussa', '2027-03-01'],
    ['ensi viikolla', '2026-11-23'],
  ],
  fr: [
    ['dans deux semaines', '2026-12-04'],
    ['en mars', '2027-03-01'],
    ['mi-mars', '2027-03-15'],
    ['la semaine prochaine', '2026-11-23'],
  ],
  he: [
    ['בעוד שבועיים', '2026-12-04'],
    ['במרץ', '2027-03-01'],
    ['בשבוע הבא', '2026-11-23'],
  ],
  hi: [
    ['do hafte baad', '2026-12-04'],
    ['march mein', '2027-03-01'],
  ],
  hr: [
    ['za dva tjedna', '2026-12-04'],
    ['u ožujku', '2027-03-01'],
  ],
  hu: [
    ['két hét múlva', '2026-12-04'],
    ['márciusban', '2027-03-01'],
    ['jövő héten', '2026-11-23'],
  ],
  id: [
    ['dua minggu lagi', '2026-12-04'],
    ['bulan Maret', '2027-03-01'],
    ['bulan depan', '2026-12-01'],
  ],
  it: [
    ['tra due settimane', '2026-12-04'],
    ['a marzo', '2027-03-01'],
    ['il mese prossimo', '2026-12-01'],
  ],
  ja: [
    ['二週間後', '2026-12-04'],
    ['3月に', '2027-03-01'],
    ['来月', '2026-12-01'],
  ],
  ko: [
    ['2주 후에', '2026-12-04'],
    ['3월에', '2027-03-01'],
    ['다음 달에', '2026-12-01'],
  ],
  nl: [
    ['over twee weken', '2026-12-04'],
    ['in maart', '2027-03-01'],
    ['volgende maand', '2026-12-01'],
  ],
  no: [
    ['om to uker', '2026-12-04'],
    ['i mars', '2027-03-01'],
    ['neste måned', '2026-12-01'],
  ],
  pl: [
    ['za dwa tygodnie', '2026-12-04'],
    ['w marcu', '2027-03-01'],
    ['w przyszlym miesiacu', '2026-12-01'],
  ],
  pt: [
    ['daqui a duas semanas', '2026-12-04'],
    ['em março', '2027-03-01'],
    ['no próximo mês', '2026-12-01'],
  ],
  ro: [
    ['peste două săptămâni', '2026-12-04'],
    ['în martie', '2027-03-01'],
    ['luna viitoare', '2026-12-01'],
  ],
  ru: [
    ['через две недели', '2026-12-04'],
    ['в марте', '2027-03-01'],
    ['в следующем месяце', '2026-12-01'],
  ],
  sk: [
    ['o dva týždne', '2026-12-04'],
    ['v marci', '2027-03-01'],
  ],
  sv: [
    ['om två veckor', '2026-12-04'],
    ['i mars', '2027-03-01'],
    ['nästa månad', '2026-12-01'],
  ],
  th: [
    ['อีก 2 สัปดาห์', '2026-12-04'],
    ['เดือนมีนาคม', '2027-03-01'],
    ['เดือนหน้า', '2026-12-01'],
  ],
  tr: [
    ['iki hafta sonra', '2026-12-04'],
    ['martta', '2027-03-01'],
    ['gelecek ay', '2026-12-01'],
  ],
  uk: [
    ['через два тижні', '2026-12-04'],
    ['у березні', '2027-03-01'],
  ],
  vi: [
    ['hai tuần nữa', '2026-12-04'],
    ['tháng 3', '2027-03-01'],
    ['tháng sau', '2026-12-01'],
  ],
  zh: [
    ['两周后', '2026-12-04'],
    ['三月', '2027-03-01'],
    ['下个月', '2026-12-01'],
  ],
};

for (const [language, notes] of Object.entries(AWAY))
  test(`${language}: days of return`, (t) => {
    for (const [text, expected] of notes) t.is(day(returnTime(text, RECEIVED)), expected, text);
  });

for (const [language, answers] of Object.entries(LATER))
  test(`${language}: times of "not now"`, (t) => {
    for (const [text, expected] of answers) t.is(day(laterTime(text, RECEIVED)), expected, text);
  });

/** Parts of a year, holidays and weeks, as replies in each language name them. */
const NAMED: readonly (readonly [string, string])[] = [
  ['Melden Sie sich im zweiten Quartal.', '2027-04-01'],
  ['Fragen Sie in einem halben Jahr wieder.', '2027-05-20'],
  ['В июне начнём стройку.', '2027-06-01'],
  ['Mart sonunda ihaleye çıkılacak', '2027-03-31'],
  ['odezwij się za 20 dni', '2026-12-10'],
  ['ne mutăm, prin mai', '2027-05-01'],
  ['新预算Q3才开', '2027-07-01'],
  ['migration进行中, 请20/12写来', '2026-12-20'],
  ['วันที่ 16 ทักมา', '2026-12-16'],
  ['Neste budsjettår', '2027-01-01'],
  ['Σε δεκαπέντε μέρες', '2026-12-05'],
  ['Try me in the third quarter', '2027-07-01'],
  ['Au premier trimestre 2027', '2027-01-01'],
  ['en el segundo semestre', '2027-07-01'],
  ['u prvom kvartalu', '2027-01-01'],
  ['w III kwartale', '2027-07-01'],
  ['во втором квартале', '2027-04-01'],
  ['第二季度再联系', '2027-04-01'],
  ['하반기에 연락 주세요', '2027-07-01'],
  ['quý 2 nhé', '2027-04-01'],
  ['übernächste Woche', '2026-11-30'],
  ['the week after next', '2026-11-30'],
  ['再来週お願いします', '2026-11-30'],
  ['Ende des Quartals', '2026-12-31'],
  ['after Thanksgiving', '2026-11-27'],
  ['nach Fasching', '2027-02-10'],
  ['nach Pfingsten', '2027-05-17'],
  ['iza Valentinova', '2027-02-15'],
  ['à la rentrée', '2027-09-01'],
  ['after Ramadan', '2027-03-10'],
  ['אחרי פסח', '2027-04-29'],
  ['diwali ke baad', '2027-10-29'],
  ['추석 지나고', '2027-09-16'],
  ['за месяц, через месяц', '2026-12-20'],
  ['za týden', '2026-11-27'],
  ['Neste gang i uke 4', '2027-01-25'],
];

/** Away notes whose date has several parts, stands beside another date, or has no word such as "until". */
const RETURNS: readonly (readonly [string, string | null])[] = [
  ['back on Mon 4 Jan', '2027-01-04'],
  ['hasta el viernes 11 de diciembre inclusive', '2026-12-12'],
  ['Reabrimos el 1 de diciembre.', '2026-12-01'],
  ['Ich bin vom 3.–14. 12. im Urlaub.', '2026-12-15'],
  ['Bin bis Ende des Monats weg', '2026-11-30'],
  ['12月7日(月)より通常通り対応いたします。', '2026-12-07'],
  ['Будем с понедельника.', '2026-11-23'],
  ['Od wtorku 24 odpisuję.', '2026-11-24'],
  ['Mandag er lukkedag. Vi ses tirsdag!', '2026-11-24'],
  ['At a funeral today.', '2026-11-21'],
  ['Cette semaine je suis en séminaire.', '2026-11-23'],
  ['nästa vecka', '2026-11-23'],
  ['bronchitis, 3 dagen', '2026-11-23'],
  ['下周二回来', '2026-11-24'],
  ['喪假，十二號回', '2026-12-12'],
  ['2026. november 23. és december 4. között szabadságon vagyok.', '2026-12-05'],
  ['Absente du 25 au 27 novembre, je vous répondrai à mon retour.', '2026-11-28'],
  ['завтра отвечу, сегодня всё', '2026-11-21'],
  ['Tôi nghỉ. Thư tự động: trở lại 7/12.', '2026-12-07'],
  ['I am not available from 23 November.', null],
];

test('a date of several parts, the last of several dates, and a date without "until" are days of return', (t) => {
  for (const [text, expected] of RETURNS) t.is(day(returnTime(text, RECEIVED)), expected, text);
});

/** Answers that name a time with its part, with another date, or by the weekend or a holiday. */
const LATER_NAMED: readonly (readonly [string, string | null])[] = [
  ['Too busy until the end of the month, write then.', '2026-11-30'],
  ['Nothing is decided here in August. Try me the second week of September', '2027-09-08'],
  ['Dienstag nächster Woche', '2026-11-24'],
  ['tidligst i april', '2027-04-01'],
  ['second half of January', '2027-01-15'],
  ['na de zomervakantie', '2027-09-01'],
  ['после новогодних праздников', '2027-01-09'],
  ['dopo le feste', '2027-01-07'],
  ['po víkendu', '2026-11-23'],
  ['след Гергьовден', '2027-05-07'],
  ['через полгода', '2027-05-20'],
  ['Give us six months.', '2027-05-20'],
  ['जनवरी के अंत में', '2027-01-31'],
  ['二月初', '2027-02-01'],
  ['la s10', '2027-03-08'],
  ['Xin liên hệ lại sau.', null],
];

test('the part of a month, the week of a weekday, weekends and holidays name a time', (t) => {
  for (const [text, expected] of LATER_NAMED) t.is(day(laterTime(text, RECEIVED)), expected, text);
});

test('quarters, halves of a year, weeks and holidays name a time', (t) => {
  for (const [text, expected] of NAMED) t.is(day(laterTime(text, RECEIVED)), expected, text);
  t.is(laterTime('Write me in Feb.', RECEIVED)?.words, 'Feb');
});

test('the words of a time are those of the text, whatever its letters', (t) => {
  t.is(returnTime('Ich bin  bis zum 3. DEZEMBER weg', RECEIVED)?.words, '3. DEZEMBER');
  t.is(laterTime('Écrivez-moi à la mi-mars, merci', RECEIVED)?.words, 'mars');
});

test('a text of any size is read in bounded time, and finds at most what it says', (t) => {
  for (const text of [
    '1.'.repeat(5e5),
    '12月'.repeat(1e5),
    'mon '.repeat(1e5),
    'until '.repeat(1e5),
    'in 2 '.repeat(1e5),
    'å'.repeat(1e5),
  ])
    t.notThrows(() => [returnTime(text, RECEIVED), laterTime(text, RECEIVED)], text.slice(0, 6));
});
