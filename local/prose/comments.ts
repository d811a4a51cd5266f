import { SyntaxKind } from 'typescript/unstable/ast';
import { createScanner } from 'typescript/unstable/ast/scanner';

/** Comment of a source without its comment marks. Consecutive lines with two slashes are one comment. */
interface Comment {
  text: string;
  /** First line of the comment in the source, from 1. */
  line: number;
}

/** Tokens after which a slash means division. After any other token, a slash starts a regular expression. */
const ENDS_OPERAND = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.ThisKeyword,
]);
/** Minimum length of a comment including its line end. Most gaps between tokens are shorter and are skipped. */
const SHORTEST = 3;
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//g;

/**
 * Returns the comments of a TypeScript source in order. Ignores similar text in strings, templates and regular
 * expressions.
 */
export function commentsIn(source: string): Comment[] {
  const comments: Comment[] = [];
  const scanner = createScanner(true, undefined, source);
  /** Number of open braces in each enclosing template substitution. */
  const braces: number[] = [];
  let before = SyntaxKind.Unknown;
  let line = 1;
  let countedTo = 0;
  let token: SyntaxKind;
  do {
    token = scanner.scan();
    const start = scanner.getTokenFullStart();
    const end = scanner.getTokenStart();
    const between = end - start < SHORTEST ? '' : source.slice(start, end);
    if (between.includes('/')) {
      line += linesIn(source, countedTo, start);
      countedTo = start;
      comments.push(...commentsBetween(between, line));
    }
    if (token === SyntaxKind.SlashToken || token === SyntaxKind.SlashEqualsToken) {
      if (!ENDS_OPERAND.has(before)) token = scanner.reScanSlashToken();
    } else if (token === SyntaxKind.TemplateHead) braces.push(0);
    else if (braces.length > 0 && token === SyntaxKind.OpenBraceToken) braces[braces.length - 1]! += 1;
    else if (braces.length > 0 && token === SyntaxKind.CloseBraceToken) {
      if (braces.at(-1) === 0) token = scanner.reScanTemplateToken(false);
      else braces[braces.length - 1]! -= 1;
      if (token === SyntaxKind.TemplateTail) braces.pop();
    }
    before = token;
  } while (token !== SyntaxKind.EndOfFile);
  return comments;
}

/** Returns the comments of the text between two tokens, which starts on `line`. */
function commentsBetween(text: string, line: number): Comment[] {
  const comments: Comment[] = [];
  let lineEnd: number | undefined;
  for (const { 0: written, index } of text.matchAll(COMMENT)) {
    const isLine = written.startsWith('//');
    const plain = isLine ? written.replace(/^\/\/+ ?/, '').trimEnd() : withoutMarks(written);
    // A line comment directly below another one continues it.
    if (isLine && lineEnd !== undefined && /^\r?\n[ \t]*$/.test(text.slice(lineEnd, index)))
      comments.at(-1)!.text += `\n${plain}`;
    else comments.push({ text: plain, line: line + linesIn(text, 0, index) });
    lineEnd = isLine ? index + written.length : undefined;
  }
  return comments;
}

function linesIn(source: string, from: number, to: number): number {
  let count = 0;
  for (let at = source.indexOf('\n', from); at !== -1 && at < to; at = source.indexOf('\n', at + 1)) count += 1;
  return count;
}

function withoutMarks(comment: string): string {
  return comment
    .replace(/^\/\*+/, '')
    .replace(/\*+\/$/, '')
    .split(/\r?\n/)
    .map((each) => each.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
}
