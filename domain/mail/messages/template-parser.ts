import { message, type Message } from '../../../messages/index.ts';
import { MAX_NESTING, MAX_SOURCE_LENGTH, MAX_TEMPLATE_ERRORS } from './limits.ts';
import { TEMPLATE_FUNCTIONS } from './template-functions.ts';
import { decodeActionEntities, splitSegments, TemplateSyntaxError, tokenize } from './template-lexer.ts';
import type { Token } from './template-lexer.ts';

/** A fault in a template. Line and column are counted from 1, at the opening braces of the action. */
export interface TemplateError {
  readonly message: Message;
  readonly line: number;
  readonly column: number;
}

/** A use of one field in a template. */
interface TemplateReference {
  /** Path from the root: `['App', 'order', 'total']`. */
  readonly path: readonly string[];
  /** True if a missing value leaves no gap, because a default exists or the field is only tested. */
  readonly hasDefault: boolean;
}

/** An expression, the content of an action. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'field'; readonly path: readonly string[] }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] };

/** A part of a parsed template. `broken` is source that could not be parsed and is printed literally. */
export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'broken'; readonly raw: string }
  | { readonly kind: 'print'; readonly expression: Expression }
  | { readonly kind: 'if'; readonly clauses: readonly TemplateClause[] };

/** One branch of an `{{if}}` block. The `{{else}}` branch has no test. */
interface TemplateClause {
  readonly test: Expression | undefined;
  readonly body: readonly TemplateNode[];
}

/** A parsed template. A template with errors still renders, with its broken actions printed literally. */
export interface Template {
  readonly nodes: readonly TemplateNode[];
  readonly errors: readonly TemplateError[];
  readonly references: readonly TemplateReference[];
}

interface OpenIf {
  readonly clauses: { test: Expression | undefined; body: TemplateNode[] }[];
  readonly raw: string;
  readonly offset: number;
}

const UNSUPPORTED_KEYWORDS = new Set(['range', 'with', 'define', 'template', 'block', 'break', 'continue', 'nil']);

/** Parses a template without the cache (see `parseTemplate`). Never throws. */
export function parseSource(source: string, { html }: { html: boolean }): Template {
  const errors: TemplateError[] = [];
  const report = (offset: number, said: Message): void => {
    if (errors.length < MAX_TEMPLATE_ERRORS) errors.push({ message: said, ...positionAt(source, offset) });
  };
  const verbatim = (): Template => ({ nodes: [{ kind: 'text', text: source }], errors, references: [] });
  if (source.length > MAX_SOURCE_LENGTH) {
    report(0, message('template.too_long', { max: MAX_SOURCE_LENGTH }));
    return verbatim();
  }

  const root: TemplateNode[] = [];
  const references: TemplateReference[] = [];
  const open: OpenIf[] = [];
  let nodes = root;
  for (const segment of splitSegments(source)) {
    if (segment.kind === 'text') {
      nodes.push(segment);
      continue;
    }
    if (segment.kind === 'broken') {
      report(segment.offset, message('template.action_open'));
      nodes.push(segment);
      continue;
    }
    try {
      const tokens = tokenize(html ? decodeActionEntities(segment.body) : segment.body);
      const keyword = tokens[0]?.kind === 'name' ? tokens[0].name : '';
      if (keyword === 'if') {
        if (open.length === MAX_NESTING) {
          report(segment.offset, message('template.blocks_nested', { max: MAX_NESTING }));
          return verbatim();
        }
        const test = parseExpression(tokens.slice(1));
        collectReferences(test, true, references);
        const body: TemplateNode[] = [];
        open.push({ clauses: [{ test, body }], raw: segment.raw, offset: segment.offset });
        nodes = body;
      } else if (keyword === 'else') {
        nodes = openElse(open.at(-1), tokens, references);
      } else if (keyword === 'end') {
        const block = open.at(-1);
        if (!block) throw new TemplateSyntaxError(message('template.end_without_if'));
        if (tokens.length > 1) throw new TemplateSyntaxError(message('template.end_takes_nothing'));
        open.pop();
        nodes = open.at(-1)?.clauses.at(-1)!.body ?? root;
        nodes.push({ kind: 'if', clauses: block.clauses });
      } else {
        const expression = parseExpression(tokens);
        collectReferences(expression, false, references);
        nodes.push({ kind: 'print', expression });
      }
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error;
      report(segment.offset, error.said);
      nodes.push({ kind: 'broken', raw: segment.raw });
    }
  }
  for (let block = open.pop(); block; block = open.pop()) {
    report(block.offset, message('template.if_without_end'));
    const outer = open.at(-1)?.clauses.at(-1)!.body ?? root;
    outer.push({ kind: 'broken', raw: block.raw });
    for (const clause of block.clauses) for (const node of clause.body) outer.push(node);
  }
  return { nodes: root, errors, references };
}

