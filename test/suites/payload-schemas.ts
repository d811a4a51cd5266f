import type { z } from 'zod';

/** Helpers that make the compiler compare schemas of recorded payloads with current types. */

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

/** Makes the compiler check that a schema's output is assignable to a current type. */
export const today =
  <Type>() =>
  <Schema extends z.ZodType<Type>>(schema: Schema): Schema =>
    schema;

/** Makes the compiler check that schemas for an activity's input and result fit its signature. */
export const activity =
  <Activities>() =>
  <Name extends keyof Activities>(
    _name: Name,
    input: z.ZodType<Inputs<Activities, Name>>,
    result: z.ZodType<Result<Activities, Name>>,
  ): ActivityPayloads => ({ input, result });
