import pg from 'pg';

/**
 * Role in which an organization's statements run with ROW_SECURITY. It owns no table, so the policies of
 * 0001_baseline/tenancy.ts apply to it. The login owns the tables, is not subject to the policies, and runs work across
 * organizations.
 */
export const TENANT_ROLE = 'heron_tenant';

/** Sets the role and the organization until the transaction ends. The role `none` is the login's own. */
const SWITCH = `select set_config('role', $1, true), set_config('heron.organization_id', $2, true)`;
const SWITCH_NAME = 'heron_switch';

interface StatementConfig extends pg.QueryConfig {
  /** Organization of the statement. Undefined for statements across organizations. */
  organization?: string;
}

type Send = (config: unknown, ...rest: unknown[]) => unknown;

/**
 * Makes a new pool connection switch to the tenant role for statements of an organization. Role and organization are
 * set for one transaction only, so a pooler may give the connection to another client afterwards. Outside a
 * transaction, the statement that sets them is sent together with the actual statement, as one transaction.
 * @param prepared keeps the plan of the switch on the connection
 */
export function switchRoles(connection: pg.Client, prepared: boolean, done: (error: Error | null) => void): void {
  const send = connection.query.bind(connection) as Send;
  /**
   * Organization of the open transaction. Null if the transaction runs as the login role. Undefined if it is unknown,
   * or without a transaction.
   */
  let current: string | null | undefined;
  let open = false;
  const query: Send = (config, ...rest) => {
    const text = typeof config === 'string' ? config : (config as StatementConfig).text;
    const control = /^(begin|commit|rollback|savepoint|release)\b(?: (to))?/i.exec(text ?? '');
    if (control) {
      const [, verb, part] = control;
      open = !/^(?:commit|rollback)$/i.test(verb!) || part !== undefined;
      // A rollback to a savepoint also reverts settings made after it.
      current = /^begin$/i.test(verb!) ? null : undefined;
      return send(config, ...rest);
    }
    const wanted = (config as StatementConfig).organization ?? null;
    if (open ? current === wanted : wanted === null) return send(config, ...rest);
    if (open) current = wanted;
    return send(new SwitchedQuery(config as StatementConfig, wanted, prepared), ...rest);
  };
  connection.query = query as typeof connection.query;
  if (!prepared) return done(null);
  send({ name: SWITCH_NAME, text: SWITCH, values: ['none', ''] }, (error: Error | null) => done(error));
}

/** Methods of node-postgres's query that its types do not declare. */
interface WireQuery {
  prepare(connection: Wire): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Wire): void;
  requiresPreparation(): boolean;
}

interface Wire {
  parse(statement: { name: string; text: string }): void;
  bind(portal: { statement: string; values: string[] }): void;
  execute(portal: object): void;
}

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => WireQuery;

/** Sends the role switch and a statement to PostgreSQL in one message, so that either both run or neither. */
class SwitchedQuery extends Query {
  readonly #organization: string | null;
  readonly #prepared: boolean;
  #switching = true;

  constructor(config: StatementConfig, organization: string | null, prepared: boolean) {
    super(config);
    this.#organization = organization;
    this.#prepared = prepared;
  }

  override requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: Wire): void {
    const name = this.#prepared ? SWITCH_NAME : '';
    if (!this.#prepared) connection.parse({ name, text: SWITCH });
    const role = this.#organization === null ? 'none' : TENANT_ROLE;
    connection.bind({ statement: name, values: [role, this.#organization ?? ''] });
    connection.execute({});
    super.prepare(connection);
  }

  override handleDataRow(message: unknown): void {
    if (!this.#switching) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#switching) this.#switching = false;
    else super.handleCommandComplete(message, connection);
  }
}
