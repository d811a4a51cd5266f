/** Typed client of Heron's API. */
export { allOf, dataOf, eachOf, executedOf } from './answers.ts';
export { createHeron, type BodyOf, type Heron, type HeronOptions } from './client.ts';
export { ApprovalNeeded, HeronError, type Problem } from './errors.ts';
export type { paths, Schemas } from './schema.ts';
