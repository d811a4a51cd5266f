/** Texts of the emails that the installation sends to its users. */
export const mails = {
  // Emails about accounts.
  'mail.ignore': 'Wenn du das nicht warst, brauchst du nichts zu tun: Es hat sich nichts geändert.',
  'mail.sign_in_code.subject': '{code} ist dein Code zum Anmelden',
  'mail.sign_in_code': 'Dein Code zum Anmelden ist',
  'mail.sign_up_code.subject': '{code} ist dein Code für die Registrierung',
  'mail.sign_up_code': 'Dein Code für die Registrierung ist',
  'mail.code_lasts': 'Er gilt {minutes, plural, one {# Minute} other {# Minuten}} und nur einmal.',
  'mail.reset.subject': 'Neues Passwort setzen',
  'mail.reset': 'Setze hier ein neues Passwort:',
  'mail.reset_lasts': 'Der Link gilt {minutes, plural, one {# Minute} other {# Minuten}} und nur einmal.',
  'mail.no_account.subject': 'Für diese Adresse gibt es kein Konto',
  'mail.no_account':
    'Jemand hat für diese Adresse auf {url} ein neues Passwort verlangt, aber sie hat dort kein Konto.',
  'mail.invitation.subject': 'Du bist zu {workspace} eingeladen',
  'mail.invitation':
    'Du bist in den Arbeitsbereich {workspace} eingeladen. Nimm hier innerhalb von {days, plural, one {# Tag} other {# Tagen}} an:',
  'mail.invitation_unknown': 'Wenn du den Arbeitsbereich nicht kennst, brauchst du nichts zu tun.',
  // Emails about the deletion of a workspace or an account.
  'mail.workspace_deletion.scheduled.subject': '{workspace} wird am {at, date, day} gelöscht',
  'mail.workspace_deletion.reminder.subject': '{workspace} wird morgen gelöscht',
  'mail.workspace_deletion':
    'Der Arbeitsbereich {workspace} wird am {at, date, moment} mit allem darin gelöscht. Bis dahin wird nichts gesendet, und API-Schlüssel werden abgelehnt. Mitglieder können lesen und exportieren.',
  'mail.workspace_deletion.done.subject': '{workspace} wurde gelöscht',
  'mail.workspace_deletion.done':
    'Der Arbeitsbereich {workspace} wurde mit allem darin gelöscht. Nichts lässt sich wiederherstellen.',
  'mail.account_deletion.scheduled.subject': 'Dein Konto wird am {at, date, day} gelöscht',
  'mail.account_deletion.reminder.subject': 'Dein Konto wird morgen gelöscht',
  'mail.account_deletion':
    'Dein Konto wird am {at, date, moment} gelöscht, und mit ihm die Arbeitsbereiche, in denen nur du bist. Deine Arbeit in anderen Arbeitsbereichen bleibt dort ohne deinen Namen.',
  'mail.account_deletion.done.subject': 'Dein Konto wurde gelöscht',
  'mail.account_deletion.done': 'Dein Konto wurde gelöscht. Nichts lässt sich wiederherstellen.',
  'mail.deletion_call_back': 'Um die Löschung aufzuhalten, melde dich bis dahin an und wähle Behalten:',

  'mail.workspace_export.subject': 'Die Daten von {workspace} sind bereit',
  'mail.workspace_export':
    'Der Export des Arbeitsbereichs {workspace} ist bereit. Melde dich an und lade ihn hier innerhalb von {days, plural, one {# Tag} other {# Tagen}} herunter:',
  'mail.workspace_export_unknown':
    'Wenn du nicht danach gefragt hast, sage der Inhaberin oder dem Inhaber des Arbeitsbereichs Bescheid.',
  // Emails about replies that threaten legal steps.
  'mail.legal_threat.subject': 'Eine Antwort an {workspace} droht mit rechtlichen Schritten',
  'mail.legal_threat':
    '{sender} hat auf eine E-Mail des Arbeitsbereichs {workspace} geantwortet und spricht von rechtlichen Schritten. Der Betreff lautet „{subject}“. Heron sendet keine weitere E-Mail an diese Adresse.',
  'mail.legal_threat_link': 'Zur Unterhaltung:',

  // Emails about tracking domains.
  'mail.tracking_domain.subject': 'Links verwenden {domain} nicht mehr',
  'mail.tracking_domain':
    'Der Arbeitsbereich {workspace} verwendet {domain} für Links in seinen E-Mails. Eine Prüfung ist gescheitert: {cause}. Bis eine Prüfung gelingt, führen Links in neuen E-Mails über {host}. Schon gesendete E-Mails behalten ihre Links. Die Prüfung wird stündlich wiederholt.',

  // Emails about approvals.
  'mail.approval.subject': '{requester} fragt: {title}',
  'mail.approval': 'Eine Handlung wartet auf eine Freigabe, und du darfst entscheiden:',
  'mail.approval_action': 'Handlung',
  'mail.approval_requester': 'Angefragt von',
  'mail.approval_by_key': '{name}, ein API-Schlüssel des Arbeitsbereichs {workspace}',
  'mail.approval_by_application': '{name}, eine Anwendung des Arbeitsbereichs {workspace}',
  'mail.approval_recipients': 'Empfänger',
  'mail.approval_people': '{count, plural, one {# Person} other {# Personen}}',
  'mail.approval_from': 'Von',
  'mail.approval_no_mailbox': 'kein Postfach',
  'mail.approval_more_senders': '{email} und {count, number} weitere',
  'mail.approval_until': 'Entscheiden bis',
  'mail.approval_reasons': 'Gründe',
  'mail.approval_link':
    'Das Öffnen des Links entscheidet nichts. Du meldest dich an, siehst den genauen Inhalt, und gibst ihn frei oder lehnst ihn ab.',
  'mail.approval_button': 'Ansehen und entscheiden',
  'mail.approval_last':
    'Du hast so viele dieser E-Mails bekommen, wie es in einer Stunde gibt. Bis {at, date, moment} UTC stehen weitere nur in der Liste der Freigaben.',
  'mail.moment': '{at, date, moment} UTC',
};
