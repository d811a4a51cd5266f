import test from 'ava';
import fc from 'fast-check';
import { classifyInbound } from './classify.ts';
import { OWN_LINES } from './fixtures/own-lines.ts';
import { replyIntent } from './intent.ts';
import type { InboundMessage } from './parse.ts';
import { stripQuoted } from './quotes.ts';
import { returnDate } from '../reading/when.ts';

/**
 * Texts as people write them in one language. The away note names the third of December as the day of return, or the
 * second as the last day of absence.
 */
interface Language {
  yes: string;
  no: string;
  leave: string;
  /** The line that mail programs write above a quote, and a header block as written by Outlook. */
  wrote: string;
  block: string;
  footer: string;
  away: string;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  en: {
    yes: 'Yes, sounds good, call me.',
    no: 'Not interested, thanks.',
    leave: 'Please remove me from your list.',
    wrote: 'On Fri, 20 Nov 2026 at 09:00, Ann Archer <ann@ours.example> wrote:',
    block: 'From: Ann Archer <ann@ours.example>\nSent: Friday, 20 November 2026 09:00\nTo: Bob\nSubject: Hello',
    footer: 'To unsubscribe, reply "unsubscribe".',
    away: 'I am out of the office and will be back on 3 December.',
  },
  de: {
    yes: 'Ja, klingt gut, rufen Sie mich an.',
    no: 'Danke, kein Interesse.',
    leave: 'Bitte nehmen Sie mich aus Ihrem Verteiler.',
    wrote: 'Am Fr., 20. Nov. 2026 um 09:00 Uhr schrieb Ann Archer <ann@ours.example>:',
    block: 'Von: Ann Archer <ann@ours.example>\nGesendet: Freitag, 20. November 2026 09:00\nAn: Bob\nBetreff: Hallo',
    footer: 'Wenn Sie keine weiteren E-Mails wünschen, bitte hier abmelden.',
    away: 'Ich bin nicht im Büro und ab dem 3. Dezember wieder erreichbar.',
  },
  fr: {
    yes: 'Oui, avec plaisir, appelez-moi.',
    no: 'Non merci, pas intéressé.',
    leave: 'Merci de me désinscrire.',
    wrote: 'Le ven. 20 nov. 2026 à 09:00, Ann Archer <ann@ours.example> a écrit :',
    block: 'De : Ann Archer <ann@ours.example>\nEnvoyé : vendredi 20 novembre 2026 09:00\nÀ : Bob\nObjet : Bonjour',
    footer: 'Pour ne plus recevoir nos messages, cliquez pour vous désabonner.',
    away: "Je suis absent du bureau jusqu'au 3 décembre.",
  },
  es: {
    yes: 'Sí, me interesa, con gusto.',
    no: 'No estamos interesados, gracias.',
    leave: 'Por favor, quiero darme de baja.',
    wrote: 'El vie, 20 nov 2026 a las 9:00, Ann Archer (<ann@ours.example>) escribió:',
    block: 'De: Ann Archer <ann@ours.example>\nEnviado: viernes, 20 de noviembre de 2026 9:00\nPara: Bob\nAsunto: Hola',
    footer: 'Si desea darse de baja, responda "dar de baja".',
    away: 'Estoy fuera de la oficina y vuelvo el 3 de diciembre.',
  },
  it: {
    yes: 'Sì, mi interessa, volentieri.',
    no: 'Non siamo interessati.',
    leave: 'Cancellatemi dalla lista, per favore.',
    wrote: 'Il giorno ven 20 nov 2026 alle ore 09:00 Ann Archer <ann@ours.example> ha scritto:',
    block: 'Da: Ann Archer <ann@ours.example>\nInviato: venerdì 20 novembre 2026 09:00\nA: Bob\nOggetto: Ciao',
    footer: 'Per non ricevere altri messaggi: cancellami.',
    away: 'Sono fuori ufficio, rientro il 3 dicembre.',
  },
  pt: {
    yes: 'Sim, tenho interesse.',
    no: 'Não tenho interesse.',
    leave: 'Por favor, não envie mais mensagens.',
    wrote: 'Em sex., 20 de nov. de 2026 às 09:00, Ann Archer <ann@ours.example> escreveu:',
    block:
      'De: Ann Archer <ann@ours.example>\nEnviado: sexta-feira, 20 de novembro de 2026 09:00\nPara: Bob\nAssunto: Olá',
    footer: 'Para cancelar inscrição, responda a este e-mail.',
    away: 'Estou de férias e volto em 3 de dezembro.',
  },
  nl: {
    yes: 'Ja, klinkt goed, graag.',
    no: 'Nee bedankt, geen interesse.',
    leave: 'Wilt u mij uitschrijven? Verwijder mij van uw lijst.',
    wrote: 'Op vr 20 nov 2026 om 09:00 schreef Ann Archer <ann@ours.example>:',
    block: 'Van: Ann Archer <ann@ours.example>\nVerzonden: vrijdag 20 november 2026 09:00\nAan: Bob\nOnderwerp: Hallo',
    footer: 'Geen e-mails meer? Klik hier om u uit te schrijven of antwoord met uitschrijven.',
    away: 'Ik ben afwezig en ben terug op 3 december.',
  },
  da: {
    yes: 'Ja, det lyder godt, ring til mig.',
    no: 'Nej tak, vi er ikke interesseret.',
    leave: 'Fjern mig fra jeres liste.',
    wrote: 'Den fre. 20. nov. 2026 kl. 09.00 skrev Ann Archer <ann@ours.example>:',
    block: 'Fra: Ann Archer <ann@ours.example>\nSendt: 20. november 2026 09:00\nTil: Bob\nEmne: Hej',
    footer: 'Ønsker du ikke flere mails fra mig, så skriv "afmeld mig".',
    away: 'Jeg er på ferie og er tilbage den 3. december.',
  },
  sv: {
    yes: 'Ja, det låter bra, ring mig.',
    no: 'Nej tack, vi är inte intresserade.',
    leave: 'Ta bort mig från listan.',
    wrote: 'Den fre 20 nov. 2026 kl 09:00 skrev Ann Archer <ann@ours.example>:',
    block: 'Från: Ann Archer <ann@ours.example>\nSkickat: den 20 november 2026 09:00\nTill: Bob\nÄmne: Hej',
    footer: 'Inga fler mejl? Svara "avregistrera mig".',
    away: 'Jag är på semester och är tillbaka den 3 december.',
  },
  nb: {
    yes: 'Ja, det høres bra ut, ring meg.',
    no: 'Nei takk, ikke interessert.',
    leave: 'Fjern meg fra listen.',
    wrote: 'fre. 20. nov. 2026 kl. 09:00 skrev Ann Archer <ann@ours.example>:',
    block: 'Fra: Ann Archer <ann@ours.example>\nSendt: fredag 20. november 2026 09:00\nTil: Bob\nEmne: Hei',
    footer: 'Ingen flere e-poster? Svar "meld meg av".',
    away: 'Jeg er på ferie og er tilbake 3. desember.',
  },
  fi: {
    yes: 'Kyllä, kuulostaa hyvältä, soita minulle.',
    no: 'Ei kiitos, emme ole kiinnostuneita.',
    leave: 'Poistakaa minut listalta.',
    wrote: 'pe 20. marrask. 2026 klo 9.00 Ann Archer <ann@ours.example> kirjoitti:',
    block:
      'Lähettäjä: Ann Archer <ann@ours.example>\nLähetetty: perjantai 20. marraskuuta 2026 9.00\nVastaanottaja: Bob\nAihe: Hei',
    footer: 'Jos et halua viestejä, vastaa "poista minut".',
    away: 'Olen lomalla ja palaan 3. joulukuuta.',
  },
  pl: {
    yes: 'Tak, brzmi dobrze, chętnie.',
    no: 'Nie jestem zainteresowany.',
    leave: 'Proszę o usunięcie mnie z listy.',
    wrote: 'pt., 20 lis 2026 o 09:00 Ann Archer <ann@ours.example> napisał(a):',
    block: 'Od: Ann Archer <ann@ours.example>\nWysłano: piątek, 20 listopada 2026 09:00\nDo: Bob\nTemat: Cześć',
    footer: 'Jeśli nie chcesz wiadomości, napisz "wypisz mnie".',
    away: 'Jestem na urlopie, wracam 3 grudnia.',
  },
  cs: {
    yes: 'Ano, zní to dobře, zavolejte mi.',
    no: 'Děkuji, nemáme zájem.',
    leave: 'Odhlaste mě prosím ze seznamu.',
    wrote: 'pá 20. 11. 2026 v 9:00 odesílatel Ann Archer <ann@ours.example> napsal:',
    block: 'Od: Ann Archer <ann@ours.example>\nOdesláno: pátek 20. listopadu 2026 9:00\nKomu: Bob\nPředmět: Dobrý den',
    footer: 'Nechcete další zprávy? Odpovězte "odhlásit mě".',
    away: 'Jsem na dovolené, zpět budu 3. prosince.',
  },
  hu: {
    yes: 'Igen, jól hangzik, szívesen.',
    no: 'Köszönöm, nem érdekel.',
    leave: 'Kérem, iratkoztasson le a listáról.',
    wrote: 'Ann Archer <ann@ours.example> ezt írta (időpont: 2026. nov. 20., P, 9:00):',
    block:
      'Feladó: Ann Archer <ann@ours.example>\nElküldve: 2026. november 20., péntek 9:00\nCímzett: Bob\nTárgy: Szia',
    footer: 'Ha nem kér több levelet: leiratkozás.',
    away: 'Szabadságon vagyok, december 3-án jövök vissza.',
  },
  ru: {
    yes: 'Да, звучит интересно, позвоните мне.',
    no: 'Нет, спасибо, не интересует.',
    leave: 'Удалите меня из рассылки.',
    wrote: 'пт, 20 нояб. 2026 г. в 09:00, Ann Archer <ann@ours.example>:',
    block: 'От: Ann Archer <ann@ours.example>\nОтправлено: пятница, 20 ноября 2026 г. 9:00\nКому: Bob\nТема: Привет',
    footer: 'Чтобы отписаться, ответьте "отпишите меня".',
    away: 'Я в отпуске, вернусь 3 декабря.',
  },
  uk: {
    yes: 'Так, звучить цікаво, зателефонуйте мені.',
    no: 'Ні, дякую, не цікавить.',
    leave: 'Видаліть мене зі списку.',
    wrote: 'пт, 20 лист. 2026 р. о 09:00 Ann Archer <ann@ours.example> пише:',
    block: 'Від: Ann Archer <ann@ours.example>\nНадіслано: 20 листопада 2026 р. 9:00\nКому: Bob\nТема: Привіт',
    footer: 'Щоб відписатися, дайте відповідь "відпишіть мене".',
    away: 'Я у відпустці, повернусь 3 грудня.',
  },
  tr: {
    yes: 'Evet, ilgimi çekti, beni arayın.',
    no: 'Hayır teşekkürler, ilgilenmiyoruz.',
    leave: 'Lütfen beni listeden çıkarın.',
    wrote: 'Ann Archer <ann@ours.example>, 20 Kas 2026 Cum, 09:00 tarihinde şunu yazdı:',
    block: 'Kimden: Ann Archer <ann@ours.example>\nGönderildi: 20 Kasım 2026 Cuma 09:00\nKime: Bob\nKonu: Merhaba',
    footer: 'Artık mesaj istemiyorsanız "listeden çıkarın" yazın.',
    away: 'İzindeyim, 3 Aralık tarihinde geri döneceğim.',
  },
  ja: {
    yes: 'はい、興味があります。お電話ください。',
    no: '申し訳ありませんが、興味はありません。',
    leave: '今後は配信停止をお願いします。',
    wrote: '2026年11月20日(金) 9:00 Ann Archer <ann@ours.example>:',
    block: '差出人: Ann Archer <ann@ours.example>\n送信日時: 2026年11月20日 9:00\n宛先: Bob\n件名: こんにちは',
    footer: '配信停止をご希望の場合はご返信ください。',
    away: '休暇をいただいております。12月3日に出社いたします。',
  },
  zh: {
    yes: '你好，我们很感兴趣，请给我打电话。',
    no: '谢谢，我们不感兴趣。',
    leave: '请退订，不要再发了。',
    wrote: 'Ann Archer <ann@ours.example> 于2026年11月20日周五 09:00写道：',
    block: '发件人: Ann Archer <ann@ours.example>\n发送时间: 2026年11月20日 9:00\n收件人: Bob\n主题: 你好',
    footer: '如需退订，请回复。',
    away: '我正在休假，12月3日回来。',
  },
};

