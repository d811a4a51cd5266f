import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { createCommandApi } from './api-client.ts';
import { OperatorError } from './waiting.ts';

const POLL_MS = 2_000;

/**
 * Connects a mailbox by consent through the API: prints the URL, opens a browser, and waits for the result.
 * @param env HERON_API_KEY, and HERON_API_URL if the API is on another machine
 * @param say prints a line for the person at the terminal
 * @returns the mailbox in the form of the API
 * @throws OperatorError when the API refuses, the person declines, or the link expires
 */
export async function connectByConsent(
  env: NodeJS.ProcessEnv,
  options: { provider: 'gmail' | 'outlook'; browser: boolean },
  say: (line: string) => void,
): Promise<Record<string, unknown>> {
  const { heron, ask } = createCommandApi(env, 'the mailbox is connected to the workspace of that key');
  const begun = await ask(
    heron.POST('/v1/emails/onboarding/oauth/cli-start', { body: { provider: options.provider } }),
  );
  say(`Consent in a browser within ${Math.round(begun.expires_in / 60)} minutes:\n\n  ${begun.url}\n`);
  if (options.browser) openBrowser(begun.url);
  for (;;) {
    const path = { session: begun.session };
    const answer = await ask(heron.GET('/v1/emails/onboarding/oauth/session/{session}', { params: { path } }));
    if (answer.status === 'done') return answer.account ?? {};
    if (answer.status === 'failed') throw new OperatorError(errorText(answer.error));
    await pause(POLL_MS);
  }
}

function errorText(error: { message?: string; fix?: string } | undefined): string {
  return [error?.message, error?.fix].filter(Boolean).join('. ');
}

/** Opens the person's browser, if this machine has one. The URL has already been printed. */
function openBrowser(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['explorer', url]
        : ['xdg-open', url];
  const child = spawn(command!, args, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
