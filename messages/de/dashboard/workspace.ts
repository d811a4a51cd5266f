export const workspace = {
  'workspace.data': 'Daten',
  'workspace.logo': 'Logo',
  'workspace.logo.why': 'PNG, JPEG oder WebP, höchstens 200 kB. Mitglieder sehen es in der Navigation.',
  'workspace.logo.choose': 'Logo wählen',
  'workspace.logo.remove': 'Logo entfernen',
  'workspace.rules': 'Regeln der Anmeldung',
  'workspace.rules.domains': 'Domains der Mitglieder',
  'workspace.rules.domains.why':
    'Nur Adressen bei diesen Domains können eingeladen werden und beitreten. Trenne sie mit Kommas.',
  'workspace.rules.domains.any': 'Jede Domain',
  'workspace.rules.hours': 'Stunden bis zur neuen Anmeldung',
  'workspace.rules.hours.why':
    'Ein Browser, der sich früher angemeldet hat, muss sich für diesen Arbeitsbereich neu anmelden, für keinen anderen.',
  'workspace.rules.hours.any': 'Keine Grenze',
  'workspace.rules.outside':
    '{count, plural, one {# Mitglied hat} other {# Mitglieder haben}} eine andere Domain und {count, plural, one {bleibt} other {bleiben}}',
  'workspace.export': 'Alle Daten exportieren',
  'workspace.export.why':
    'Eine Datei mit Kontakten, Kampagnen, E-Mails, Antworten, Deals und Einstellungen, ein JSON-Objekt je Zeile. Sie enthält keine Passwörter und keine Schlüssel. Du bekommst eine E-Mail, wenn sie bereit ist.',
  'workspace.export.of': 'Export vom {at}',
  'workspace.export.rows': '{count, plural, one {# Zeile} other {# Zeilen}} bisher',
  'workspace.export.ready': '{count, plural, one {# Zeile} other {# Zeilen}}, {size} kB, aufbewahrt bis {until}',
  'workspace.export.download': 'Herunterladen',
  'deletion.danger': 'Gefahrenbereich',
  'deletion.workspace.start': 'Arbeitsbereich löschen',
  'deletion.workspace.why':
    'Hält seine Arbeit sofort an. Nach 14 Tagen wird alles darin gelöscht; bis dahin kann ein Eigentümer ihn behalten.',
  'deletion.account.start': 'Konto löschen',
  'deletion.account.why':
    'Dein Konto wird nach 14 Tagen gelöscht; bis dahin kannst du dich anmelden und es behalten. Arbeitsbereiche, in denen nur du bist, werden mit ihm gelöscht.',
  'workspace.name': 'Name',
  'workspace.create': 'Arbeitsbereich anlegen',
  'workspace.new': 'Neuer Arbeitsbereich',
  'workspace.new.why': 'Er hat eigene Mitglieder, Postfächer, Kontakte und Kampagnen. Er gehört dann dir.',
  'workspace.test': 'Test-Arbeitsbereich',
  'workspace.test.why':
    'Seine E-Mails durchlaufen alles und gelten als gesendet, aber keine geht hinaus. Seine API-Schlüssel beginnen mit ssk_test_.',
};
