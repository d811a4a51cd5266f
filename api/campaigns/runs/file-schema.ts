import { createRunSchema } from '../../../domain/campaigns/runs/input.ts';
import { toSchema } from '../../http/openapi-schema.ts';

/** Returns the JSON Schema of a run file (the body of POST /runs), for editors. */
export function runSchema(): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Heron run',
    description: 'A campaign with senders, audience and schedule, for `heron run` and POST /v1/runs',
    ...toSchema(createRunSchema, 'input'),
  };
}
