import { z } from 'zod';
import { ruleMessage } from '../../../lib/issue-message.ts';

/** Maximum number of segments in a path. */
const MAX_PATH_SEGMENTS = 8;
/** Maximum number of predicates in one goal, trend or funnel step. */
const MAX_PREDICATES = 20;
const MAX_LISTED = 50;
const MAX_TEXT = 500;

/** Returns true if PostgreSQL can store the text: without NUL and unpaired surrogates. */
const storable = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text);

/**
 * A path into the data of a product event: property names joined by dots, from the outermost to the innermost. The path
 * leads through objects only, never into an array.
 */
export const propertyPath = z
  .string()
  .min(1)
  .max(400)
  .refine(storable, ruleMessage('directory.unstorable'))
  .refine((path) => path.split('.').every((segment) => segment !== ''), ruleMessage('directory.path_segment_empty'))
  .refine(
    (path) => path.split('.').length <= MAX_PATH_SEGMENTS,
    ruleMessage('directory.path_segments', { max: MAX_PATH_SEGMENTS }),
  )
  .meta({ description: 'Dot path of a property in the data of the event, up to 8 segments, such as `plan.name`' });

const text = z.string().max(MAX_TEXT).refine(storable, ruleMessage('directory.unstorable'));
const scalar = z.union([text, z.number(), z.boolean()]);

/** One condition on the data of an event. */
export const predicateSchema = z.discriminatedUnion('op', [
  z.strictObject({ path: propertyPath, op: z.enum(['eq', 'neq']), value: scalar }),
  z.strictObject({ path: propertyPath, op: z.enum(['in', 'not_in']), value: z.array(scalar).min(1).max(MAX_LISTED) }),
  z.strictObject({ path: propertyPath, op: z.enum(['gt', 'gte', 'lt', 'lte']), value: z.number() }),
  z.strictObject({ path: propertyPath, op: z.literal('contains'), value: text.min(1) }),
  z.strictObject({ path: propertyPath, op: z.enum(['exists', 'not_exists']) }),
]);

/** Conditions that must all hold. An empty list holds for every event. */
export const predicatesSchema = z
  .array(predicateSchema)
  .max(MAX_PREDICATES)
  .meta({ description: 'All of them must hold' });

/** One condition on the data of an event. */
export type Predicate = z.output<typeof predicateSchema>;
/** Value that a condition compares with. */
export type Scalar = z.output<typeof scalar>;
