import { readFileSync } from 'node:fs';
import { ERROR_CODES, statusLabel, type ErrorCode } from '../../lib/errors.ts';
import { MADE, sentence, wrap } from './markdown.ts';

interface Recorded {
  message?: string;
  fix?: string;
  problems?: { path: string; message: string }[];
}

const HEAD = `# Errors

For developers who call the API. At the end you know every error code, its HTTP status, and what to do about it.

${MADE} The sentences are answers that tests have recorded.

\`\`\`json
{
  "error": "Bad Request",
  "code": "bad_request",
  "message": "The request has 1 problem",
  "problems": [{ "path": "body.name", "message": "must not be empty" }],
  "request_id": "019cad4d-3c00-7000-8000-000000000001"
}
\`\`\`

- Branch on \`code\`. Codes are stable, sentences are not.
- \`message\`, \`fix\` and \`problems\` are in the language of the request's \`Accept-Language\`: English or German.
- \`problems\` lists every fault of a request at once, each with the path of its field.
- \`request_id\` is in the log of the server. Quote it when you ask for help.
- 429, and 503 where the time is known, carry \`Retry-After\` in seconds. \`RateLimit\` tells beforehand what is left
  ([Limits](limits.md#rates-in-answers)).
- Repeat a write with its \`Idempotency-Key\`: it is carried out once, and a repetition gets the same answer.
- OAuth endpoints answer as RFC 6749 and RFC 7009 require ([OAuth and MCP](oauth.md)).
`;

/** Returns the text of docs/reference/errors.md: every code by its status, with a recorded answer. */
export function errorsPage(): string {
  const examples = recorded();
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  const statuses = [...new Set(Object.values(ERROR_CODES))].toSorted((a, b) => a - b);
  const sections = statuses.map((status) => {
    const items = codes
      .filter((code) => ERROR_CODES[code] === status)
      .toSorted()
      .map((code) => {
        const words = wordsOf(examples[code]);
        return wrap(words ? `\`${code}\`: ${words}` : `\`${code}\``, '- ');
      });
    return `## ${status} ${statusLabel(status)}\n\n${items.join('\n')}\n`;
  });
  return `${HEAD}\n${sections.join('\n')}`;
}

/**
 * Returns the sentences of an error answer. If its message only states the number of problems, the first problem is
 * used instead.
 */
function wordsOf({ message = '', fix = '', problems: [problem] = [] }: Recorded = {}): string {
  const isCount = / has \d+ problems?$/.test(message);
  const what = isCount && problem ? `\`${problem.path}\` ${problem.message}` : message;
  return [what && sentence(what), fix && sentence(fix)].filter(Boolean).join(' ');
}

/** Returns answers of the API that its tests recorded, by code. */
function recorded(): Partial<Record<ErrorCode, Recorded>> {
  const file = new URL('../../api/http/examples.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { errors: ReturnType<typeof recorded> }).errors;
}
