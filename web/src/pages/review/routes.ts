import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('review');

export const reviewPages = [page('/review', () => import('./list.tsx'))] as const;
