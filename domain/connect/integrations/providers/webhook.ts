import { z } from 'zod';
import { sha256 } from '../../../../lib/crypto.ts';
import { asIssue } from '../../../../lib/issue-message.ts';
import type { MessageCode } from '../../../../messages/index.ts';
import type { ActionInput, Provider, ProviderAction, ProviderCredentials } from './provider.ts';

/** How a tool takes webhooks: where its addresses are, and where a webhook that was pasted goes. */
interface WebhookTarget {
  /** Whether an address can be one of the tool's. */
  accepts: (url: URL) => boolean;
  /** Fault of one that cannot. */
  problem: MessageCode;
  /** Where the webhook is sent: below the base of the API, or the whole address. */
  pathOf: (url: URL) => string;
}

/** What the tools that take a webhook have in common: their credential is its address, and their action sends what has happened there. */
export function webhookProvider(target: WebhookTarget): Pick<Provider, 'authMethod' | 'credentials' | 'actions'> {
  const config = z.strictObject({ webhook_url: webhookUrl(target) });
  const urlOf = (given: unknown) => new URL(config.parse(given).webhook_url);
  const credentials: ProviderCredentials = {
    schema: config,
    secretFields: ['webhook_url'],
    // A webhook cannot be asked without being fired, so its form is all that is checked.
    validate: async (call) => accountOf(urlOf(call.config)),
  };
  const sendWebhook: ProviderAction = {
    summary: 'Send what happened, signed',
    config: z.strictObject({}),
    isNotice: true,
    async perform(call, input) {
      await call.request({
        method: 'POST',
        path: target.pathOf(urlOf(call.config)),
        json: webhookBody(input),
        signed: true,
        headers: { 'user-agent': 'Heron-Integrations' },
      });
    },
  };
  return { authMethod: 'webhook', credentials, actions: { send_webhook: sendWebhook } };
}

/** What a webhook carries. `id` is the same when it is sent again, so that a receiver can leave out what it has had. */
function webhookBody({ deliveryId, trigger, occurredAt, isTest, contact, fields, data }: ActionInput): object {
  return { id: deliveryId, event: trigger, occurred_at: occurredAt.toISOString(), test: isTest, contact, fields, data };
}

function webhookUrl({ accepts, problem }: WebhookTarget): z.ZodString {
  return z
    .string()
    .trim()
    .max(2_000)
    .refine((text) => isHttp(text) && accepts(new URL(text)), asIssue({ code: problem, values: {} }));
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** A webhook has no account: its host names it, and a fingerprint tells two of one host apart. */
function accountOf(url: URL): { id: string; name: string; displayFields: { host: string } } {
  const id = sha256(url.href).slice(0, 16);
  return { id, name: url.host, displayFields: { host: url.host } };
}
