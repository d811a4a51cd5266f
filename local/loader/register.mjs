import { register } from 'node:module';
import { joinPackages } from './packages.mjs';

process.noDeprecation = true;
process.setSourceMapsEnabled(true);
// Whoever comes while another process joins them does it, too.
register('./hooks.mjs', { parentURL: import.meta.url, data: await joinPackages() });
