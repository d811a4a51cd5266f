import { lazyPart } from '../../app/lazy-part.ts';

/** Bar with the actions for chosen contacts. It is loaded with its texts when something is chosen. */
export const ContactBar = lazyPart('bulk', () => import('./contact-bar.tsx'));
