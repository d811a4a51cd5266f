import type hoodiecrow from 'hoodiecrow-imap';

/**
 * Capability that a test server lacks:
 * - `UIDVALIDITY`, `UIDNEXT`: SELECT and STATUS do not give it
 * - `SEARCH`, `SINCE`: every search, or one with SINCE, is refused
 * - `FETCH`: the server delivers no message
 * - `INTERNALDATE`: FETCH refuses the attribute
 * - `INTERNALDATE value`: FETCH answers `INTERNALDATE NIL`
 * - `BODY value`: FETCH answers `BODY[] NIL`
 */
export type ServerLack =
  | 'UIDVALIDITY'
  | 'UIDNEXT'
  | 'SEARCH'
  | 'SINCE'
  | 'FETCH'
  | 'INTERNALDATE'
  | 'INTERNALDATE value'
  | 'BODY value';

interface Atom {
  type: string;
  value: string;
}

const nameOf = (attribute: unknown): string => ((attribute as Partial<Atom> | null)?.value ?? '').toUpperCase();

/**
 * Plugin that removes capabilities from a server. `lacks` is read with every command, so it may change while the server
 * runs.
 */
export const withLacks =
  (lacks: ReadonlySet<ServerLack>) =>
  (server: hoodiecrow.ImapServer): void => {
    const refuses = (command: string, data: string): boolean =>
      (command.includes('SEARCH') && (lacks.has('SEARCH') || (lacks.has('SINCE') && /\bSINCE\b/i.test(data)))) ||
      (command.includes('FETCH') &&
        ((lacks.has('FETCH') && /BODY/i.test(data)) || (lacks.has('INTERNALDATE') && /INTERNALDATE/i.test(data))));
    for (const command of ['SEARCH', 'UID SEARCH', 'FETCH', 'UID FETCH']) {
      const handle = server.getCommandHandler(command);
      server.setCommandHandler(command, (connection, parsed, data, done) => {
        if (!refuses(command, data)) return handle(connection, parsed, data, done);
        const attributes = [{ type: 'TEXT', value: 'not here' }];
        connection.send({ tag: parsed.tag, command: 'NO', attributes }, 'refused', parsed, data);
        done();
      });
    }
    server.outputHandlers.push((_connection, response) => {
      const { command, attributes } = response;
      const [first, second, third] = attributes ?? [];
      if (command === 'OK' && response.tag === '*') {
        const [code] = (first as { section?: unknown[] } | undefined)?.section ?? [];
        if (lacks.has(nameOf(code) as ServerLack)) response.skipResponse = true;
      }
      if (command === 'STATUS' && Array.isArray(second)) {
        const at = second.findIndex((item) => lacks.has(nameOf(item) as ServerLack));
        if (at >= 0) second.splice(at, 2);
      }
      if (nameOf(second) === 'FETCH' && Array.isArray(third))
        for (const [at, item] of third.entries())
          if (at % 2 === 0 && lacks.has(`${nameOf(item)} value` as ServerLack) && hasValue(item)) third[at + 1] = null;
    });
  };

/** BODY without a section means the structure of the message, not its source. */
function hasValue(item: unknown): boolean {
  return nameOf(item) !== 'BODY' || (item as { section?: unknown[] }).section !== undefined;
}
