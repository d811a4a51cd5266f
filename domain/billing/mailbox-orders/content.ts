import type { ApprovalContent } from '../../../db/json-columns.ts';
import { hashRecipients } from '../../approvals/payload.ts';
import type { QuoteRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/** Builds the content that the approver of an order sees: items, price and addresses. An order sends no email. */
export function orderContent(quote: QuoteRow): ApprovalContent {
  const price = amount(quote.total_monthly_cents, quote.currency);
  return {
    title: message('action.order', { count: quote.count, price }),
    recipients: { count: 0, source: { kind: 'addresses' }, fingerprint: hashRecipients([]) },
    senders: [],
    schedule: null,
    steps: [],
    samples: [],
    details: {
      quote_id: quote.id,
      provider: quote.provider,
      domains: quote.domains.map(({ domain, registration }) =>
        registration ? message('domain.new', { domain }) : domain,
      ),
      mailboxes: quote.mailboxes.map(({ email }) => email),
      warmup: quote.warmup,
      line_items: quote.line_items.map(({ label, quantity, total_cents: total, interval }) =>
        message(interval === 'month' ? 'price.order_line_monthly' : 'price.order_line_once', {
          quantity,
          label,
          price: amount(total, quote.currency),
        }),
      ),
      monthly: message('price.monthly', { price }),
      due_today: amount(quote.total_due_today_cents, quote.currency),
    },
  };
}

/** Formats cents for people, such as `12.50 USD`. */
function amount(cents: number, currency: string): string {
  return `${(cents / 100).toFixed(2)} ${currency.toUpperCase()}`;
}
