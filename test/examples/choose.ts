import { fullPath, type AnyRoute } from '../../api/http/route.ts';
import type { Examples, OperationExample } from '../../api/http/examples.ts';
import { ERROR_CODES } from '../../lib/errors.ts';
import type { RecordedCall } from '../harness/recorded-calls.ts';
import { exampleFaults } from './faults.ts';
import { tidied } from './tidy.ts';

/** Number of characters of JSON that can be read at a glance. */
const READABLE = 1_500;
const TOO_LONG = 6_000;
/** Score bonus of a call that was made as an example. It exceeds every other score. */
const SHOWN_FIRST = 100_000;

/**
 * Chooses one call per operation and one refusal per error code from the suites' calls. A stored example that still
 * fits its schemas is kept, so that a new recording changes little; calls made as examples replace it.
 */
export function chooseExamples(routes: readonly AnyRoute[], calls: readonly RecordedCall[], kept: Examples): Examples {
  const byOperation = new Map<string, { score: number; example: OperationExample }>();
  const errors: Examples['errors'] = { ...kept.errors };
  const matchers = routes.map((spec) => ({ spec, pattern: patternOf(spec), fixed: fixedParts(spec) }));
  for (const call of calls) {
    const [pathname = '', search = ''] = call.path.split('?');
    const match = matchers
      .filter(({ spec, pattern }) => spec.method === call.method.toLowerCase() && pattern.test(pathname))
      .toSorted((a, b) => b.fixed - a.fixed)[0];
    if (!match) continue;
    const { spec, pattern } = match;
    if (call.status !== spec.success.status) {
      noteError(errors, spec, call);
      continue;
    }
    const example: OperationExample = tidied({
      ...(hasJsonBody(spec) && call.sent !== undefined ? { request: call.sent } : {}),
      ...parametersOf(spec, pattern.exec(pathname)!.groups, search),
      ...(hasJsonAnswer(spec) ? { response: call.answer } : {}),
    });
    if (exampleFaults(spec, example).length > 0) continue;
    const score = scoreOf(example) + (call.shown ? SHOWN_FIRST : 0);
    const best = byOperation.get(spec.operationId);
    if (!best || score > best.score) byOperation.set(spec.operationId, { score, example });
  }
  const operations: Examples['operations'] = {};
  for (const spec of routes.toSorted((a, b) => (a.operationId < b.operationId ? -1 : 1))) {
    const old = kept.operations[spec.operationId];
    const found = byOperation.get(spec.operationId);
    const isKept = old && exampleFaults(spec, old).length === 0 && !(found && found.score > SHOWN_FIRST / 2);
    const example = isKept ? old : found?.example;
    if (example && Object.keys(example).length > 0) operations[spec.operationId] = example;
  }
  return { operations, errors: Object.fromEntries(Object.entries(errors).toSorted(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Returns true if a route accepts a body that can be shown. */
export function hasJsonBody(spec: AnyRoute): boolean {
  return spec.body !== undefined && ['json', 'form', undefined].includes(spec.consumes) && spec.area !== 'pages';
}

/** Returns true if a route answers with content that can be shown. */
export function hasJsonAnswer(spec: AnyRoute): boolean {
  return spec.success.body !== undefined && spec.success.body !== 'stream';
}

function patternOf(spec: AnyRoute): RegExp {
  return new RegExp(`^${fullPath(spec).replace(/:([A-Za-z]+)/g, '(?<$1>[^/]+)')}/?$`);
}

function fixedParts(spec: AnyRoute): number {
  return fullPath(spec)
    .split('/')
    .filter((part) => !part.startsWith(':')).length;
}

function parametersOf(
  spec: AnyRoute,
  groups: Record<string, string> | undefined,
  search: string,
): Pick<OperationExample, 'path' | 'query'> {
  const query = spec.query ? Object.fromEntries(new URLSearchParams(search)) : {};
  return {
    ...(groups && Object.keys(groups).length > 0 ? { path: { ...groups } } : {}),
    ...(Object.keys(query).length > 0 ? { query } : {}),
  };
}

function noteError(errors: Examples['errors'], spec: AnyRoute, { answer, status }: RecordedCall): void {
  const { code, problems } = (answer ?? {}) as { code?: string; problems?: unknown[] };
  if (spec.errorStyle || !code || !(code in ERROR_CODES) || ERROR_CODES[code as keyof typeof ERROR_CODES] !== status)
    return;
  const worth = (list: unknown[] | undefined): number => (list?.length === 2 ? 2 : list?.length ? 1 : 0);
  const known = errors[code] as { problems?: unknown[] } | undefined;
  if (!known || worth(problems) > worth(known.problems)) errors[code] = tidied(answer as object);
}

/** Scores an example: more content is better, up to the amount that can be read at a glance. */
function scoreOf(example: OperationExample): number {
  const size = JSON.stringify(example).length;
  const filled = leaves(example).filter((value) => value !== null && value !== '').length;
  if (size > TOO_LONG) return -size;
  return Math.min(filled, 60) - Math.max(0, size - READABLE) / 50;
}

function leaves(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
}
