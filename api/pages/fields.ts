import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../domain/identity/passwords.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import type { StreamReply } from '../http/route.ts';
import type { PageTexts } from './texts.ts';
import { emailAddress } from '../http/schemas.ts';
import { html, type Html } from '../http/html.ts';
import { message } from '../../messages/index.ts';

/** The path parameter of a link with a secret in it. */
export const tokenParams = z.object({ token: z.string() });

/** The field of a new password, with the rule that can be said beforehand. */
export function passwordField({ field }: PageTexts, label = field.password): Html {
  return html`<label class="field">${label}<input class="text" type="password" name="password" autocomplete="new-password" required minlength="${PASSWORD_LENGTH.min}" maxlength="${PASSWORD_LENGTH.max}"></label>
<p class="soft">${field.passwordRule(PASSWORD_LENGTH.min)}</p>`;
}

/** The field of a person's name. */
export function nameField({ field }: PageTexts, name: string, autofocus: Html | null = null): Html {
  return html`<label class="field">${field.name}<input class="text" name="name" value="${name}" autocomplete="name" maxlength="200"${autofocus}></label>`;
}

/** A name as a person writes it into one field: the first word, and the rest. */
export function splitName(name: string): { firstName: string; lastName: string } {
  const [first = '', ...rest] = name.trim().split(/\s+/);
  return { firstName: first.slice(0, 100), lastName: rest.join(' ').slice(0, 100) };
}

/**
 * An address of a form.
 * @throws AppError bad_request
 */
export function addressIn(value: string): string {
  const parsed = emailAddress.safeParse(value);
  if (!parsed.success)
    throw refusedForm([{ path: 'body.email', message: message('field.format', { format: message('form.email') }) }]);
  return parsed.data;
}

/** Faults of a form, in words of its fields. */
export function refusedForm(problems: Problem[]): AppError {
  return new AppError('bad_request', message('form.faults'), { problems });
}

/** Does what a form asks; what the person can mend comes back as `again`, the same form. */
export async function orAgain(
  again: (refused: AppError) => StreamReply | Promise<StreamReply>,
  work: () => Promise<StreamReply>,
): Promise<StreamReply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return again(error);
    throw error;
  }
}
