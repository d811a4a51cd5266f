import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../domain/identity/passwords.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import type { StreamReply } from '../http/route.ts';
import type { PageTexts } from './texts.ts';
import { emailAddress } from '../http/schemas.ts';
import { html, type Html } from '../http/html.ts';
import { message } from '../../messages/index.ts';

/** Path parameter of a link with a secret. */
export const tokenParams = z.object({ token: z.string() });

/** Renders the field for a new password, with the rule about its length. */
export function passwordField({ field }: PageTexts, label = field.password): Html {
  return html`<label class="field">${label}<input class="text" type="password" name="password" autocomplete="new-password" required minlength="${PASSWORD_LENGTH.min}" maxlength="${PASSWORD_LENGTH.max}"></label>
<p class="soft">${field.passwordRule(PASSWORD_LENGTH.min)}</p>`;
}

/** Renders the field of a person's name. */
export function nameField({ field }: PageTexts, name: string, autofocus: Html | null = null): Html {
  return html`<label class="field">${field.name}<input class="text" name="name" value="${name}" autocomplete="name" maxlength="200"${autofocus}></label>`;
}

/** Splits a full name into a first name (the first word) and a last name (the rest). */
export function splitName(name: string): { firstName: string; lastName: string } {
  const [first = '', ...rest] = name.trim().split(/\s+/);
  return { firstName: first.slice(0, 100), lastName: rest.join(' ').slice(0, 100) };
}

/**
 * Parses an email address of a form.
 * @throws AppError bad_request
 */
export function addressIn(value: string): string {
  const parsed = emailAddress.safeParse(value);
  if (!parsed.success)
    throw refusedForm([{ path: 'body.email', message: message('field.format', { format: message('form.email') }) }]);
  return parsed.data;
}

/** Creates the error for a form's problems, described by its fields. */
export function refusedForm(problems: Problem[]): AppError {
  return new AppError('bad_request', message('form.faults'), { problems });
}

/** Runs a form's action. Shows the form again (`again`) for errors that the person can correct. */
export async function runOrShowAgain(
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
