import { resolve4, resolve6 } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Connection } from '@temporalio/client';
import { across } from '../db/across.ts';
import { connect, type Db } from '../db/connection.ts';
import { pendingMigrations } from '../db/migrations/index.ts';
import { isBalanced, readBooks } from '../domain/billing/mailbox-orders/books.ts';
import { FINDINGS, toFindings, type Found } from '../domain/operations/instance/findings.ts';
import { lookAtFleet } from '../domain/operations/instance/fleet.ts';
import { lookAtSettings } from '../domain/operations/instance/settings.ts';
import { lookAtStored } from '../domain/operations/instance/stored.ts';
import { openBlobStores } from '../lib/blobs/index.ts';
import { MeasuredClock } from '../lib/clock.ts';
import type { Config } from '../lib/config/index.ts';
import { isPublicAddress } from '../lib/egress/address.ts';
import { silentLogger } from '../lib/log.ts';
import { createSystemMail, signInToTransport } from '../lib/mail/index.ts';
import { ATTRIBUTES, missingSearchAttributes, waitForSearchAttributes } from '../temporal/attributes.ts';
import { createTemporalClient } from '../temporal/client.ts';
import { reachDatabase, waitForTemporal } from './waiting.ts';

/** What one look has found. A fault keeps Heron from working as configured; a warning is for the operator to judge. */
interface Finding {
  part: 'settings' | 'database' | 'orders' | 'clock' | 'temporal' | 'dns' | 'mail';
  state: 'ok' | 'warning' | 'fault';
  detail: string;
  fix?: string;
}

const OLDEST_POSTGRES = 150_000;
const EXTENSIONS = ['pg_trgm'];
/** A process this far (ms) from its database sends noticeably too early or too late; beyond the second bound, tokens and slots go wrong. */
const SKEW_WARNING_MS = 2_000;
const SKEW_FAULT_MS = 30_000;
const PATIENCE_MS = 5_000;

/**
 * Checks a configuration against the running parts: the database with its role, extensions and clock, Temporal with its
 * namespace and search attributes, the names in public addresses, and the mail transport.
 * @param mailTo gets a test letter; without it the transport is only signed in to
 */
export async function examine(config: Config, mailTo?: string): Promise<Finding[]> {
  const parts = await Promise.all([
    settings(config),
    database(config),
    temporal(config),
    names(config),
    mail(config, mailTo),
  ]);
  return parts.flat();
}

/** Findings as lines for a terminal, each fix below its finding. */
export function findingLines(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ part, state, detail, fix }) => [
    `${(state === 'ok' ? 'ok' : state.toUpperCase()).padEnd(8)} ${part.padEnd(9)} ${detail}`,
    ...(fix ? [`${' '.repeat(19)}fix: ${fix}`] : []),
  ]);
}

/** In development, what production refuses is for the operator to judge. */
async function settings(config: Config): Promise<Finding[]> {
  const worst = config.APP_ENV === 'prod' ? 'fault' : 'warning';
  const found = lookAtSettings(config);
  return [
    ...(found.secret_published_default
      ? []
      : [{ part: 'settings', state: 'ok', detail: 'secrets are your own' } as const]),
    ...listed('settings', found, worst),
  ];
}

/** Findings of the installation as those of a part. What is only to be known of is left to GET /v1/admin/instance/health. */
function listed(part: Finding['part'], found: Found, worst: Finding['state']): Finding[] {
  return toFindings(found).flatMap(({ severity, code }) =>
    severity === 'info'
      ? []
      : { part, state: severity === 'error' ? worst : 'warning', detail: found[code]!, fix: FINDINGS[code].fix },
  );
}

async function database(config: Config): Promise<Finding[]> {
  const measured = new MeasuredClock();
  const db = connect({ url: config.PRIMARY_DB, max: 1, name: 'heron-doctor', clock: measured });
  try {
    await reachDatabase(db, config.PRIMARY_DB);
    const fresh = await schema(db);
    return [
      ...(await server(db)),
      ...(await role(db, config)),
      fresh,
      await clock(db),
      ...(fresh.state === 'ok'
        ? [
            ...listed('database', await lookAtStored({ db, clock: measured }), 'fault'),
            ...listed('settings', await fleet(db, config), 'fault'),
            ...(await orders(db)),
          ]
        : []),
    ];
  } catch (error) {
    return [
      fault(
        'database',
        messageOf(error),
        'Check PRIMARY_DB: address, name, user and password, and that PostgreSQL runs.',
      ),
    ];
  } finally {
    await db.destroy();
  }
}

