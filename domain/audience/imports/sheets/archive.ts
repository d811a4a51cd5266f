import { open, type Entry, type ZipFile } from 'yauzl';
import { MarkupReader } from './markup.ts';

/** Thrown when a workbook cannot be read, because it is broken or too large. */
export class SheetError extends Error {
  readonly kind: 'too_large' | 'broken' | 'no_such_sheet';
  constructor(kind: SheetError['kind'], options?: ErrorOptions) {
    super(kind, options);
    this.kind = kind;
  }
}

const MAX_ENTRIES = 5_000;
/** Maximum unpacked size (bytes) of a part of an archive that is read piece by piece. */
const MAX_STREAMED = 512 * 1024 * 1024;
/** Maximum unpacked size (bytes) of a part of an archive whose content is kept in memory. */
const MAX_KEPT = 96 * 1024 * 1024;

/** Reads the parts of an office document, which is a ZIP archive of XML files. */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** Opens an archive. @throws SheetError when the file is not a valid archive */
  static async open(path: string): Promise<Archive> {
    const zip = await new Promise<ZipFile>((resolve, reject) => {
      open(path, { lazyEntries: true, autoClose: false }, (error, opened) =>
        error ? reject(new SheetError('broken', { cause: error })) : resolve(opened),
      );
    });
    const entries = new Map<string, Entry>();
    await new Promise<void>((resolve, reject) => {
      zip.on('entry', (entry: Entry) => {
        entries.set(entry.fileName, entry);
        if (entries.size > MAX_ENTRIES) reject(new SheetError('too_large'));
        else zip.readEntry();
      });
      zip.once('end', resolve);
      zip.once('error', (error) => reject(new SheetError('broken', { cause: error })));
      zip.readEntry();
    });
    return new Archive(zip, entries);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Names of all parts, in the order of the archive. */
  names(): string[] {
    return [...this.#entries.keys()];
  }

  /**
   * Parses a whole part and returns the reader, which keeps the result. A missing part is treated as empty.
   * @throws SheetError
   */
  async read<Reader extends MarkupReader>(name: string, reader: Reader): Promise<Reader> {
    for await (const _ of this.stream(name, reader, MAX_KEPT)) continue;
    return reader;
  }

  /**
   * Parses a part piece by piece, and yields the reader after each piece.
   * @throws SheetError
   */
  async *stream<Reader extends MarkupReader>(
    name: string,
    reader: Reader,
    maxBytes = MAX_STREAMED,
  ): AsyncGenerator<Reader> {
    const entry = this.#entries.get(name);
    if (!entry) return;
    // Checks the stated size. It cannot be too small, because yauzl stops when a part becomes larger than stated.
    if (entry.uncompressedSize > maxBytes) throw new SheetError('too_large');
    const decoder = new TextDecoder();
    try {
      const bytes = await new Promise<AsyncIterable<Buffer>>((resolve, reject) => {
        this.#zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
      });
      for await (const chunk of bytes) {
        reader.write(decoder.decode(chunk, { stream: true }));
        yield reader;
      }
      reader.end(decoder.decode());
      yield reader;
    } catch (error) {
      throw error instanceof SheetError ? error : new SheetError('broken', { cause: error });
    }
  }

  close(): void {
    this.#zip.close();
  }
}
