/** Messages of the billing area. */
export const billing = {
  // Messages about quotes and orders of mailboxes.
  'order.not_offered': 'This installation does not offer managed mailboxes',
  'order.not_offered.fix': 'Connect mailboxes of your own with POST /v1/emails.',
  'order.provider_silent': 'The provider of mailboxes did not answer; nothing was ordered',
  'order.provider_silent.fix': 'Try again in a minute.',
  'order.faults.fix': 'GET /v1/mailboxes/provision/providers lists what can be ordered.',
  'order.other_approved': 'The content of the quote differs from the approved content',
  'quote.not_found': 'Quote not found',
  'quote.ask_again.fix': 'Request another quote with POST /v1/mailboxes/provision/quote.',
  'quote.ordered': 'The quote has already been ordered',
  'quote.ordered.fix': 'GET /v1/mailbox-provisioning/{order} shows the order.',
  'quote.expired': 'The quote is older than 15 minutes',
  'field.order_domain': 'must be a domain that can be registered, such as example.com',
  'field.order_domain_or_domains': 'must not be given beside domains',
  'field.order_domain_twice': 'names a domain twice',
  'field.order_domain_taken': 'names {domain}, which cannot be registered',
  'field.order_too_large': 'makes the order too large to be paid at once',
  'field.order_more_domains': 'must not name more domains ({domains, number}) than mailboxes ({mailboxes, number})',
  'field.order_count': 'must be at least {min, number} in one order',
  'field.order_count_most': 'must be at most {max, number} in one order',

  // Reasons for a failed order.
  'order.payment_expired': 'The checkout was not paid in time',
  'order.payment_expired.fix': 'Ask for another quote and order again.',
  'order.payment_failed': 'The payment was refused',
  'order.payment_failed.fix': 'Order again with another method of payment.',
  'order.subscription_ended': 'The subscription has ended, so the mailboxes end too',
  'order.subscription_ended.fix': 'Order mailboxes again to continue.',
  'order.month_unpaid': 'A month of the order was not paid; its mailboxes are held',
  'order.month_unpaid.fix': 'Pay the invoice that the payment provider has emailed; the mailboxes then send again.',
  'order.domain_taken': 'Somebody else has registered a domain of the order in the meantime',
  'order.refused': 'The provider refused a step of the order ({code})',
  'order.refused.fix': 'Nothing is charged: the payment is refunded. Ask for another quote.',
  'order.provider_gone': 'The provider did not answer for too long',
  'order.provider_gone.fix': 'Nothing is charged: the payment is refunded. Order again later.',
  'order.domain_gone': 'No domain of the order is registered any more',
  'order.domain_gone.fix': 'Order mailboxes on another domain. The current month is refunded.',

  // Messages about domain renewals, refunds and payments.
  'renewal.not_eligible': 'The order of the domain has an open problem, so the domain is not renewed',
  'renewal.not_eligible.fix':
    'Settle the error of the order (GET /v1/mailbox-provisioning/:id); it is checked again every day.',
  'renewal.payment_declined': 'The renewal could not be charged to the saved method of payment ({code})',
  'renewal.payment_required': 'The renewal could not be charged to the saved method of payment',
  'renewal.payment_required.fix':
    'Pay it at its checkout_url before the registration ends; until 30 days later a payment still releases the mailboxes.',
  'renewal.request_failed': 'The provider has not stated the price of the renewal for days',
  'renewal.request_failed.fix':
    'Ask the operator whether the provider is reachable. Heron repeats the request every day.',
  'renewal.refused': 'The provider refuses to renew the domain; the payment is refunded',
  'renewal.refused_because': 'The provider refuses to renew the domain ({code}); the payment is refunded',
  'renewal.refused.fix': 'Ask the provider why, then replay the task of the renewal (POST /v1/tasks/dlq/:id/replay).',
  'renewal.failed': 'The renewal was paid, but the provider has not confirmed it for days',
  'renewal.failed.fix':
    'Ask the operator to contact the provider. Heron repeats the request every day, and refunds the payment if the domain ends.',
  'refund.refused': 'The refund was not made ({code}): {reason}',
  'refund.refused.fix':
    'Refund the payment in the dashboard of the payment provider, which then notifies Heron. Or replay its task to request the refund again.',
  'refund.no_payment': 'the provider has no such payment',
  'refund.not_through': 'the refund was not completed',
  'refund.late': 'it was not completed within two weeks',
  'order.undo_failed': 'The resources of the order at the provider could not be removed ({code})',
  'payments.none': 'This installation takes no payments',
  'payments.unsigned': 'The event has no valid signature',
  'payments.unsigned.fix':
    'Compare STRIPE_WEBHOOK_SECRET with the signing secret of the webhook in the dashboard of Stripe, and check the clock of this machine.',

  // Line items of orders and payments.
  'line.mailboxes': 'Mailboxes ({provider})',
  'line.warmup': 'Warmup',
  'line.domain': 'Domain {domain}, one year',
  'line.renewal': 'Renewal of {domain}',
  'line.processing': 'Processing',
  'line.another_month': 'Another month',
  'price.monthly': '{price} a month',
  'price.order_line_monthly': '{quantity, number} × {label}: {price} a month',
  'price.order_line_once': '{quantity, number} × {label}: {price} once',
  'domain.new': '{domain} (new)',
  'refund.bank': 'the bank rejected it',
} as const;