async function fleet(db: Db, config: Config): Promise<Found> {
  const blobs = openBlobStores(config);
  try {
    return await lookAtFleet({ db, config, blobs });
  } finally {
    blobs.close();
  }
}

async function server(db: Db): Promise<Finding[]> {
  const [facts] = await across(db, 'operator').sql<{ number: number; version: string; available: string[] }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
            (select coalesce(json_agg(name), '[]') from pg_available_extensions where name = any(:names)) as available`,
    { names: EXTENSIONS },
  );
  const { number, version, available } = facts!;
  const findings: Finding[] = [
    number >= OLDEST_POSTGRES
      ? { part: 'database', state: 'ok', detail: `PostgreSQL ${version} answers` }
      : fault('database', `PostgreSQL ${version} is too old`, 'Use version 15 or later.'),
  ];
  const lacking = EXTENSIONS.filter((name) => !available.includes(name));
  if (lacking.length > 0)
    findings.push(
      fault(
        'database',
        `the extension ${lacking.join(', ')} is not installed on the server`,
        'Install the contrib package of PostgreSQL.',
      ),
    );
  return findings;
}

async function role(db: Db, config: Config): Promise<Finding[]> {
  const [facts] = await across(db, 'operator').sql<{
    name: string;
    superuser: boolean;
    creates: boolean;
    lacking: string[];
  }>(
    `select r.rolname as name, r.rolsuper as superuser, has_schema_privilege('public', 'CREATE') as creates,
            (select coalesce(json_agg(wanted), '[]') from unnest(cast(:names as text[])) wanted
             where not exists (select 1 from pg_extension where extname = wanted)
               and not has_database_privilege(current_database(), 'CREATE')) as lacking
     from pg_roles r where r.rolname = current_user`,
    { names: EXTENSIONS },
  );
  const { name, superuser, creates, lacking } = facts!;
  if (!creates)
    return [
      fault(
        'database',
        `the role ${name} may not create tables`,
        `grant create on schema public to ${name}; or make it the owner of the database.`,
      ),
    ];
  if (lacking.length > 0)
    return [
      fault(
        'database',
        `the role ${name} may not create the extension ${lacking.join(', ')}`,
        `create extension ${lacking.join(', ')}; as an administrator, once.`,
      ),
    ];
  if (superuser && config.APP_ENV === 'prod')
    return [
      {
        part: 'database',
        state: 'warning',
        detail: `the role ${name} is a superuser of the whole server`,
        fix: 'Give Heron a role of its own that owns its database and nothing else.',
      },
    ];
  return [{ part: 'database', state: 'ok', detail: `the role ${name} may do what migrations need` }];
}

async function schema(db: Db): Promise<Finding> {
  const pending = await pendingMigrations(db);
  return pending.length === 0
    ? { part: 'database', state: 'ok', detail: 'the schema is that of this build' }
    : fault('database', `${pending.length} migrations are pending, from ${pending[0]} on`, 'Run `heron migrate`.');
}

/** The money of orders and renewals, by currency: all of it has to be in one of its places. Nothing for an installation that has taken none. */
async function orders(db: Db): Promise<Finding[]> {
  const books = await readBooks(db);
  return books.map((one) => {
    const money = (cents: number) => (cents / 100).toFixed(2);
    const { currency, taken, ready, renewed, refunds, needsPerson, underWay, unexplained } = one;
    const detail = `${currency}: ${money(taken)} taken = ${money(ready)} ready + ${money(renewed)} renewed + ${money(refunds)} refunds + ${money(needsPerson)} for a person + ${money(underWay)} under way`;
    if (!isBalanced(one))
      return fault(
        'orders',
        `${detail}; not explained: ${unexplained.join(', ')}`,
        'Look at these orders and renewals, and their payments.',
      );
    if (needsPerson === 0) return { part: 'orders', state: 'ok', detail };
    return {
      part: 'orders',
      state: 'warning',
      detail,
      fix: 'Settle the dead letters of types order_refund and domain_renewal.',
    };
  });
}

async function clock(db: Db): Promise<Finding> {
  const before = Date.now();
  const [row] = await across(db, 'operator').sql<{ now: Date }>('select clock_timestamp() as now');
  const skewMs = row!.now.getTime() - (before + Date.now()) / 2;
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  const detail = `the clock of the database is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  if (Math.abs(skewMs) <= SKEW_WARNING_MS)
    return { part: 'clock', state: 'ok', detail: "the database has this machine's time" };
  return {
    part: 'clock',
    state: Math.abs(skewMs) > SKEW_FAULT_MS ? 'fault' : 'warning',
    detail,
    fix: 'Have both machines keep time by NTP.',
  };
}

