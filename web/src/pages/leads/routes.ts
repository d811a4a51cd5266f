import { pagesOf } from '../../app/page-route.ts';

const page = pagesOf('leads');

export const leadsPages = [
  page('/leads', () => import('./contacts.tsx')),
  page('/leads/segments', () => import('./segments.tsx')),
  page('/leads/segments/$id', () => import('./segment.tsx')),
  page('/leads/imports', () => import('./imports.tsx')),
  page('/leads/imports/new', () => import('./import-new.tsx')),
  page('/leads/imports/$id', () => import('./import.tsx')),
  page('/leads/suppressions', () => import('./suppressions.tsx')),
  page('/leads/database', () => import('./database.tsx')),
  page('/leads/conflicts', () => import('./conflicts.tsx')),
  page('/leads/people', () => import('./people.tsx')),
  page('/leads/people/$id', () => import('./person.tsx')),
  page('/leads/verification', () => import('./verification.tsx')),
  page('/leads/catalogue', () => import('./catalogue.tsx')),
  page('/leads/$id', () => import('./contact.tsx')),
] as const;