test('most of the plainest requests to be left out are carried out at once', (t) => {
  const all = Object.values(LANGUAGES).map(({ leave }) => replyIntent(leave, '').unsubscribeRequest);
  const asked = all.filter((one) => one).length;
  t.true(asked >= 0.85 * all.length, `${asked} of ${all.length}`);
});

const RECEIVED = new Date('2026-11-21T10:00:00Z');

/** Builds a plain text message by a person, or by a machine on their behalf. */
function message(text: string, headers: Record<string, string> = {}): InboundMessage {
  return {
    messageId: '<r@lead.example>',
    inReplyTo: '<o@ours.example>',
    references: [],
    from: 'bob@lead.example',
    authors: ['bob@lead.example'],
    relatedAddresses: [],
    fromName: 'Bob',
    to: ['ann@ours.example'],
    cc: [],
    replyTo: [],
    returnPath: null,
    subject: 'Re: Hello',
    date: RECEIVED,
    text,
    html: null,
    form: 'plain',
    rawBody: '',
    contentType: 'text/plain',
    reportType: null,
    headers,
    reports: [],
    files: [],
  };
}

for (const [name, words] of Object.entries(LANGUAGES)) {
  const { yes, no, leave, wrote, block, footer, away } = words;

  test(`${name}: what is quoted goes, marked or not, under a line or a header block`, (t) => {
    t.is(stripQuoted(`${yes}\n\n${wrote}\n> Hello Bob\n> ${footer}`), yes);
    t.is(stripQuoted(`${yes}\n\n${wrote}\n\nHello Bob\n${footer}`), yes);
    t.is(stripQuoted(`${yes}\n\n${block}\n\nHello Bob\n${footer}`), yes);
    t.is(stripQuoted(`> Hello Bob\n\n${yes}`), yes);
  });

  test(`${name}: what only looks like the words of a mail program stays`, (t) => {
    const { start, told, sent, trip, heading, question } = OWN_LINES[name]!;
    for (const mine of [start, told, sent, trip, `${yes}\n—\n${question}`, `${question}\n>10 kg`]) {
      t.is(stripQuoted(mine), mine);
      for (const quote of quotesOf(words))
        for (const gap of ['\n', '\n\n']) t.is(stripQuoted(`${mine}${gap}${quote}`), mine, `${gap}${quote}`);
    }
    t.is(stripQuoted(`${heading}\n> 12\n> 15\n\n${block}\n\nHello Bob`), `${heading}\n> 12\n> 15`);
  });

  test(`${name}: interest, refusal and a request to be left out`, (t) => {
    t.is(replyIntent(yes, 'Re: Hello').intent, 'positive');
    t.is(replyIntent(no, 'Re: Hello').intent, 'negative');
    const left = replyIntent(leave, 'Re: Hello');
    t.true(left.unsubscribeRequest || left.unsubscribeDoubtful);
    for (const other of [yes, no]) t.false(replyIntent(other, '').unsubscribeRequest);
  });

  test(`${name}: our footer in a reply is no request, however it was quoted`, (t) => {
    const sent = [`Hello Bob, we build warehouses.\n\n${footer}`];
    for (const quote of [
      `${wrote}\n> Hello Bob\n> ${footer}`,
      `${footer}`,
      `Hello Bob, we build warehouses.\n${footer}`,
    ]) {
      const found = classifyInbound(message(`${yes}\n\n${quote}`), {}, RECEIVED, 'UTC', { texts: sent, subjects: [] });
      t.like(found, {
        kind: 'reply',
        intent: 'positive',
        unsubscribeRequest: false,
        unsubscribeDoubtful: false,
        ownWords: yes,
      });
    }
  });

  test(`${name}: an away note with its day of return`, (t) => {
    const found = classifyInbound(message(away, { 'auto-submitted': 'auto-replied' }), {}, RECEIVED, 'UTC');
    t.is(found.kind, 'out_of_office');
    t.is(returnDate(away, RECEIVED)?.toISOString().slice(0, 10), '2026-12-03');
  });
}

