import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('meetings');

export const meetingsPages = [page('/meetings', () => import('./list.tsx'))] as const;
