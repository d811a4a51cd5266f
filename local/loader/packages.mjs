import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * What is imported from packages that consist of many small files. Together these are more than two thousand files, and reading
 * them takes longer than most test files and commands run, so they are joined into a few. Left out are packages with native
 * code, those that start threads from files of their own, and ava.
 */
const SPECIFIERS = [
  '@aws-sdk/client-sesv2',
  '@fastify/busboy',
  '@koa/router',
  '@modelcontextprotocol/sdk/client/auth.js',
  '@modelcontextprotocol/sdk/client/index.js',
  '@modelcontextprotocol/sdk/client/streamableHttp.js',
  '@modelcontextprotocol/sdk/server/index.js',
  '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js',
  '@modelcontextprotocol/sdk/types.js',
  '@modelcontextprotocol/sdk/validation/ajv',
  'ajv-formats',
  'ajv/dist/2020.js',
  'commander',
  'company-email-validator',
  'csv-parse',
  'csv-parse/sync',
  'csv-stringify',
  'csv-stringify/sync',
  'currency-codes',
  'fast-check',
  'html-to-text',
  'imapflow',
  'ioredis',
  'ipaddr.js',
  'isbot',
  'jose',
  'knex',
  'koa',
  'koa-body',
  'lru-cache',
  'luxon',
  'mailparser',
  'mmdb-lib',
  'nats',
  'nodemailer',
  'nodemailer/lib/mail-composer',
  'nodemailer/lib/smtp-connection',
  'objection',
  'p-limit',
  'parse5',
  'pg',
  'prom-client',
  'proxy-addr',
  'rate-limiter-flexible',
  'sanitize-html',
  'semver',
  'stripe',
  'tldts',
  'undici',
  'uuid',
  'ws',
  'yaml',
  'zod',
];

/** Packages that the joined ones import and that stay as they are; those of knex for other databases are not installed. */
const EXTERNAL = [
  '@temporalio/*',
  '@opentelemetry/*',
  '@node-rs/*',
  'pino',
  'better-sqlite3',
  'mariadb/callback',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-native',
  'sqlite3',
  'tedious',
];

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Folder of the joined packages; another one for other versions of them, and for another list. */
const FOLDER = join(ROOT, '.heron/cache/packages', joinedVersion());

/**
 * Joins the packages, once for each set of versions (about 2 s). Each specifier becomes a module with the same exports;
 * what two of them share stands in one further file, so that there is still one copy of everything.
 * @returns specifier to URL of its joined file
 */
export async function joinPackages() {
  if (!existsSync(FOLDER)) await makeJoined();
  return Object.fromEntries(SPECIFIERS.map((name) => [name, pathToFileURL(join(FOLDER, fileName(name))).href]));
}

async function makeJoined() {
  const { build } = await import('esbuild');
  mkdirSync(dirname(FOLDER), { recursive: true });
  // Inside the project, so that what stays outside is found from here.
  const making = mkdtempSync(`${FOLDER}.`);
  const entries = {};
  for (const specifier of SPECIFIERS) {
    const entry = join(making, `entry-${fileName(specifier)}`);
    writeFileSync(entry, await reexport(specifier));
    entries[fileName(specifier).replace(/\.mjs$/, '')] = entry;
  }
  const out = join(making, 'out');
  await build({
    entryPoints: entries,
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    minifyWhitespace: true,
    legalComments: 'none',
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    external: EXTERNAL,
    banner: { js: `import{createRequire}from'node:module';const require=createRequire(import.meta.url);` },
    logLevel: 'error',
  });
  try {
    renameSync(out, FOLDER);
  } catch (error) {
    // Another process was faster.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
  rmSync(making, { recursive: true });
}

/** A module with the exports that Node shows for a package, also where it is CommonJS and exports are found by reading it. */
async function reexport(specifier) {
  const shown = Object.keys(await import(specifier));
  const names = shown.filter((name) => name !== 'default' && /^[\w$]+$/.test(name));
  const lines = [`import * as all from ${JSON.stringify(specifier)};`];
  for (const [index, name] of names.entries()) lines.push(`const e${index} = all.${name};`);
  lines.push(`export { ${names.map((name, index) => `e${index} as ${name}`).join(', ')} };`);
  if (shown.includes('default')) lines.push('export default all.default;');
  return lines.join('\n');
}

function fileName(specifier) {
  return `${specifier.replaceAll(/\W+/g, '-')}.mjs`;
}

function joinedVersion() {
  const hash = createHash('sha256').update(process.version);
  for (const file of [fileURLToPath(import.meta.url), join(ROOT, 'package-lock.json')]) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}
