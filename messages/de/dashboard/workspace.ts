export const workspace = {
  'workspace.logo': 'Logo',
  'workspace.logo.why': 'PNG, JPEG oder WebP, höchstens 200 kB. Mitglieder sehen es in der Navigation.',
  'workspace.logo.choose': 'Logo wählen',
  'workspace.logo.remove': 'Logo entfernen',
  'workspace.rules': 'Regeln der Anmeldung',
  'workspace.rules.domains': 'Domains der Mitglieder',
  'workspace.rules.domains.why': 'Nur Adressen bei diesen Domains können eingeladen werden und beitreten.',
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
  'deletion.workspace.ask': '{name} löschen?',
  'deletion.workspace.what':
    'Kampagnen, Warmup und Automationen werden angehalten, Läufe und Freigaben enden, und nicht gesendete E-Mails werden abgebrochen. API-Schlüssel und Anwendungen werden abgelehnt. Mitglieder können lesen und exportieren. Nach 14 Tagen wird alles darin gelöscht und lässt sich nicht wiederherstellen.',
  'deletion.workspace.type': 'Zur Bestätigung {name} eingeben',
  'deletion.workspace.scheduled': 'Die Löschung ist geplant',
  'deletion.account.ask': 'Dein Konto löschen?',
  'deletion.account.what':
    'Arbeitsbereiche, in denen nur du bist, halten sofort an und werden nach 14 Tagen mit deinem Konto gelöscht. Was du in anderen Arbeitsbereichen gemacht hast, bleibt dort ohne deinen Namen.',
  'deletion.account.scheduled': 'Die Löschung ist geplant',
  'deletion.workspace.do': 'Arbeitsbereich löschen',
  'deletion.account.do': 'Konto löschen',
  'deletion.account.password': 'Aktuelles Passwort',
};
