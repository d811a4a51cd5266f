import type { meetings as en } from '../en/meetings.ts';

export const meetings: Record<keyof typeof en, string> = {
  'meetings.lead': 'Was über verbundene Kalender mit dir vereinbart wurde.',
  'meetings.which': 'Welche Termine',
  'meetings.upcoming': 'Kommende',
  'meetings.past': 'Vergangene',
  'meetings.from': 'Von',
  'meetings.to': 'Bis',
  'meetings.zone': 'Zeitzone',
  'meetings.none': 'Kein Termin an diesen Tagen',
  'meetings.empty.upcoming': 'Kein Termin steht an',
  'meetings.empty.past': 'Bisher kein Termin',
  'meetings.empty.why':
    'Verbinde Calendly oder Cal.com: Wer dort bucht, erscheint hier, und Kampagnen hören auf, ihm zu schreiben.',
  'meetings.connect': 'Zu den Integrationen',
  'meetings.noTime': 'Ohne Zeit',
  'meetings.campaign': 'Kampagne',
  'meetings.join': 'Teilnehmen',
  'meetings.move': 'Verschieben',
  'meetings.cancel': 'Absagen',
  'meetings.status.booked': 'Gebucht',
  'meetings.status.rescheduled': 'Verschoben',
  'meetings.status.canceled': 'Abgesagt',
  'meetings.status.completed': 'Stattgefunden',
  'meetings.status.no_show': 'Niemand kam',
};
