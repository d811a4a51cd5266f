import type { z } from 'zod';

/** Helpers that tie schemas of recorded payloads to current types. */

type Inputs<Activities, Name extends keyof Activities> = Activities[Name] extends (...args: infer Args) => unknown
  ? Args
  : never;
type Result<Activities, Name extends keyof Activities> = Activities[Name] extends (...args: never[]) => infer Answer
  ? Awaited<Answer>
  : never;

interface ActivityPayloads {
  input: z.ZodType;
  result: z.ZodType;
}

/** Payload schemas of one family. */
export interface FamilyPayloads {
  args: z.ZodType;
  signals: Readonly<Record<string, z.ZodType>>;
  activities: Readonly<Record<string, ActivityPayloads>>;
}

/** Ties a schema to a current type. */
export const today =
  <Type>() =>
  <Schema extends z.ZodType<Type>>(schema: Schema): Schema =>
    schema;

/** Ties the input and the result of an activity to its signature. */
export const activity =
  <Activities>() =>
  <Name extends keyof Activities>(
    _name: Name,
    input: z.ZodType<Inputs<Activities, Name>>,
    result: z.ZodType<Result<Activities, Name>>,
  ): ActivityPayloads => ({ input, result });
