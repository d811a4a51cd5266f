import { resolve4, resolve6 } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Client, Connection } from '@temporalio/client';
import { across } from '../db/across.ts';
import { connect, type Db } from '../db/connection.ts';
import { pendingMigrations } from '../db/migrations/index.ts';
import { isBalanced, readBooks } from '../domain/billing/mailbox-orders/books.ts';
import { toFindings, type FoundMessages } from '../domain/operations/instance/findings.ts';
import { fleetFindings } from '../domain/operations/instance/fleet.ts';
import { settingFindings } from '../domain/operations/instance/settings.ts';
import { databaseFindings } from '../domain/operations/instance/database.ts';
import { openBlobStores } from '../lib/blobs/index.ts';
import { MeasuredClock } from '../lib/clock.ts';
import type { Config } from '../lib/config/index.ts';
import { isPublicAddress } from '../lib/egress/address.ts';
import {
  toFinding as foundAs,
  renderFinding,
  type Finding,
  type RenderedFinding,
  type Severity,
} from '../lib/finding.ts';
import { silentLogger } from '../lib/log.ts';
import { createSystemMail, signInToTransport } from '../lib/mail/index.ts';
import { ATTRIBUTES, missingSearchAttributes, waitForSearchAttributes } from '../temporal/attributes.ts';
import { createTemporalClient, findFailingRuns } from '../temporal/client.ts';
import { message, type Message } from '../messages/index.ts';
import { reachDatabase, waitForTemporal } from './waiting.ts';

/** Finding about a part of the installation. `error`: Heron cannot work as configured. `info`: the part is fine. */
interface PartFinding extends Finding {
  part: Part;
}

type Part = 'settings' | 'database' | 'orders' | 'clock' | 'temporal' | 'dns' | 'mail';

const OLDEST_POSTGRES = 150_000;
const EXTENSIONS = ['pg_trgm'];
/**
 * Difference (ms) from the database's clock above which emails are noticeably early or late. Above `SKEW_FAULT_MS`,
 * tokens and slots fail.
 */
const SKEW_WARNING_MS = 2_000;
const SKEW_FAULT_MS = 30_000;
const PATIENCE_MS = 5_000;

/**
 * Checks a configuration against the running parts. These are the database with its role, extensions and clock,
 * Temporal with its namespace and search attributes, the host names in public URLs, and the mail transport.
 * @param mailTo recipient of a test email; without it the command only signs in to the transport
 */
export async function examine(config: Config, mailTo?: string): Promise<PartFinding[]> {
  const parts = await Promise.all([
    settings(config),
    database(config),
    temporal(config),
    names(config),
    mail(config, mailTo),
  ]);
  return parts.flat();
}

/** Returns findings as data, for programs. */
export function renderedFindings(findings: readonly PartFinding[]): ({ part: Part } & RenderedFinding)[] {
  return findings.map((finding) => ({ part: finding.part, ...renderFinding(finding) }));
}

const STATES: Record<Severity, string> = { info: 'ok', warning: 'WARNING', error: 'ERROR' };

/** Formats findings as lines for a terminal, each fix below its finding. */
export function findingLines(findings: readonly PartFinding[]): string[] {
  return renderedFindings(findings).flatMap(({ part, severity, message: text, fix }) => [
    `${STATES[severity].padEnd(8)} ${part.padEnd(9)} ${text}`,
    ...(fix ? [`${' '.repeat(19)}fix: ${fix}`] : []),
  ]);
}

function ok(part: Part, said: Message): PartFinding {
  return { part, ...foundAs('info', said) };
}

function warning(part: Part, said: Message): PartFinding {
  return { part, ...foundAs('warning', said) };
}

function fault(part: Part, said: Message): PartFinding {
  return { part, ...foundAs('error', said) };
}

/** In development, settings that production would refuse are only warnings. */
async function settings(config: Config): Promise<PartFinding[]> {
  const worst = config.APP_ENV === 'prod' ? 'error' : 'warning';
  const found = settingFindings(config);
  return [
    ...(found.secret_published_default ? [] : [ok('settings', message('finding.secrets_own'))]),
    ...listed('settings', found, worst),
  ];
}

