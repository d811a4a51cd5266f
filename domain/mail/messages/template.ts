import { createBoundedCache } from './bounded-cache.ts';
import { MAX_CACHED_LENGTH, MAX_RENDER_WORK, MAX_RENDERED_LENGTH } from './limits.ts';
import { isTruthy, known, printedLength, printValue, TEMPLATE_FUNCTIONS } from './template-functions.ts';
import type { Traced } from './template-functions.ts';
import { parseSource } from './template-parser.ts';
import type { Expression, Template, TemplateNode } from './template-parser.ts';
import { escapeHtml } from './text.ts';
import { valueInText } from './url-values.ts';

interface RenderedTemplate {
  readonly text: string;
  /**
   * Placeholders such as `{{.Company}}` without a value or default, and those that could not be parsed and remain in
   * the text. Each is listed once.
   */
  readonly unresolved: readonly string[];
  /** Set if rendering ended early at its length or work limit. Such a text must not be sent. */
  readonly exceeded: 'length' | 'work' | null;
}

/** Number of characters before a value that are checked for an unfinished URL. */
const TAIL_LENGTH = 512;

const plainTemplates = createBoundedCache<Template>(MAX_CACHED_LENGTH);
const htmlTemplates = createBoundedCache<Template>(MAX_CACHED_LENGTH);

/**
 * Parses a template in the supported part of Go's text/template. Fields `{{.FirstName}}`, `{{.App.order.total}}`,
 * `{{index . "Job Title"}}`; pipelines and calls of {@link TEMPLATE_FUNCTIONS}; `{{if}} {{else if}} {{else}} {{end}}`;
 * comments; trim markers. In HTML, entities inside an action (`&quot;`) are decoded. Never throws: faults are in
 * `errors`. Results are shared and cached by source.
 */
export function parseTemplate(source: string, { html = false }: { html?: boolean } = {}): Template {
  return (html ? htmlTemplates : plainTemplates).getOrCreate(source, () => parseSource(source, { html }));
}

/**
 * Renders a parsed template. A missing, null or blank value or an object leaves a gap and is reported as unresolved,
 * unless it has a default or is only tested. Only own properties of values are read, never those of a prototype. With
 * `escapeHtml` all output of actions is HTML-escaped. With `encodeInUrls` values inside a URL of the text are
 * percent-encoded. Never throws.
 * @param options.budget budget shared by templates that are rendered together; defaults to a separate one
 */
export function renderTemplate(
  template: Template,
  values: object,
  {
    escapeHtml: escape = false,
    encodeInUrls = false,
    budget = new WorkBudget(),
  }: { escapeHtml?: boolean; encodeInUrls?: boolean; budget?: WorkBudget } = {},
): RenderedTemplate {
  const unresolved = new Set<string>();
  const pieces: string[] = [];
  let length = 0;
  let tail = '';
  const emit = (piece: string): void => {
    const room = MAX_RENDERED_LENGTH - length;
    if (piece.length > room) budget.exceeded ??= 'length';
    const kept = piece.length > room ? piece.slice(0, room) : piece;
    length += kept.length;
    pieces.push(kept);
    if (encodeInUrls) tail = (tail + kept.slice(-TAIL_LENGTH)).slice(-TAIL_LENGTH);
  };
  const renderNodes = (nodes: readonly TemplateNode[]): void => {
    for (const node of nodes) {
      if (budget.exceeded) return;
      if (node.kind === 'text') {
        emit(node.text);
      } else if (node.kind === 'broken') {
        unresolved.add(node.raw);
        emit(node.raw);
      } else if (node.kind === 'if') {
        const chosen = node.clauses.find(({ test }) => !test || isTruthy(evaluate(test, values, budget).value));
        if (chosen) renderNodes(chosen.body);
      } else {
        const result = evaluate(node.expression, values, budget);
        if (budget.exceeded) return;
        const value = printValue(result.value);
        for (const path of result.missing) unresolved.add(placeholder(path));
        const printed = value && encodeInUrls ? valueInText(value, tail) : value;
        if (printed) emit(escape ? escapeHtml(printed) : printed);
      }
    }
  };
  renderNodes(template.nodes);
  return { text: pieces.join(''), unresolved: [...unresolved], exceeded: budget.exceeded };
}

/** Remaining work of one rendering, or of several together. */
export class WorkBudget {
  #left = MAX_RENDER_WORK;
  readonly #whole: WorkBudget | undefined;
  /** Limit whose excess ended the rendering; null if no limit was exceeded. */
  exceeded: RenderedTemplate['exceeded'] = null;

  /** @param whole budget shared with other renderings, from which work is subtracted too */
  constructor(whole?: WorkBudget) {
    this.#whole = whole;
  }

  /**
   * Subtracts work units from the budget. Call it before the work is done.
   * @returns false if a limit is exceeded; the caller must then skip the work
   */
  spend(units: number): boolean {
    this.#left -= units;
    if (this.#left < 0 || this.#whole?.spend(units) === false) this.exceeded ??= 'work';
    return this.exceeded === null;
  }
}

const NOTHING = known('');

/** Evaluates an expression. Returns an empty text once the budget is exceeded. */
function evaluate(expression: Expression, values: object, budget: WorkBudget): Traced {
  if (expression.kind === 'literal') return known(expression.value);
  if (expression.kind === 'field') {
    const value = readPath(values, expression.path);
    if (!budget.spend(1 + printedLength(value))) return NOTHING;
    return printValue(value)?.trim() ? known(value) : { value, missing: [expression.path] };
  }
  const { call, workPerCharacter = 1 } = TEMPLATE_FUNCTIONS.get(expression.name)!;
  const args = expression.args.map((argument) => evaluate(argument, values, budget));
  const length = args.reduce((sum, { value }) => sum + printedLength(value), 0);
  return budget.spend(1 + workPerCharacter * length) ? call(args) : NOTHING;
}

function readPath(values: object, path: readonly string[]): unknown {
  let value: unknown = values;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    // The only keys of a list are its positions.
    if (Array.isArray(value) && !/^\d+$/.test(key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Returns a field as an author would write it. */
function placeholder(path: readonly string[]): string {
  const isPlain = path.every((key) => /^[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*$/u.test(key));
  if (isPlain) return `{{.${path.join('.')}}}`;
  return `{{index . ${path.map((key) => JSON.stringify(key)).join(' ')}}}`;
}