async function temporal(config: Config): Promise<Finding[]> {
  const client = createTemporalClient(config);
  const { TEMPORAL_NAMESPACE: namespace, TEMPORAL_ADDRESS: address } = config;
  try {
    await waitForTemporal(client.connection as Connection, address, { info: () => {}, warn: () => {} }, 0);
  } catch (error) {
    return [
      fault(
        'temporal',
        messageOf(error),
        'Check TEMPORAL_ADDRESS, TEMPORAL_TLS and TEMPORAL_API_KEY, and that Temporal runs.',
      ),
    ];
  }
  try {
    const connection = client.connection as Connection;
    try {
      await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
    } catch (error) {
      return [
        fault(
          'temporal',
          `the namespace ${namespace} cannot be used: ${messageOf(error)}`,
          `Create it (\`temporal operator namespace create ${namespace}\`), or set TEMPORAL_NAMESPACE.`,
        ),
      ];
    }
    const lacking = await missingSearchAttributes(client, namespace).catch(() =>
      // Temporal Cloud does not list them; a query over all of them tells.
      waitForSearchAttributes(client, 0).then(
        () => [],
        () => [`one of ${ATTRIBUTES.join(', ')}`],
      ),
    );
    return [
      { part: 'temporal', state: 'ok', detail: `${address} answers, with the namespace ${namespace}` },
      lacking.length === 0
        ? { part: 'temporal', state: 'ok', detail: 'the search attributes are there' }
        : {
            part: 'temporal',
            state: 'warning',
            detail: `search attributes are missing: ${lacking.join(', ')}`,
            fix: 'A worker creates them where it may; elsewhere create them once (docs/operations.md).',
          },
    ];
  } finally {
    await client.connection.close();
  }
}

async function names(config: Config): Promise<Finding[]> {
  const settingsOfAddresses = ['API_PUBLIC_URL', 'APP_URL', 'TRACKING_DOMAIN'] as const;
  return Promise.all(settingsOfAddresses.map((setting) => name(setting, config[setting], config.APP_ENV === 'prod')));
}

async function name(setting: string, address: string, isProduction: boolean): Promise<Finding> {
  const { hostname, protocol } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLiteral = isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost');
  const addresses = isLiteral ? [host] : await resolveAddresses(host);
  if (addresses.length === 0)
    return fault(
      'dns',
      `${setting}: ${host} has no address`,
      `Add an A or AAAA record for ${host}, or correct ${setting}.`,
    );
  const hidden = addresses.filter((each) => isIP(each) === 0 || !isPublicAddress(each));
  if (hidden.length > 0)
    return {
      part: 'dns',
      state: isProduction ? 'fault' : 'warning',
      detail: `${setting}: ${address} (${hidden.join(', ')}) cannot be reached from outside`,
      fix: `Set ${setting} to a name that people and their mail programs can reach.`,
    };
  if (protocol !== 'https:')
    return {
      part: 'dns',
      state: 'warning',
      detail: `${setting}: ${address} is not encrypted`,
      fix: `Put TLS in front of it and set ${setting} to https.`,
    };
  return { part: 'dns', state: 'ok', detail: `${setting}: ${host} is ${addresses.join(', ')}` };
}

async function resolveAddresses(host: string): Promise<string[]> {
  const answers = await Promise.all([resolve4(host).catch(() => []), resolve6(host).catch(() => [])]);
  return answers.flat();
}

async function mail(config: Config, mailTo: string | undefined): Promise<Finding[]> {
  if (config.MAIL_TRANSPORT === 'log') return [];
  const where = `${config.SMTP_HOST}${config.SMTP_PORT === undefined ? '' : `:${config.SMTP_PORT}`}`;
  const systemMail = createSystemMail(config, silentLogger);
  try {
    if (mailTo === undefined) await signInToTransport(config);
    else
      await systemMail.send({
        to: mailTo,
        subject: 'A test letter of Heron',
        text: 'This letter was sent by `heron doctor`: system mail leaves as it should.\n',
      });
    const detail = mailTo === undefined ? `signed in to ${where}` : `${where} took a letter to ${mailTo}`;
    return [{ part: 'mail', state: 'ok', detail }];
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    return [
      fault(
        'mail',
        `${where}: ${messageOf(cause)}`,
        'Check SMTP_HOST, SMTP_PORT, SMTP_SECURITY, SMTP_USERNAME and SMTP_PASSWORD, and MAIL_FROM.',
      ),
    ];
  } finally {
    systemMail.close();
  }
}

function fault(part: Finding['part'], detail: string, fix: string): Finding {
  return { part, state: 'fault', detail, fix };
}

function messageOf(error: unknown): string {
  return (error as Error).message.split('\n', 1)[0]!;
}
