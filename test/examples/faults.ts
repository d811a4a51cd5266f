import type { z } from 'zod';
import type { OperationExample } from '../../api/http/examples.ts';
import type { AnyRoute } from '../../api/http/route.ts';

/** Returns the reasons why an example is no valid request or answer of its route; empty if it is valid. */
export function exampleFaults(spec: AnyRoute, example: OperationExample): string[] {
  const faults: string[] = [];
  const check = (what: string, schema: z.ZodType | 'stream' | undefined, value: unknown): void => {
    if (!schema || schema === 'stream') {
      if (value !== undefined) faults.push(`${what}: the operation has none`);
      return;
    }
    const parsed = schema.safeParse(value);
    if (!parsed.success)
      faults.push(...parsed.error.issues.map((issue) => `${what}.${issue.path.join('.')}: ${issue.message}`));
  };
  if (example.request !== undefined) check('request', spec.body, example.request);
  else if (spec.body && spec.consumes !== 'raw' && spec.consumes !== 'multipart' && !spec.body.safeParse({}).success)
    faults.push('request: missing');
  if (example.response !== undefined || (spec.success.body && spec.success.body !== 'stream'))
    check('response', spec.success.body, example.response);
  if (example.query !== undefined) check('query', spec.query, example.query);
  if (example.path !== undefined && spec.params) check('path', spec.params, example.path);
  return faults;
}
