import { Resolver } from 'node:dns/promises';
import pLimit from 'p-limit';

/**
 * DNS queries for checks of domains. An empty list means that there is no such record. Null means unknown: no server
 * answered in time, or the query failed. Never throws.
 */
export interface DnsRecords {
  /** Returns the TXT records of a name. The parts of each record are concatenated. */
  txt(name: string): Promise<readonly string[] | null>;
  /**
   * Returns the mail exchangers of a domain, in order of preference. A single `.` means that the domain accepts no
   * mail.
   */
  mx(domain: string): Promise<readonly string[] | null>;
  /** Returns the targets of a host's CNAME record. */
  cname(host: string): Promise<readonly string[] | null>;
}

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Maximum number of open queries per process. Further queries wait. */
const CONCURRENT = 64;
/** Error codes which state definitely that there is no record. */
const NO_RECORD = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Creates a client for DNS queries to the given name servers (`ip` or `ip:port`), by default those of the system. A
 * query is tried twice, with `timeoutMs` for each try.
 */
export function createDnsRecords(options: { servers?: readonly string[]; timeoutMs?: number } = {}): DnsRecords {
  const resolver = new Resolver({ timeout: options.timeoutMs ?? TIMEOUT_MS, tries: TRIES });
  if (options.servers) resolver.setServers(options.servers);
  const limit = pLimit(CONCURRENT);
  const ask = <T>(query: () => Promise<T[]>, read: (record: T) => string): Promise<readonly string[] | null> =>
    limit(() =>
      query().then(
        (records) => records.map(read),
        (error: NodeJS.ErrnoException) => (NO_RECORD.has(error.code ?? '') ? [] : null),
      ),
    );
  return {
    txt: (name) =>
      ask(
        () => resolver.resolveTxt(name),
        (parts) => parts.join(''),
      ),
    mx: (domain) =>
      ask(
        async () => (await resolver.resolveMx(domain)).sort((a, b) => a.priority - b.priority),
        ({ exchange }) => exchange || '.',
      ),
    cname: (host) =>
      ask(
        () => resolver.resolveCname(host),
        (name) => name,
      ),
  };
}
