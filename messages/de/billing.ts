/** Messages of the billing area. */
export const billing = {
  // Messages about quotes and orders of mailboxes.
  'order.not_offered': 'Diese Installation bietet keine verwalteten Postfächer an',
  'order.not_offered.fix': 'Eigene Postfächer verbinden, mit POST /v1/emails.',
  'order.provider_silent': 'Der Anbieter der Postfächer hat nicht geantwortet; nichts wurde bestellt',
  'order.provider_silent.fix': 'In einer Minute noch einmal versuchen.',
  'order.faults.fix': 'GET /v1/mailboxes/provision/providers nennt, was zu bestellen ist.',
  'order.other_approved': 'Freigegeben wurde etwas anderes als dieses Angebot',
  'quote.not_found': 'Nicht gefunden: Angebot',
  'quote.ask_again.fix': 'Ein neues einholen, mit POST /v1/mailboxes/provision/quote.',
  'quote.ordered': 'Das Angebot ist schon bestellt',
  'quote.ordered.fix': 'GET /v1/mailbox-provisioning/{order} zeigt die Bestellung.',
  'quote.expired': 'Das Angebot ist älter als 15 Minuten',
  'field.order_domain': 'muss eine Domain sein, die sich registrieren lässt, wie example.com',
  'field.order_domain_or_domains': 'darf nicht neben domains angegeben werden',
  'field.order_domain_twice': 'nennt eine Domain doppelt',
  'field.order_domain_taken': 'nennt {domain}, das sich nicht registrieren lässt',
  'field.order_too_large': 'macht die Bestellung zu groß für eine einzige Zahlung',
  'field.order_more_domains': 'darf nicht mehr Domains ({domains, number}) als Postfächer ({mailboxes, number}) nennen',
  'field.order_count': 'muss mindestens {min, number} je Bestellung sein',
  'field.order_count_most': 'darf höchstens {max, number} je Bestellung sein',

  // Reasons for a failed order.
  'order.payment_expired': 'Es wurde nicht rechtzeitig bezahlt',
  'order.payment_expired.fix': 'Ein neues Angebot einholen und noch einmal bestellen.',
  'order.payment_failed': 'Die Zahlung wurde abgelehnt',
  'order.payment_failed.fix': 'Mit einem anderen Zahlungsmittel noch einmal bestellen.',
  'order.subscription_ended': 'Das Abonnement ist zu Ende, also enden auch die Postfächer',
  'order.subscription_ended.fix': 'Neue Postfächer bestellen.',
  'order.month_unpaid': 'Ein Monat der Bestellung wurde nicht bezahlt; ihre Postfächer sind angehalten',
  'order.month_unpaid.fix': 'Die gemailte Rechnung bezahlen; dann senden die Postfächer wieder.',
  'order.domain_taken': 'Inzwischen hat jemand anders eine Domain registriert',
  'order.refused': 'Der Anbieter lehnte einen Schritt der Bestellung ab ({code})',
  'order.refused.fix': 'Nichts wird berechnet: Die Zahlung wird erstattet. Ein neues Angebot einholen.',
  'order.provider_gone': 'Der Anbieter antwortete zu lange nicht',
  'order.provider_gone.fix': 'Nichts wird berechnet: Die Zahlung wird erstattet. Später noch einmal bestellen.',
  'order.domain_gone': 'Keine Domain der Bestellung ist mehr registriert',
  'order.domain_gone.fix': 'Postfächer auf einer anderen Domain bestellen. Der laufende Monat wird erstattet.',

  // Messages about domain renewals, refunds and payments.
  'renewal.not_eligible': 'Mit der Bestellung der Domain ist etwas offen, darum wird sie nicht verlängert',
  'renewal.not_eligible.fix':
    'Klären, was bei der Bestellung steht (GET /v1/mailbox-provisioning/:id); sie wird jeden Tag neu geprüft.',
  'renewal.payment_declined': 'Die Verlängerung ließ sich nicht vom hinterlegten Zahlungsmittel abbuchen ({code})',
  'renewal.payment_required': 'Die Verlängerung ließ sich nicht vom gespeicherten Zahlungsmittel abbuchen',
  'renewal.payment_required.fix':
    'Unter checkout_url bezahlen, bevor die Registrierung endet; bis 30 Tage danach gibt eine Zahlung die Postfächer wieder frei.',
  'renewal.request_failed': 'Der Anbieter nannte tagelang keinen Preis der Verlängerung',
  'renewal.request_failed.fix': 'Die Betreiber fragen, ob der Anbieter erreichbar ist. Heron fragt jeden Tag neu an.',
  'renewal.refused': 'Der Anbieter verlängert die Domain nicht; Bezahltes wird erstattet',
  'renewal.refused_because': 'Der Anbieter verlängert die Domain nicht ({code}); Bezahltes wird erstattet',
  'renewal.refused.fix':
    'Den Anbieter nach dem Grund fragen, dann die Arbeit neu starten (POST /v1/tasks/dlq/:id/replay).',
  'renewal.failed': 'Die Verlängerung ist bezahlt, und der Anbieter bestätigt sie seit Tagen nicht',
  'renewal.failed.fix':
    'Die Betreiber bitten, beim Anbieter nachzufragen. Heron fragt jeden Tag neu an und erstattet die Zahlung, wenn die Domain endet.',
  'refund.refused': 'Die Erstattung kam nicht zustande ({code}): {reason}',
  'refund.refused.fix':
    'Die Zahlung beim Zahlungsanbieter erstatten, der es dann Heron meldet. Oder die Arbeit neu starten, um die Erstattung noch einmal anzufordern.',
  'refund.no_payment': 'der Anbieter kennt keine Zahlung',
  'refund.not_through': 'die Erstattung ging nicht durch',
  'refund.late': 'sie geschah nicht in zwei Wochen',
  'order.undo_failed': 'Was die Bestellung beim Anbieter angelegt hat, ließ sich nicht entfernen ({code})',
  'payments.none': 'Diese Installation nimmt keine Zahlungen an',
  'payments.unsigned': 'Das Ereignis hat keine gültige Signatur',
  'payments.unsigned.fix':
    'STRIPE_WEBHOOK_SECRET mit dem Signing Secret des Webhooks bei Stripe vergleichen und die Uhr dieses Rechners prüfen.',

  // Line items of orders and payments.
  'line.mailboxes': 'Postfächer ({provider})',
  'line.warmup': 'Aufwärmen',
  'line.domain': 'Domain {domain}, ein Jahr',
  'line.renewal': 'Verlängerung von {domain}',
  'line.processing': 'Zahlungsabwicklung',
  'line.another_month': 'Ein weiterer Monat',
  'price.monthly': '{price} im Monat',
  'price.order_line_monthly': '{quantity, number} × {label}: {price} im Monat',
  'price.order_line_once': '{quantity, number} × {label}: {price} einmalig',
  'domain.new': '{domain} (neu)',
  'refund.bank': 'die Bank hat sie nicht angenommen',
};