/** Opens the `{{else}}` or `{{else if}}` branch of a block and returns its body. */
function openElse(block: OpenIf | undefined, tokens: Token[], references: TemplateReference[]): TemplateNode[] {
  if (!block) throw new TemplateSyntaxError(message('template.else_without_if'));
  if (block.clauses.at(-1)!.test === undefined) throw new TemplateSyntaxError(message('template.second_else'));
  let test: Expression | undefined;
  if (tokens.length > 1) {
    const second = tokens[1]!;
    if (second.kind !== 'name' || second.name !== 'if') {
      throw new TemplateSyntaxError(message('template.else_expected'));
    }
    test = parseExpression(tokens.slice(2));
    collectReferences(test, true, references);
  }
  const body: TemplateNode[] = [];
  block.clauses.push({ test, body });
  return body;
}

/** Parses a whole pipeline: `operand`, `function operand …`, and stages joined by `|`. */
function parseExpression(tokens: readonly Token[]): Expression {
  let position = 0;

  const parsePipeline = (depth: number): Expression => {
    if (depth > MAX_NESTING)
      throw new TemplateSyntaxError(message('template.parentheses_nested', { max: MAX_NESTING }));
    let expression = parseStage(undefined, depth);
    while (isSymbol(tokens[position], '|')) {
      position += 1;
      expression = parseStage(expression, depth);
    }
    return expression;
  };

  const parseStage = (piped: Expression | undefined, depth: number): Expression => {
    const first = tokens[position];
    if (first?.kind === 'name') {
      position += 1;
      const args: Expression[] = [];
      while (position < tokens.length && !isSymbol(tokens[position], '|') && !isSymbol(tokens[position], ')')) {
        args.push(parseOperand(depth));
      }
      if (piped) args.push(piped);
      return call(first.name, args);
    }
    if (piped) throw new TemplateSyntaxError(message('template.function_missing'));
    return parseOperand(depth);
  };

  const parseOperand = (depth: number): Expression => {
    const token = tokens[position];
    if (!token) throw new TemplateSyntaxError(message('template.value_missing'));
    position += 1;
    if (token.kind === 'field' || token.kind === 'literal') return token;
    if (token.kind === 'name') return call(token.name, []);
    if (token.symbol !== '(') throw new TemplateSyntaxError(message('template.unexpected', { text: token.symbol }));
    const inner = parsePipeline(depth + 1);
    if (!isSymbol(tokens[position], ')')) throw new TemplateSyntaxError(message('template.parenthesis_open'));
    position += 1;
    return inner;
  };

  const expression = parsePipeline(0);
  if (position < tokens.length) throw new TemplateSyntaxError(message('template.text_after_value'));
  return expression;
}

function isSymbol(token: Token | undefined, symbol: string): boolean {
  return token?.kind === 'symbol' && token.symbol === symbol;
}

function call(name: string, args: readonly Expression[]): Expression {
  if (name === 'index') return fieldByIndex(args);
  if (UNSUPPORTED_KEYWORDS.has(name)) throw new TemplateSyntaxError(message('template.unsupported', { name }));
  const definition = TEMPLATE_FUNCTIONS.get(name);
  if (!definition) throw new TemplateSyntaxError(message('template.unknown_function', { name, field: `{{.${name}}}` }));
  if (args.length < definition.minArgs || args.length > definition.maxArgs) {
    throw new TemplateSyntaxError(message('template.argument_count', { name }));
  }
  return { kind: 'call', name, args };
}

/**
 * Converts `index . "Job Title"` to a field read. Its keys must be literals, so that the references are known without
 * rendering.
 */
function fieldByIndex(args: readonly Expression[]): Expression {
  const [root, ...keys] = args;
  const fault = message('template.index_keys');
  if (root?.kind !== 'field' || keys.length === 0) throw new TemplateSyntaxError(fault);
  const path = [...root.path];
  for (const key of keys) {
    if (key.kind !== 'literal') throw new TemplateSyntaxError(fault);
    path.push(String(key.value));
  }
  return { kind: 'field', path };
}

function collectReferences(expression: Expression, covered: boolean, into: TemplateReference[]): void {
  if (expression.kind === 'field') into.push({ path: expression.path, hasDefault: covered });
  if (expression.kind !== 'call') return;
  const { covers } = TEMPLATE_FUNCTIONS.get(expression.name)!;
  expression.args.forEach((argument, index) =>
    collectReferences(argument, covered || covers(index, expression.args.length), into),
  );
}

/** Returns line and column of an offset, both from 1. */
export function positionAt(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}
