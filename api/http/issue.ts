import { z } from 'zod';
import type { StoredIssue } from '../../db/json-columns.ts';
import type { Language } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/** A problem of a record, with its remedy, in the language of the request. */
export const issue = z.strictObject({ code: z.string(), message: z.string(), fix: z.string() });

/** A stored problem in a language. */
export function presentIssue(
  { code, message, fix }: StoredIssue,
  language: Language | undefined,
): z.input<typeof issue> {
  return { code, message: render(message, language), fix: render(fix, language) };
}
