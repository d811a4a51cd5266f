/**
 * `npm run trigger-docs`: writes docs/triggers.md, every trigger with its data, from domain/connect/triggers. A test
 * compares.
 */
import { writeFileSync } from 'node:fs';
import { triggersPage } from '../domain/connect/triggers/page.ts';

writeFileSync(new URL('../docs/triggers.md', import.meta.url), triggersPage());
