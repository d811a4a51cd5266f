import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { SHELLS, type Shell } from './completion.ts';

/** Parses a day (YYYY-MM-DD) or a time (RFC 3339) and returns it unchanged. */
export function auditMoment(value: string): string {
  if (Number.isNaN(Date.parse(value)))
    throw new InvalidArgumentError('This is neither a day (YYYY-MM-DD) nor a moment (RFC 3339).');
  return value;
}

/** Parses an argument that is a time (RFC 3339). @throws InvalidArgumentError for any other text */
export function moment(value: string): Date {
  if (Number.isNaN(Date.parse(value))) throw new InvalidArgumentError('This is no moment (RFC 3339).');
  return new Date(value);
}

/** Adds the id of a parked intent to the ids of the earlier arguments. */
export function outboxId(value: string, earlier: string[] = []): string[] {
  if (!/^\d{1,18}$/.test(value)) throw new InvalidArgumentError('This is not the id of an intent.');
  return [...earlier, value];
}

/** Parses the name of a mail provider with OAuth consent. */
export function consentProvider(value: string): string {
  if (value !== 'gmail' && value !== 'outlook') throw new InvalidArgumentError('This is neither gmail nor outlook.');
  return value;
}

/** Parses a whole number from 1 to 9,999,999. */
export function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,6}$/.test(value)) throw new InvalidArgumentError('This is not a whole number from 1.');
  return Number(value);
}

/** Validates an email address and returns it unchanged. */
export function emailAddress(value: string): string {
  if (!z.email().safeParse(value).success) throw new InvalidArgumentError('This is not an email address.');
  return value;
}

/** Parses the name of a shell that `heron completion` supports. */
export function shellName(value: string): Shell {
  const shell = SHELLS.find((name) => name === value);
  if (!shell) throw new InvalidArgumentError(`This is none of ${SHELLS.join(', ')}.`);
  return shell;
}
