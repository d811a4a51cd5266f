import { Parser } from 'htmlparser2';

/** Attributes of an element, by their names in the file. */
export type Attributes = Readonly<Record<string, string>>;

/**
 * Parses XML as a stream. Names are reported without their prefix, which each program chooses freely. Text may be
 * reported in several pieces.
 */
export abstract class MarkupReader {
  readonly #parser: Parser;

  constructor() {
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => this.open(localName(name), attributes),
        ontext: (text) => this.text(text),
        onclosetag: (name) => this.close(localName(name)),
      },
      { xmlMode: true, decodeEntities: true },
    );
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end(text: string): void {
    this.#parser.end(text);
  }

  protected abstract open(name: string, attributes: Attributes): void;
  protected abstract text(text: string): void;
  protected abstract close(name: string): void;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Returns an attribute by its name without prefix. */
export function attribute(attributes: Attributes, name: string): string | undefined {
  if (attributes[name] !== undefined) return attributes[name];
  const key = Object.keys(attributes).find((each) => localName(each) === name);
  return key === undefined ? undefined : attributes[key];
}
