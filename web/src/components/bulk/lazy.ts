import { lazy } from 'react';
import { loadArea } from '../../text/index.ts';

/** Bar with the actions for chosen contacts. It is loaded with its texts when something is chosen. */
export const ContactBar = lazy(async () => (await Promise.all([import('./contact-bar.tsx'), loadArea('bulk')]))[0]);