/** Returns quotes of a sent email, as several mail programs write them below a reply. */
function quotesOf({ wrote, block, footer }: Language): string[] {
  return [
    `${wrote}\n> Hello Bob\n> ${footer}`,
    `${wrote}\n\nHello Bob\n${footer}`,
    `${block}\n\nHello Bob\n${footer}`,
    `-----Original Message-----\n${block}\n\nHello Bob\n${footer}`,
    `________________________________\n${block}\n\n${footer}`,
  ];
}

test('above a quote of any form in any language every own line stays, and nothing of the quote', (t) => {
  const { values } = Object;
  const line = fc.oneof(
    fc.constantFrom(
      ...values(OWN_LINES).flatMap(({ start, told, trip, question }) => [start, told, trip, question]),
      ...values(LANGUAGES).flatMap(({ yes, no, leave }) => [yes, no, leave]),
    ),
    fc
      .array(fc.constantFrom('we', 'on', 'Am', 'le', '12.05.', '10:30', 'From', 'i', '-', '*', 'and'), {
        minLength: 4,
        maxLength: 12,
      })
      .map((words) => `Then ${words.join(' ')}.`),
  );
  const text = fc.array(fc.tuple(line, fc.constantFrom('\n', '\n\n')), { minLength: 1, maxLength: 8 });
  const quote = fc.constantFrom(...values(LANGUAGES).flatMap(quotesOf));
  fc.assert(
    fc.property(text, quote, (lines, below) => {
      const mine = lines
        .map(([words, gap]) => `${words}${gap}`)
        .join('')
        .trim();
      return stripQuoted(`${mine}\n\n${below}`) === mine && stripQuoted(`${mine}\n${below}`) === mine;
    }),
    { numRuns: 300 },
  );
  t.pass();
});
