export const deletion = {
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
