import { isMap, LineCounter, parseDocument, type Document, type Node, type ParsedNode } from 'yaml';
import type { z } from 'zod';
import { createRunSchema } from '../domain/campaigns/runs/input.ts';
import { issueMessage } from '../lib/issue-message.ts';
import { message } from '../messages/index.ts';
import { render } from '../messages/render.ts';

/** Fault of a run file with its position. Line and column are counted from 1. */
interface FileFault {
  line: number;
  column: number;
  message: string;
}

/** Content of a valid run file. */
interface RunFile {
  /** The body of POST /runs. */
  body: z.input<typeof createRunSchema>;
  /**
   * Returns the position of a problem from the API in the file. This is the position of the field or, if it is missing,
   * of its parent.
   */
  locate(problem: { path: string; message: string }): FileFault;
}

/**
 * Reads a run file: YAML with the fields of POST /runs.
 * @returns the file, or all its faults. Faults of fields are returned only if the YAML is valid
 */
export function readRunFile(text: string): { file: RunFile } | { faults: FileFault[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0)
    return { faults: broken.map(({ pos, message }) => ({ ...placeOf(lines, pos[0]), message: message.trim() })) };
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // The YAML library throws for aliases that would expand without limit or refer to themselves.
    return { faults: [{ line: 1, column: 1, message: (error as Error).message }] };
  }
  const at = (path: readonly (string | number)[]) => placeOf(lines, offsetOf(document, path));
  const checked = createRunSchema.safeParse(value, { reportInput: true });
  if (!checked.success) return { faults: checked.error.issues.flatMap((issue) => faultsOf(issue, at)) };
  return {
    file: {
      body: value as RunFile['body'],
      locate: ({ path, message }) => {
        const fields = path.replace(/^body\.?/, '').split('.');
        return { ...at(fields.map(asKey)), message: named(fields.join('.'), message) };
      },
    },
  };
}

/** Formats one line per fault like a compiler, in the order of the file. */
export function faultLines(name: string, faults: readonly FileFault[]): string[] {
  return faults
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
}

type At = (path: readonly (string | number)[]) => Omit<FileFault, 'message'>;

function faultsOf(issue: z.core.$ZodIssue, at: At): FileFault[] {
  const path = issue.path as (string | number)[];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      ...at([...path, key]),
      message: named([...path, key].join('.'), render(message('field.unknown'))),
    }));
  return [{ ...at(path), message: named(path.join('.'), render(issueMessage(issue))) }];
}

function named(path: string, message: string): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** Parses a part of a dotted path. Positions in a list become numbers. */
function asKey(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part;
}

/** Returns the offset in the text of a field's key or, for a missing field, of its parent. */
function offsetOf(document: Document.Parsed, path: readonly (string | number)[]): number {
  let node: Node | null | undefined = document.contents;
  let offset = startOf(node) ?? 0;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (key as { value?: unknown } | null)?.value === part);
      if (!pair) break;
      offset = startOf(pair.key as ParsedNode) ?? offset;
      node = pair.value as Node | null;
    } else {
      const next = (node as { get?(key: unknown, keep: boolean): unknown } | null)?.get?.(part, true) as
        | Node
        | undefined;
      if (!next) break;
      offset = startOf(next) ?? offset;
      node = next;
    }
  }
  return offset;
}

function startOf(node: Node | null | undefined): number | undefined {
  return node?.range?.[0];
}

function placeOf(lines: LineCounter, offset: number): Omit<FileFault, 'message'> {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
