type Value = string | number | boolean | Date | null | readonly string[] | readonly number[];

/** Builds a WHERE clause. All values are bound and never part of the SQL text. */
export class Conditions {
  readonly bindings: Record<string, Value> = {};
  readonly #clauses: string[] = [];
  readonly #prefix: string;
  #count = 0;

  /** @param prefix starts the names of all bindings, so that one statement can contain two sets */
  constructor(prefix = 'v') {
    this.#prefix = prefix;
  }

  /** Binds a value and returns its placeholder with a cast to a PostgreSQL type. */
  bind(
    value: Value,
    type: 'text' | 'text[]' | 'uuid' | 'uuid[]' | 'smallint[]' | 'integer' | 'bigint' | 'boolean' | 'timestamptz',
  ): string {
    this.#count += 1;
    const name = `${this.#prefix}${this.#count}`;
    this.bindings[name] = value;
    return `cast(:${name} as ${type})`;
  }

  add(clause: string): void {
    this.#clauses.push(clause);
  }

  /** Returns all conditions joined by `and`, or `true` if there is none. */
  all(): string {
    return this.#clauses.length === 0 ? 'true' : this.#clauses.map((clause) => `(${clause})`).join(' and ');
  }

  /** Returns the conditions joined by `or`, or `false` if there is none. */
  any(): string {
    return this.#clauses.length === 0 ? 'false' : this.#clauses.map((clause) => `(${clause})`).join(' or ');
  }
}

/** Escapes text as a literal part of a LIKE pattern. */
export function likeLiteral(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
