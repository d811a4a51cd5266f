import { EgressError } from '../../../lib/egress/index.ts';
import { errorSummary } from '../../../lib/error-report.ts';
import type { Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';
import { externalText } from '../../platform/external-text.ts';

/** Thrown if a part of the installation does not work. The message describes the problem. */
export class PartError extends Error {
  readonly said: Message;

  constructor(said: Message) {
    super(render(said));
    this.said = said;
  }
}

/**
 * Returns the error of a part as a message. For a PartError, this is its own message. Otherwise it is the text of a
 * server or driver.
 */
export function partErrorMessage(error: unknown): Message {
  if (error instanceof PartError || error instanceof EgressError) return error.said;
  return externalText(errorSummary(error).replace(/\.$/, ''));
}