/** Reports instance health findings as doctor findings. Skips `info`, which GET /v1/admin/instance/health lists. */
function listed(part: Part, found: FoundMessages, worst: Severity): PartFinding[] {
  return toFindings(found).flatMap(({ docs: _, ...finding }) =>
    finding.severity === 'info' ? [] : { part, ...finding, severity: finding.severity === 'error' ? worst : 'warning' },
  );
}

async function database(config: Config): Promise<PartFinding[]> {
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
      ...(fresh.severity === 'info'
        ? [
            ...listed('database', await databaseFindings({ db, clock: measured }), 'error'),
            ...listed('settings', await fleet(db, config), 'error'),
            ...(await orders(db)),
          ]
        : []),
    ];
  } catch (error) {
    return [fault('database', message('finding.database_unreachable', { error: messageOf(error) }))];
  } finally {
    await db.destroy();
  }
}

async function fleet(db: Db, config: Config): Promise<FoundMessages> {
  const blobs = openBlobStores(config);
  try {
    return await fleetFindings({ db, config, blobs });
  } finally {
    blobs.close();
  }
}

async function server(db: Db): Promise<PartFinding[]> {
  const [facts] = await across(db, 'operator').sql<{ number: number; version: string; available: string[] }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
            (select coalesce(json_agg(name), '[]') from pg_available_extensions where name = any(:names)) as available`,
    { names: EXTENSIONS },
  );
  const { number, version, available } = facts!;
  const findings: PartFinding[] = [
    number >= OLDEST_POSTGRES
      ? ok('database', message('finding.database_answers', { version }))
      : fault('database', message('finding.database_too_old', { version })),
  ];
  const lacking = EXTENSIONS.filter((name) => !available.includes(name));
  if (lacking.length > 0)
    findings.push(fault('database', message('finding.database_extension_missing', { names: lacking.join(', ') })));
  return findings;
}

async function role(db: Db, config: Config): Promise<PartFinding[]> {
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
  if (!creates) return [fault('database', message('finding.database_role_no_tables', { role: name }))];
  if (lacking.length > 0) {
    const names = lacking.join(', ');
    return [fault('database', message('finding.database_role_no_extensions', { role: name, names }))];
  }
  if (superuser && config.APP_ENV === 'prod')
    return [warning('database', message('finding.database_role_superuser', { role: name }))];
  return [ok('database', message('finding.database_role_fits', { role: name }))];
}

async function schema(db: Db): Promise<PartFinding> {
  const pending = await pendingMigrations(db);
  return pending.length === 0
    ? ok('database', message('finding.schema_current'))
    : fault('database', message('finding.migrations_dirty', { count: pending.length, first: pending[0]! }));
}

/**
 * Checks, for each currency, that the payments, refunds and costs of orders and renewals add up. Returns no finding for
 * an installation without payments.
 */
async function orders(db: Db): Promise<PartFinding[]> {
  return (await readBooks(db)).map((one) => {
    const money = (cents: number) => (cents / 100).toFixed(2);
    const { currency, taken, ready, renewed, refunds, needsPerson, underWay, unexplained } = one;
    const amounts = {
      currency,
      taken: money(taken),
      ready: money(ready),
      renewed: money(renewed),
      refunds: money(refunds),
      person: money(needsPerson),
      underWay: money(underWay),
    };
    const books = message('finding.orders_balanced', amounts);
    if (!isBalanced(one))
      return fault('orders', message('finding.orders_unexplained', { books, ids: unexplained.join(', ') }));
    return needsPerson === 0
      ? ok('orders', books)
      : warning('orders', message('finding.orders_need_person', { books }));
  });
}

async function clock(db: Db): Promise<PartFinding> {
  const before = Date.now();
  const [row] = await across(db, 'operator').sql<{ now: Date }>('select clock_timestamp() as now');
  const skewMs = row!.now.getTime() - (before + Date.now()) / 2;
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  if (Math.abs(skewMs) <= SKEW_WARNING_MS) return ok('clock', message('finding.clock_agrees'));
  const said = message(skewMs < 0 ? 'finding.clock_behind' : 'finding.clock_ahead', { seconds });
  return (Math.abs(skewMs) > SKEW_FAULT_MS ? fault : warning)('clock', said);
}

async function temporal(config: Config): Promise<PartFinding[]> {
  const client = createTemporalClient(config);
  const { TEMPORAL_NAMESPACE: namespace, TEMPORAL_ADDRESS: address } = config;
  try {
    await waitForTemporal(client.connection as Connection, address, { info: () => {}, warn: () => {} }, 0);
  } catch (error) {
    return [fault('temporal', message('finding.fleet_infra_unreachable', { error: messageOf(error) }))];
  }
  try {
    const connection = client.connection as Connection;
    try {
      await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
    } catch (error) {
      const said = message('finding.temporal_namespace_unusable', { namespace, error: messageOf(error) });
      return [fault('temporal', said)];
    }
    const lacking = await missingSearchAttributes(client, namespace).catch(() =>
      // Temporal Cloud does not list search attributes, so the check is a query that uses all of them.
      waitForSearchAttributes(client, 0).then(
        () => [],
        () => [`one of ${ATTRIBUTES.join(', ')}`],
      ),
    );
    return [
      ok('temporal', message('finding.temporal_answers', { address, namespace })),
      lacking.length === 0
        ? ok('temporal', message('finding.search_attributes_present'))
        : warning('temporal', message('finding.search_attributes_missing', { names: lacking.join(', ') })),
      ...(await failingRuns(client, config)),
    ];
  } finally {
    await client.connection.close();
  }
}

/** Maximum number of failing workflows that a finding names. */
const NAMED_RUNS = 20;

async function failingRuns(client: Client, { TEMPORAL_TASK_QUEUE: taskQueue }: Config): Promise<PartFinding[]> {
  const ids = await findFailingRuns(client, taskQueue, NAMED_RUNS);
  return ids.length === 0 ? [] : [fault('temporal', message('finding.workflow_tasks_fail', { ids }))];
}

async function names(config: Config): Promise<PartFinding[]> {
  const settingsOfAddresses = ['API_PUBLIC_URL', 'APP_URL', 'TRACKING_DOMAIN'] as const;
  return Promise.all(settingsOfAddresses.map((setting) => name(setting, config[setting], config.APP_ENV === 'prod')));
}

async function name(setting: string, address: string, isProduction: boolean): Promise<PartFinding> {
  const { hostname, protocol } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLiteral = isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost');
  const addresses = isLiteral ? [host] : await resolveAddresses(host);
  if (addresses.length === 0) return fault('dns', message('finding.address_unresolved', { setting, host }));
  const hidden = addresses.filter((each) => isIP(each) === 0 || !isPublicAddress(each));
  if (hidden.length > 0) {
    const said = message('finding.address_not_public', { setting, address, addresses: hidden.join(', ') });
    return (isProduction ? fault : warning)('dns', said);
  }
  if (protocol !== 'https:') return warning('dns', message('finding.address_unencrypted', { setting, address }));
  return ok('dns', message('finding.address_resolved', { setting, host, addresses: addresses.join(', ') }));
}

async function resolveAddresses(host: string): Promise<string[]> {
  const answers = await Promise.all([resolve4(host).catch(() => []), resolve6(host).catch(() => [])]);
  return answers.flat();
}

async function mail(config: Config, mailTo: string | undefined): Promise<PartFinding[]> {
  if (config.MAIL_TRANSPORT === 'log') return [];
  const server = `${config.SMTP_HOST}${config.SMTP_PORT === undefined ? '' : `:${config.SMTP_PORT}`}`;
  const systemMail = createSystemMail(config, silentLogger);
  try {
    if (mailTo === undefined) await signInToTransport(config);
    else
      await systemMail.send({
        to: mailTo,
        subject: 'Test email of Heron',
        text: 'This email was sent by `heron doctor`: system mail works.\n',
      });
    return [
      ok(
        'mail',
        mailTo === undefined
          ? message('finding.mail_signed_in', { server })
          : message('finding.mail_test_taken', { server, address: mailTo }),
      ),
    ];
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    return [fault('mail', message('finding.mail_preflight_failed', { error: `${server}: ${messageOf(cause)}` }))];
  } finally {
    systemMail.close();
  }
}

function messageOf(error: unknown): string {
  return (error as Error).message.split('\n', 1)[0]!;
}
