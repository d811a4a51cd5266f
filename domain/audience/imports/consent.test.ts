import test from 'ava';
import { consentTarget, readStatus, readSubscribed, readUnsubscribed } from './consent.ts';

test('no word that says "may not be mailed" is read as permission', (t) => {
  for (const word of [
    'FALSE',
    'no',
    '0',
    '0.0',
    '0,00',
    'unsubscribed',
    'Opted Out',
    'nein',
    'blocklisted',
    'cleaned',
    'not subscribed',
    'bounced',
    'disabled',
    'Unsubscribed (admin)',
    'ei',
    'нет',
    'Never',
    'never subscribed',
    'nicht abonniert',
    'kein Einverständnis',
    'désabonné',
    'non',
    'dado de baja',
    'disiscritto',
    'não',
    'uitgeschreven',
    'avregistrerad',
    'avmeldt',
    'afmeldt',
    'peruutettu',
    'wypisany',
    'odhlášen',
    'leiratkozott',
    'nem',
    'dezabonat',
    'odjavljen',
    'отписан',
    'відписаний',
    'όχι',
    'hayır',
    'çıkmış',
    'لا',
    'לא',
    'नहीं',
    'tidak',
    'không',
    'ไม่',
    '配信停止',
    'いいえ',
    '수신거부',
    '아니요',
    '退订',
    '否',
    '✗',
    '❌',
    'pending',
    'complained',
    'do_not_contact',
    'DoNotEmail',
    'opt-out 2024',
    'spam complaint',
  ])
    t.false(['given'].includes(readSubscribed(word)), `${word}: ${readSubscribed(word)}`);
});

test('words of permission are read in every language, and what is not understood is unclear', (t) => {
  for (const word of ['TRUE', 'yes', '1', '1.0', 'ja', 'Oui', 'sí', 'sì', 'sim', 'tak', 'ano', 'áno', 'igen', 'da', 'да', 'так', 'ναι', 'evet', 'kyllä', 'نعم', 'כן', 'हाँ', 'ya', 'có', 'ใช่', 'はい', '예', '是', '✓', 'x', 'subscribed', 'Opted In', 'opt-in', 'abonniert', 'SUBSCRIBED', 'enabled', 'not unsubscribed', ''])
    t.is(readSubscribed(word), 'given', word);
  for (const word of ['maybe', 'see notes', 'Pro', '7', 'Q3', '???']) t.is(readSubscribed(word), 'unclear', word);
});

test('a column that says yes of who must not be mailed takes dates, counts and states', (t) => {
  for (const word of ['1', 'TRUE', 'yes', 'x', '2025-11-03', '03.11.2025', '2025-11-03T10:00:00Z', 'Opted out', 'DNC', '3'])
    t.is(readUnsubscribed(word), 'opted_out', word);
  for (const word of ['', '0', 'false', 'no', 'never', 'n/a', '-', 'subscribed', '0000-00-00 00:00:00', 'null'])
    t.is(readUnsubscribed(word), 'given', word);
  t.is(readUnsubscribed('too many emails'), 'unclear');
  t.is(readUnsubscribed('550 5.1.1 no such user', 'bounced'), 'bounced');
  t.is(readUnsubscribed('0', 'bounced'), 'given');
});

test('of a column of states only words that forbid mail count', (t) => {
  t.is(readStatus('Unsubscribed'), 'opted_out');
  t.is(readStatus('emailsUnsubscribed'), 'opted_out');
  t.is(readStatus('Do Not Contact'), 'opted_out');
  t.is(readStatus('Bounced'), 'bounced');
  for (const word of ['Completed', 'Open - Not Contacted', 'CA', 'Interested', '']) t.is(readStatus(word), 'given', word);
});

test('headers that speak of permission are told in every language', (t) => {
  for (const header of ['Email Opt Out', 'Unsubscribed', 'Do Not Email', 'DNC', 'Opted Out', 'opted_out', 'HasOptedOutOfEmail', 'Unsubscribed from all email', 'Opted out of email: Newsletter', 'UNSUB_TIME', 'is_unsubscribed', 'isUnsubscribed', 'Unsubscribed At', 'Do Not Contact', 'Email blacklisted', 'EMAIL_BLACKLISTED', 'Blocklisted', 'Suppressed', 'No newsletter', 'Not subscribed', 'Global Unsubscribe', 'Marked as spam', 'Abgemeldet', 'Werbesperre', 'Keine E-Mails', 'Nicht anschreiben', 'Keine Einwilligung', 'Désabonné', 'Désinscription', 'Ne pas contacter', 'Dado de baja', 'No contactar', 'Disiscritto', 'Non contattare', 'Descadastrado', 'Não contatar', 'Uitgeschreven', 'Niet mailen', 'Avregistrerad', 'Kontakta ej', 'Avmeldt', 'Må ikke kontaktes', 'Afmeldt', 'Frabedt', 'Markkinointikielto', 'Peruutettu', 'Wypisany', 'Nie kontaktować', 'Brak zgody', 'Odhlášen', 'Nekontaktovat', 'Nekontaktovať', 'Leiratkozott', 'Dezabonat', 'Nu contactați', 'Odjavljen', 'Отписан', 'Не писать', 'Відписаний', 'Διαγραμμένος', 'Abonelikten çıktı', 'İletişime geçme', 'إلغاء الاشتراك', 'לא לשלוח', 'सदस्यता समाप्त', 'Berhenti berlangganan', 'Hủy đăng ký', 'Không liên hệ', 'ยกเลิกการสมัคร', 'ห้ามติดต่อ', '配信停止', 'メール不可', '수신거부', '退订', '請勿聯絡'])
    t.is(consentTarget(header), 'unsubscribed', header);
  for (const header of ['Bounced', 'Email Bounced', 'is_bounced', 'EmailBouncedReason', 'Email hard bounce reason', 'CLEAN_TIME', 'Unzustellbar', 'Rebotado', 'バウンス', '退信'])
    t.is(consentTarget(header), 'bounced', header);
  for (const header of ['subscribed', 'Opt-in', 'optin', 'Accepts Email Marketing', 'Marketing consent', 'Email Marketing Consent', 'Subscription status', 'Marketing contact status', 'Newsletter', 'Einwilligung', 'Abonné', 'Suscrito', 'Consenso', 'Zgoda', 'Souhlas', 'Согласие', 'İzin', '購読', '수신동의', '订阅'])
    t.is(consentTarget(header), 'subscribed', header);
  for (const header of ['Do Not Call', 'Unsubscribe link', 'unsubscribe_url', 'Bounce rate', 'OPTIN_TIME', 'OPTIN_IP', 'Status', 'State', 'Company', 'Notes', 'Plan', 'City', 'Soft bounces', 'SMS opt-out', 'UNSUB_CAMPAIGN_TITLE', 'Last Order', 'Département', 'California Office'])
    t.is(consentTarget(header), undefined, header);
});
