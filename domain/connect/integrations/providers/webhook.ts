import { z } from 'zod';
import { sha256 } from '../../../../lib/crypto.ts';
import { asIssue } from '../../../../lib/issue-message.ts';
import type { MessageCode } from '../../../../messages/index.ts';
import type { ActionInput, Provider, ProviderAction, ProviderCredentials } from './provider.ts';

/** Describes a tool that receives webhooks: its valid addresses, and the path of a pasted webhook. */
interface WebhookTarget {
  /** Returns true if a URL can belong to the tool. */
  accepts: (url: URL) => boolean;
  /** Message for a URL that `accepts` rejects. */
  problem: MessageCode;
  /** Path of the webhook below the base of the API, or the whole URL. */
  pathOf: (url: URL) => string;
}

/**
 * Returns the common part of the declarations of tools that receive a webhook. Their only secret is the webhook's URL,
 * and their action sends the event.
 */
export function webhookProvider(target: WebhookTarget): Pick<Provider, 'authMethod' | 'credentials' | 'actions'> {
  const config = z.strictObject({ webhook_url: webhookUrl(target) });
  const urlOf = (given: unknown) => new URL(config.parse(given).webhook_url);
  const credentials: ProviderCredentials = {
    schema: config,
    secretFields: ['webhook_url'],
    // A webhook cannot be tested without firing it, so only its format is checked.
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

/** Builds the body of a webhook. `id` is the same on every retry, so that a receiver can deduplicate. */
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

/**
 * Derives an account from a webhook's URL. The host is its name, and a fingerprint distinguishes two webhooks of one
 * host.
 */
function accountOf(url: URL): { id: string; name: string; displayFields: { host: string } } {
  const id = sha256(url.href).slice(0, 16);
  return { id, name: url.host, displayFields: { host: url.host } };
}
