import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('mailboxes');

export const mailboxesPages = [
  page('/mailboxes', () => import('./list.tsx')),
  page('/mailboxes/new', () => import('./connect.tsx')),
  page('/mailboxes/$id', () => import('./page.tsx')),
  page('/mailboxes/warmup', () => import('./routing.tsx')),
  page('/mailboxes/orders', () => import('./orders.tsx')),
  page('/mailboxes/orders/new', () => import('./order-new.tsx')),
  page('/mailboxes/orders/domains', () => import('./order-domains.tsx')),
  page('/mailboxes/orders/$id', () => import('./order.tsx')),
] as const;
