import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { tablerIcons } from './icons.ts';
import { sentences } from './sentences.ts';

/** URL of the API for `npm run dev:web`, including its sign-in pages. */
const API = process.env.HERON_URL ?? 'http://127.0.0.1:8080';
const OF_THE_API = ['/v1', '/account', '/setup', '/invitations', '/approvals', '/oauth', '/docs', '/openapi.json'];

/** Modules that every area uses, and small modules that two areas share. */
const COMMON =
  /src\/components\/(action|figure|focus|page|page-link|section|sub-pages|time|when-seen)\.|messages\/hours\.|components\/(FileButton|Progress|SimpleGrid|Table|ThemeIcon)\//;

export default defineConfig({
  plugins: [react(), tablerIcons(), sentences()],
  resolve: {
    // Messages are parsed at build time (sentences.ts), so the browser needs no parser.
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
    // Every browser of the build target supports modulepreload.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Builds the first page as one file and shared modules as a few. By default the bundler creates one file for
          // each set of areas with shared modules.
          groups: [
            { name: 'first', tags: ['$initial'], priority: 2 },
            { name: 'parts', test: COMMON, priority: 1 },
            { name: 'icons', test: /^\0tabler:/, minShareCount: 2, priority: 1 },
            {
              name: 'controls',
              test: /@mantine(?!\/core\/esm\/components\/(Color(Input|Picker)|NumberInput|Menu|TagsInput|PasswordInput)\/)|@floating-ui|src\/(components|hooks)\/(?!contact-select)/,
              minShareCount: 3,
            },
            // Large components that only some pages show.
            { name: 'colors', test: /components\/Color(Input|Picker)\//, minShareCount: 2 },
            {
              name: 'numbers',
              test: /components\/(NumberInput\/|contact-select\.)|react-number-format/,
              minShareCount: 2,
            },
            { name: 'inputs', test: /components\/(TagsInput|PasswordInput)\//, minShareCount: 2 },
            { name: 'menu', test: /components\/(Menu|Tabs|Tooltip)\//, minShareCount: 2 },
            { name: 'campaign', test: /pages\/campaigns\/(flow|status|step-card)\./, minShareCount: 2 },
            { name: 'people', test: /pages\/leads\/(pages|tags)\./, minShareCount: 2 },
            { name: 'report', test: /pages\/reports\/(figure-link|nothing|period)\./, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      // Sets the API's own origin, because the API accepts browser sessions only from there.
      OF_THE_API.map((path) => [path, { target: API, changeOrigin: true, headers: { origin: new URL(API).origin } }]),
    ),
  },
});
