import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { tablerIcons } from './icons.ts';
import { sentences } from './sentences.ts';

/** Where `npm run dev:web` finds the API; its pages for signing in are there too. */
const API = process.env.HERON_URL ?? 'http://127.0.0.1:8080';
const OF_THE_API = ['/v1', '/account', '/setup', '/invitations', '/approvals', '/oauth', '/docs', '/openapi.json'];

/** What the pages of every room are made of, beside the frame around them; and what two rooms share and is too little for a file of its own. */
const PARTS =
  /src\/parts\/(act|figure|focus|page|section|sub-pages|time|to)\.|messages\/hours\.|components\/(Progress|SimpleGrid|Table|ThemeIcon)\//;

export default defineConfig({
  plugins: [react(), tablerIcons(), sentences()],
  resolve: {
    // Sentences are parsed here (sentences.ts): the browser gets no parser.
    alias: [
      { find: /^@formatjs\/icu-messageformat-parser$/, replacement: '@formatjs/icu-messageformat-parser/no-parser.js' },
    ],
  },
  root: import.meta.dirname,
  clearScreen: false,
  build: {
    target: 'es2023',
    sourcemap: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Every browser of that target preloads modules by itself.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // The first page is one file, and what rooms share a few: by itself the bundler makes one for each set of rooms that share something.
          groups: [
            { name: 'first', tags: ['$initial'], priority: 2 },
            { name: 'parts', test: PARTS, priority: 1 },
            { name: 'icons', test: /^\0tabler:/, minShareCount: 2, priority: 1 },
            { name: 'controls', test: /@mantine|@floating-ui|src\/parts\//, minShareCount: 3 },
            { name: 'report', test: /rooms\/reports\/(behind|nothing|period)\./, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      // The API takes a browser's session only from its own origin.
      OF_THE_API.map((path) => [path, { target: API, changeOrigin: true, headers: { origin: new URL(API).origin } }]),
    ),
  },
});
