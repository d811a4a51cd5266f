import { register } from 'node:module';
import { joinPackages } from './packages.mjs';
import { nameSourceLines } from './stacks.mjs';

process.noDeprecation = true;
nameSourceLines();
// Whoever comes while another process joins them does it, too.
register('./hooks.mjs', { parentURL: import.meta.url, data: await joinPackages() });
