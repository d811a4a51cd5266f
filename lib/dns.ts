import { Resolver } from 'node:dns/promises';
import pLimit from 'p-limit';

/**
 * What DNS says of a name, as the checks of domains ask it. An empty list: there is no such record. Null: no server answered in
 * time, or it failed, so nothing is known. Never throws.
 */
export interface DnsRecords {
  /** The TXT records of a name, the parts of each joined. */
  txt(name: string): Promise<readonly string[] | null>;
  /** The mail exchangers of a domain, the preferred one first; `.` alone means that it takes no mail. */
  mx(domain: string): Promise<readonly string[] | null>;
  /** The names a host's CNAME record points at. */
  cname(host: string): Promise<readonly string[] | null>;
}

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Queries that a process has open at once; further ones wait. */
const CONCURRENT = 64;
/** Answers that say for certain that there is no record. */
const NO_RECORD = new Set(['ENOTFOUND', 'ENODATA']);

/** Asks name servers: those given (`ip` or `ip:port`), else the system's. A query is tried twice, for `timeoutMs` each. */
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
