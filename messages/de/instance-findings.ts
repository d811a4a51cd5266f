/** Findings about the installation: `finding.<code>`, with `.title` and `.fix`. */
export const instanceFindings = {
  'finding.secret_published_default.title': 'Ein Geheimnis steht im veröffentlichten Quelltext',
  'finding.secret_published_default': '{names}: Der veröffentlichte Wert ist in Gebrauch',
  'finding.secret_published_default.fix': 'Einen eigenen Wert setzen.',
  'finding.allow_insecure_defaults.title': 'Veröffentlichte Geheimnisse werden geduldet',
  'finding.allow_insecure_defaults': 'ALLOW_INSECURE_DEFAULTS ist gesetzt',
  'finding.allow_insecure_defaults.fix':
    'ALLOW_INSECURE_DEFAULTS entfernen; es ist für einen Versuch hinter einer Firewall.',
  'finding.credentials_key_unset.title': 'Gespeicherte Zugangsdaten haben keinen eigenen Schlüssel',
  'finding.credentials_key_unset':
    'CREDENTIALS_ENCRYPTION_KEY ist nicht gesetzt: Passwörter von Postfächern sind mit einem Schlüssel versiegelt, den jeder hat',
  'finding.credentials_key_unset.fix':
    'CREDENTIALS_ENCRYPTION_KEY auf 64 zufällige Hexadezimalzeichen setzen, dann `heron rotate-keys` ausführen.',
  'finding.internal_token_unset.title': 'Die Überwachung hat kein Token',
  'finding.internal_token_unset': 'METRICS_TOKEN ist nicht gesetzt, darum antwortet /metrics niemandem',
  'finding.internal_token_unset.fix': 'METRICS_TOKEN setzen und Prometheus es als Bearer senden lassen.',
  'finding.trusted_proxies_unset.title': 'Proxys sind nicht benannt',
  'finding.trusted_proxies_unset':
    'TRUSTED_PROXIES ist nicht gesetzt: Hinter einem Proxy zählen alle als eine Adresse, bei Limits, bei Einschränkungen von Schlüsseln und im Protokoll',
  'finding.trusted_proxies_unset.fix':
    'TRUSTED_PROXIES auf die Adressen der Proxys setzen, oder auf none, wenn es keinen gibt.',
  'finding.captcha_misconfigured.title': 'Ein Captcha ist eingestellt, und keines wird verlangt',
  'finding.captcha_misconfigured': '{names}: gesetzt, und keine Einstellung von Heron',
  'finding.captcha_misconfigured.fix':
    'Die Einstellung entfernen und Roboter von einem Proxy oder einer Firewall bremsen lassen: Diese Version prüft kein Captcha. Die Anmeldung ist von selbst gedrosselt.',
  'finding.turnstile_bypass_set.title': 'Ein Weg um das Captcha herum ist eingestellt',
  'finding.turnstile_bypass_set': '{names}: gesetzt, und keine Einstellung von Heron',
  'finding.turnstile_bypass_set.fix':
    'Die Einstellung entfernen. Ein Geheimnis, das Roboter einlässt, darf nicht in der Umgebung bleiben, und diese Version verwendet es nicht.',
  'finding.dev_mode_public.title': 'Eine Entwicklungsinstallation hat öffentliche Adressen',
  'finding.dev_mode_public': 'APP_ENV ist dev, und Heron ist unter {addresses} zu erreichen',
  'finding.dev_mode_public.fix':
    'APP_ENV=prod setzen; das verweigert veröffentlichte Geheimnisse und was nur die Entwicklung braucht.',
  'finding.unsafe_webhook_urls.title': 'Anfragen dürfen an Adressen im eigenen Netz gehen',
  'finding.unsafe_webhook_urls':
    'ALLOW_UNSAFE_WEBHOOK_URLS ist gesetzt: Webhooks und App-Aktionen dürfen jedes Schema, jeden Server und jeden Port verwenden',
  'finding.unsafe_webhook_urls.fix': 'ALLOW_UNSAFE_WEBHOOK_URLS entfernen; es ist für die Entwicklung.',
  'finding.tls_verification_off.title': 'Zertifikate werden nicht geprüft',
  'finding.tls_verification_off': 'Mit NODE_TLS_REJECT_UNAUTHORIZED=0 vertraut jede ausgehende Verbindung jedem',
  'finding.tls_verification_off.fix':
    'NODE_TLS_REJECT_UNAUTHORIZED entfernen; eine eigene Zertifizierungsstelle mit NODE_EXTRA_CA_CERTS angeben.',
  'finding.app_url_unset.title': 'Links in E-Mails führen auf diesen Rechner',
  'finding.app_url_unset': 'Links in E-Mails beginnen mit {addresses}; das erreicht nur dieser Rechner',
  'finding.app_url_unset.fix':
    'APP_URL und TRACKING_DOMAIN auf die Adressen setzen, unter denen Heron zu erreichen ist.',
  'finding.app_url_insecure.title': 'Heron wird unverschlüsselt erreicht',
  'finding.app_url_insecure': 'Passwörter und Schlüssel gehen unverschlüsselt an {addresses}',
  'finding.app_url_insecure.fix': 'TLS davorsetzen und https-Adressen verwenden.',
  'finding.app_url_host_mismatch.title': 'Seiten und API liegen auf verschiedenen Websites',
  'finding.app_url_host_mismatch': 'APP_URL ist {app}, und API_PUBLIC_URL ist {api}',
  'finding.app_url_host_mismatch.fix':
    'Die Seiten, auf die E-Mails verlinken, kommen von der API: APP_URL dorthin führen lassen.',
  'finding.cors_missing_origin.title': 'Die Anwendung darf die API nicht aus dem Browser aufrufen',
  'finding.cors_missing_origin': 'CORS_ALLOW_ORIGINS nennt {origin} nicht, wo nach APP_URL die Anwendung ist',
  'finding.cors_missing_origin.fix': 'Den Ursprung von APP_URL in CORS_ALLOW_ORIGINS aufnehmen.',
  'finding.api_public_url_unset_oidc.title': 'OAuth-Anwendungen bekommen die Adresse dieses Rechners',
  'finding.api_public_url_unset_oidc': 'API_PUBLIC_URL ist nicht gesetzt: Anwendungen werden zu {api} geschickt',
  'finding.api_public_url_unset_oidc.fix':
    'API_PUBLIC_URL setzen: Es ist der Aussteller in den OAuth-Metadaten, und dort finden MCP-Clients die API.',
  'finding.oidc_discovery_failed.title': 'OAuth-Anwendungen finden die API nicht',
  'finding.oidc_discovery_failed': '{error}',
  'finding.oidc_discovery_failed.fix': 'API_PUBLIC_URL zum API-Prozess führen lassen, auch /.well-known/.',
  'finding.app_origin_wildcard.title': 'Jede Website ist als erlaubt für die API genannt',
  'finding.app_origin_wildcard': 'CORS_ALLOW_ORIGINS enthält *',
  'finding.app_origin_wildcard.fix': 'Die Ursprünge in CORS_ALLOW_ORIGINS einzeln nennen; * steht für keinen.',
  'finding.tracking_domain_unreachable.title': 'Öffnungen, Klicks und Abmeldungen kommen nicht an',
  'finding.tracking_domain_unreachable': '{error}',
  'finding.tracking_domain_unreachable.fix': 'TRACKING_DOMAIN zum Tracking-Prozess führen lassen.',
  'finding.mail_transport_log.title': 'E-Mails der Installation werden nicht gesendet',
  'finding.mail_transport_log':
    'MAIL_TRANSPORT ist log: Anmeldecodes, Einladungen und neue Passwörter werden nicht gesendet, sondern ins Protokoll geschrieben',
  'finding.mail_transport_log.fix': 'MAIL_TRANSPORT=smtp und SMTP_HOST setzen.',
  'finding.mail_preflight_failed.title': 'Der Mailserver lässt Heron nicht ein',
  'finding.mail_preflight_failed': '{error}',
  'finding.mail_preflight_failed.fix':
    'SMTP_HOST, SMTP_PORT, SMTP_SECURITY, SMTP_USERNAME und SMTP_PASSWORD prüfen; `heron doctor --mail-to` sendet eine Test-E-Mail.',
  'finding.mail_identity_unset.title': 'E-Mails der Installation haben keinen Absender',
  'finding.mail_identity_unset': 'MAIL_FROM ist {from}',
  'finding.mail_identity_unset.fix':
    'MAIL_FROM auf eine Adresse der eigenen Domain setzen: Den Vorgabewert lehnen Mailserver ab.',
  'finding.mail_from_domain_mismatch.title': 'E-Mails kommen von einer anderen Domain als ihre Links',
  'finding.mail_from_domain_mismatch': 'MAIL_FROM ist {from}, und die Links führen zu {app}',
  'finding.mail_from_domain_mismatch.fix':
    'Filter vertrauen E-Mails mehr, wenn MAIL_FROM und APP_URL zu einer Domain gehören.',
  'finding.login_code_demoted.title': 'Anmeldecodes werden nicht gemailt',
  'finding.login_code_demoted': 'AUTH_LOGIN_CODE ist new_device, und die Codes stehen nur im Protokoll',
  'finding.login_code_demoted.fix': 'MAIL_TRANSPORT=smtp setzen, oder AUTH_LOGIN_CODE=off.',
  'finding.update_available.title': 'Es gibt eine neuere Version',
  'finding.update_available': '{newest} ist da, und dies ist {running}',
  'finding.update_available.fix': 'Ihre Hinweise lesen, dann den Schritten für neue Versionen folgen.',
  'finding.updater_unreachable.title': 'Die Versionen lassen sich nicht nachsehen',
  'finding.updater_unreachable': '{url} nennt keine Version',
  'finding.updater_unreachable.fix': 'UPDATE_FEED_URL prüfen, und ob der API-Prozess dorthin kommt.',
  'finding.registration_mode.title': 'Jeder darf ein Konto anlegen',
  'finding.registration_mode':
    'DISABLE_REGISTRATION ist false: Wer die API erreicht, darf ein Konto und einen Arbeitsbereich anlegen',
  'finding.registration_mode.fix': 'Ist das nicht gewollt, DISABLE_REGISTRATION=invite_only oder true setzen.',
  'finding.no_sign_in_method.title': 'Niemand kann sich anmelden',
  'finding.no_sign_in_method': 'AUTH_LOGIN_CODE ist always, und die Codes stehen nur im Protokoll',
  'finding.no_sign_in_method.fix':
    'Jede Anmeldung braucht einen gemailten Code: MAIL_TRANSPORT=smtp setzen, oder AUTH_LOGIN_CODE=off.',
  'finding.google_sign_in_incomplete.title': 'Die Anmeldung mit Google ist eingestellt und wird nicht angeboten',
  'finding.google_sign_in_incomplete': '{names}: gesetzt, und keine Einstellung von Heron',
  'finding.google_sign_in_incomplete.fix':
    'Die Einstellungen entfernen: In dieser Version meldet man sich mit Passwort und gemailtem Code an.',
  'finding.apple_sign_in_incomplete.title': 'Die Anmeldung mit Apple ist eingestellt und wird nicht angeboten',
  'finding.apple_sign_in_incomplete': '{names}: gesetzt, und keine Einstellung von Heron',
  'finding.apple_sign_in_incomplete.fix':
    'Die Einstellungen entfernen: In dieser Version meldet man sich mit Passwort und gemailtem Code an.',
  'finding.single_platform_admin.title': 'Eine Person allein verwaltet die Installation',
  'finding.single_platform_admin': 'Ein Konto verwaltet die Installation',
  'finding.single_platform_admin.fix': 'Mit `heron admin add <email>` eine zweite Person ernennen.',
  'finding.bootstrap_password_still_set.title': 'Ein vom Betreiber gewähltes Passwort ist in Gebrauch',
  'finding.bootstrap_password_still_set':
    '{count, plural, one {Ein Konto} other {# Konten}} mit dem Passwort, das `heron bootstrap` vergab',
  'finding.bootstrap_password_still_set.fix':
    'Diese Menschen ein eigenes wählen lassen, über das Zurücksetzen des Passworts.',
  'finding.setup_link_outstanding.title': 'Die Installation wartet auf ihr erstes Konto',
  'finding.setup_link_outstanding': 'Es gibt kein Konto, und ein Einrichtungslink gilt',
  'finding.setup_link_outstanding.fix':
    'Den Einrichtungslink aus dem Protokoll des API-Prozesses öffnen: Wer ihn hat, wird Verwalter.',
  'finding.expired_invitations.title': 'Einladungen sind ungenutzt abgelaufen',
  'finding.expired_invitations':
    '{count, plural, one {Eine offene Einladung} other {# offene Einladungen}} nach Ablauf der Frist',
  'finding.expired_invitations.fix': 'Diese Menschen noch einmal einladen oder ihre Einladungen zurückziehen.',
  'finding.no_worker_heartbeat.title': 'Arbeit bleibt liegen',
  'finding.no_worker_heartbeat.part.title': 'Arbeit bleibt liegen',
  'finding.no_worker_heartbeat': 'Kein Worker-Prozess läuft',
  'finding.no_worker_heartbeat.part': 'Kein Worker-Prozess übernimmt {roles}',
  'finding.no_worker_heartbeat.fix': 'Worker-Prozesse für diese Teile starten und ihr Protokoll ansehen.',
  'finding.no_worker_heartbeat.part.fix': 'Worker-Prozesse für diese Teile starten und ihr Protokoll ansehen.',
  'finding.tracking_domain_shares_brand.title': 'Das Tracking nutzt die Domain der Marke',
  'finding.tracking_domain_shares_brand': 'TRACKING_DOMAIN ist {domain}',
  'finding.tracking_domain_shares_brand.fix':
    'Für TRACKING_DOMAIN eine eigene Domain verwenden, damit Einwände von Filtern gegen ihre Links nicht die Hauptdomain treffen.',
  'finding.fleet_infra_unreachable.title': 'Temporal antwortet nicht',
  'finding.fleet_infra_unreachable': '{error}',
  'finding.fleet_infra_unreachable.fix':
    'TEMPORAL_ADDRESS, TEMPORAL_TLS und TEMPORAL_API_KEY prüfen, und ob Temporal läuft.',
  'finding.codec_registry.title': 'Prozesse haben verschiedene Schlüssel für das, was Temporal aufbewahrt',
  'finding.codec_registry': 'Dieser Prozess hat die Schlüssel {ours} von CODEC_KEYS, ein Worker hat {theirs}',
  'finding.codec_registry.fix':
    'Jedem Prozess dieselben CODEC_KEYS geben und alle neu starten. Sonst bleibt ein Workflow, den einer geschrieben hat, in den anderen stehen.',
  'finding.migrations_dirty.title': 'Das Datenbankschema passt nicht zu diesem Stand',
  'finding.migrations_dirty':
    '{count, plural, one {Eine Migration steht} other {# Migrationen stehen}} aus, ab {first}',
  'finding.migrations_dirty.fix': '`heron migrate` ausführen.',
  'finding.warmup_pools_missing.title': 'Postfächer haben niemanden zum Aufwärmen',
  'finding.warmup_pools_missing':
    '{count, plural, one {Ein Arbeitsbereich} other {# Arbeitsbereiche}} mit nur einem Postfach, das sich aufwärmt',
  'finding.warmup_pools_missing.fix': 'Im Arbeitsbereich zwei oder mehr Postfächer aufwärmen.',
  'finding.facts_incomplete.title': 'Berichte zählen E-Mails einzeln',
  'finding.facts_incomplete':
    'In {count, plural, one {einem Arbeitsbereich} other {# Arbeitsbereichen}} ist `heron facts rebuild` nicht zu Ende',
  'finding.facts_incomplete.fix':
    '`heron facts rebuild` noch einmal ausführen, falls es unterbrochen wurde. Bis dahin stimmen die Zahlen, aber Berichte über viele E-Mails sind langsam.',
  'finding.redis_unreachable.title': 'Redis antwortet nicht',
  'finding.redis_unreachable': '{error}',
  'finding.redis_unreachable.fix':
    'REDIS_URL prüfen. Bis Redis antwortet, zählt jeder Prozess Anfragen getrennt und hält seinen eigenen Cache.',
  'finding.blob_root_missing.title': 'Dateien lassen sich nicht speichern oder lesen',
  'finding.blob_root_missing': '{error}',
  'finding.blob_root_missing.fix':
    'Den Ordner von BLOB_ROOT für Heron schreibbar einhängen oder die BLOB_S3_-Einstellungen prüfen; neue Dateien bleiben bis dahin in PostgreSQL.',
  'finding.fleet_blobs_not_shared.title': 'Prozesse sehen nicht dieselben Dateien',
  'finding.fleet_blobs_not_shared': 'Prozesse bewahren Dateien an verschiedenen Orten auf: {places}',
  'finding.fleet_blobs_not_shared.fix':
    'Jedem API- und Worker-Prozess denselben BLOB_PROVIDER geben, bei disk mit einem gemeinsamen Laufwerk, oder s3 verwenden.',
  'finding.websocket_unreachable.title': 'Ereignisse erreichen WebSockets nicht',
  'finding.websocket_unreachable': '{error}',
  'finding.websocket_unreachable.fix': 'REALTIME_PUBLIC_URL zum Realtime-Prozess führen lassen.',
  'finding.secrets_own': 'Die Geheimnisse sind eigene',
  'finding.database_unreachable': '{error}',
  'finding.database_unreachable.fix':
    'PRIMARY_DB prüfen: Adresse, Name, Benutzer und Passwort, und ob PostgreSQL läuft.',
  'finding.database_answers': 'PostgreSQL {version} antwortet',
  'finding.database_too_old': 'PostgreSQL {version} ist zu alt',
  'finding.database_too_old.fix': 'Version 15 oder neuer verwenden.',
  'finding.database_extension_missing': 'Die Erweiterung {names} ist auf dem Server nicht installiert',
  'finding.database_extension_missing.fix': 'Das Paket contrib von PostgreSQL installieren.',
  'finding.database_role_no_tables': 'Die Rolle {role} darf keine Tabellen anlegen',
  'finding.database_role_no_tables.fix':
    '`grant create on schema public to {role}` ausführen oder sie zur Eigentümerin der Datenbank machen.',
  'finding.database_role_no_extensions': 'Die Rolle {role} darf die Erweiterung {names} nicht anlegen',
  'finding.database_role_no_extensions.fix': '`create extension {names}` einmal als Administrator ausführen.',
  'finding.database_role_superuser': 'Die Rolle {role} ist Superuser des ganzen Servers',
  'finding.database_role_superuser.fix': 'Heron eine eigene Rolle geben, der seine Datenbank gehört und sonst nichts.',
  'finding.database_role_fits': 'Die Rolle {role} darf, was Migrationen brauchen',
  'finding.schema_current': 'Das Datenbankschema passt zu diesem Stand',
  'finding.orders_balanced':
    '{currency}: {taken} eingenommen = {ready} fertig + {renewed} verlängert + {refunds} erstattet + {person} für einen Menschen + {underWay} unterwegs',
  'finding.orders_need_person': '{books}',
  'finding.orders_need_person.fix': 'Die liegengebliebene Arbeit der Arten order_refund und domain_renewal erledigen.',
  'finding.orders_unexplained': '{books}; nicht erklärt: {ids}',
  'finding.orders_unexplained.fix': 'Diese Bestellungen und Verlängerungen und ihre Zahlungen ansehen.',
  'finding.clock_agrees': 'Die Datenbank hat die Zeit dieses Rechners',
  'finding.clock_behind': 'Die Uhr der Datenbank geht gegenüber diesem Rechner {seconds} s nach',
  'finding.clock_behind.fix': 'Beide Rechner ihre Zeit über NTP stellen lassen.',
  'finding.clock_ahead': 'Die Uhr der Datenbank geht gegenüber diesem Rechner {seconds} s vor',
  'finding.clock_ahead.fix': 'Beide Rechner ihre Zeit über NTP stellen lassen.',
  'finding.temporal_answers': '{address} antwortet, mit dem Namespace {namespace}',
  'finding.temporal_namespace_unusable': 'Der Namespace {namespace} lässt sich nicht verwenden: {error}',
  'finding.temporal_namespace_unusable.fix':
    'Ihn anlegen (`temporal operator namespace create {namespace}`) oder TEMPORAL_NAMESPACE setzen.',
  'finding.workflow_tasks_fail': 'Läufe stehen still, weil ihre Workflow-Tasks fehlschlagen: {ids}',
  'finding.workflow_tasks_fail.fix':
    'In der Oberfläche von Temporal den Fehler des Tasks ansehen. Mit einem Build, der ihn behandelt, geht der Lauf von selbst weiter; sonst den Lauf beenden (Terminate), und die Wartung öffnet ihn binnen 15 Minuten neu.',
  'finding.search_attributes_present': 'Alle Suchattribute sind vorhanden',
  'finding.search_attributes_missing': 'Suchattribute fehlen: {names}',
  'finding.search_attributes_missing.fix':
    'Ein Worker legt sie an, wo er darf; sonst einmal anlegen (docs/guides/temporal.md).',
  'finding.address_unresolved': '{setting}: {host} hat keine Adresse',
  'finding.address_unresolved.fix': 'Für {host} einen A- oder AAAA-Eintrag anlegen oder {setting} berichtigen.',
  'finding.address_not_public': '{setting}: {address} ({addresses}) ist von außen nicht zu erreichen',
  'finding.address_not_public.fix': '{setting} auf einen Namen setzen, den Menschen und ihre Mailprogramme erreichen.',
  'finding.address_unencrypted': '{setting}: {address} ist nicht verschlüsselt',
  'finding.address_unencrypted.fix': 'TLS davorsetzen und {setting} auf https stellen.',
  'finding.address_resolved': '{setting}: {host} ist {addresses}',
  'finding.mail_signed_in': 'Bei {server} angemeldet',
  'finding.mail_test_taken': '{server} nahm eine Probe an {address} an',
} as const;
