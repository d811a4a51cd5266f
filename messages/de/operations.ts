/** Messages of the operations area. */
export const operations = {
  // Messages about administrators, the outbox and dead letters.
  'admin.no_account': 'Kein Konto hat die Adresse {email}',
  'admin.last': 'Die Installation braucht mindestens einen Administrator',
  'outbox.not_parked': 'Diese Absichten sind nicht zurückgestellt, und nichts wurde geändert: {ids}',
  'outbox.not_parked.fix': '`heron outbox` nennt die zurückgestellten Absichten.',
  'task.not_uncertain': 'Das kann nicht als gesendet zählen',
  'field.only_uncertain_email': 'muss again sein, wenn die Arbeit nicht vom Typ uncertain_email ist',
  'task.replayed': 'Die Arbeit wurde schon neu gestartet',
  'task.replayed.fix': 'GET /v1/tasks/dlq?status=pending nennt, was noch wartet.',
  'task.not_uncertain_any_more': 'Die E-Mail ist nicht mehr ungewiss',

  // Results of the readiness checks.
  'health.stalled': 'Hintergrundarbeit dieses Prozesses steht still: {loops}',
  'health.stalled.fix': 'Den Prozess neu starten. Sein Protokoll zeigt, worauf er gewartet hat.',
  'ready.database': 'PostgreSQL antwortet',
  'ready.database_read_only':
    'PostgreSQL antwortet, nimmt aber keine Änderungen an: Es ist ein Standby oder nur zum Lesen eingestellt',
  'ready.database.fix': 'PRIMARY_DB prüfen, und ob PostgreSQL läuft.',
  'ready.temporal': 'Temporal antwortet',
  'ready.temporal.fix': 'TEMPORAL_ADDRESS und TEMPORAL_NAMESPACE prüfen, und ob Temporal läuft.',
  'ready.workers_none': 'Kein Worker läuft',
  'ready.workers_none.fix': 'Einen Worker-Prozess mit der Rolle temporal starten.',
  'ready.workers': '{count, plural, one {# Worker läuft} other {# Worker laufen}}',
  'ready.workers_unserved': '{count, plural, one {# Worker läuft} other {# Worker laufen}}, keiner davon für {roles}',
  'ready.workers_unserved.fix': 'Einen Worker-Prozess mit der Rolle temporal oder mit {roles} starten.',
  'ready.clocks': 'Die Uhren der Worker stimmen mit PostgreSQL überein',
  'ready.clocks_differ': 'Die Uhr eines Workers weicht um {seconds, number} s von der von PostgreSQL ab',
  'ready.clocks_wrong':
    '{count, plural, one {# Worker übernimmt} other {# Worker übernehmen}} keine Arbeit: Die Uhr weicht um bis zu {seconds, number} s von der von PostgreSQL ab',
  'ready.clocks.fix':
    'Die Uhr des Rechners stellen und seinen Zeitdienst prüfen. Stimmt die Uhr, arbeitet der Worker von selbst weiter.',
  'ready.scheduler': 'Die Outbox wird rechtzeitig abgearbeitet',
  'ready.scheduler_late':
    '{count, plural, one {# Absicht wartet} other {# Absichten warten}} länger als {seconds, number} s',
  'ready.scheduler.fix': 'Einen Worker-Prozess mit der Rolle relay starten und sein Protokoll ansehen.',
  'ready.intents': 'Temporal hat jede Absicht angenommen',
  'ready.intents_parked': '{count, plural, one {# Absicht ist} other {# Absichten sind}} zurückgestellt',
  'ready.intents.fix':
    '`heron outbox` zeigt die Gründe. Geparkte Absichten werden von selbst wieder versucht, mit `heron outbox retry` sofort; `heron outbox drop` verwirft eine.',
  'ready.runs': 'Jeder Lauf, der offen sein muss, war bei der letzten Prüfung offen',
  'ready.runs_unchecked': 'Die erste Suche nach fehlenden Läufen steht noch aus',
  'ready.runs_stale': 'Die letzte Suche nach fehlenden Läufen war am {at, date, moment} (UTC)',
  'ready.runs_missing': 'Bei der letzten Prüfung fehlten Läufe und wurden neu gestartet: {families}',
  'ready.runs.fix': 'Das Protokoll der Worker ansehen; `heron reconcile` prüft noch einmal.',
  'ready.failing_runs': 'Kein Lauf steht still, weil seine Workflow-Tasks fehlschlagen',
  'ready.failing_runs_some': 'Läufe stehen still, weil ihre Workflow-Tasks fehlschlagen: {ids}',
  'ready.failing_runs.fix':
    'In der Oberfläche von Temporal den Fehler des Tasks ansehen. Mit einem Build, der ihn behandelt, geht der Lauf von selbst weiter; sonst den Lauf beenden (Terminate), und die Wartung öffnet ihn binnen 15 Minuten neu.',
  'run.kept_failing': 'Angehalten: Sie scheiterte immer wieder ({kind})',
  'ready.intake': 'Produktereignisse werden angenommen',
  'ready.intake_down': 'Produktereignisse lassen sich nicht speichern',
  'ready.stream': 'Ereignisse bekommen rechtzeitig ihre Position',
  'ready.stream_late': 'Das älteste Ereignis ohne Position ist {seconds, number} s alt',
  'ready.stream.fix': 'Einen Worker-Prozess mit der Rolle fanout starten und sein Protokoll ansehen.',
  'ready.reactions': 'Ereignisse werden rechtzeitig verarbeitet',
  'ready.reactions_late': '{subscriber} ist {seconds, number} s im Rückstand',
  'ready.reactions_failing':
    '{subscriber} scheitert in {count, plural, one {# Arbeitsbereich} other {# Arbeitsbereichen}}',
  'ready.reactions.fix':
    'Einen Worker-Prozess mit der Rolle reactions starten und sein Protokoll ansehen; `heron reactions` zeigt mehr.',
  'ready.parked': 'Kein Ereignis ist geparkt',
  'ready.parked_some': '{subscriber} hat {count, plural, one {# Ereignis} other {# Ereignisse}} zurückgestellt',
  'ready.parked.fix':
    'Sie mit `heron reactions` ansehen; dann `heron reactions replay` oder `heron reactions discard`.',

  'part.status': '{url} antwortet mit {status, number}',
  'part.silent': 'Keine Antwort in {seconds, number} s',
  'part.nats': 'NATS (NATS_URL): {error}',
  'part.no_issuer': '{url} nennt keinen Issuer',
  'part.issuer': '{url} nennt {issuer}',
  'part.no_keys': 'keine',
  'part.unmarked_place': 'PostgreSQL oder ein Ordner, den kein Worker markiert hat',
};
