import { z } from 'zod';
import { count, url, providerEndpoints } from './values.ts';

/** Settings of the providers that an installation works with: integrations, managed mailboxes, AI, payments. */
export const providerSettings = {
  /**
   * OAuth client at HubSpot for connecting accounts. Its redirect URI is API_PUBLIC_URL/integrations/oauth/callback.
   * Without it HubSpot accounts cannot be connected.
   */
  HUBSPOT_CLIENT_ID: z.string().min(1).optional(),
  /** Secret of HUBSPOT_CLIENT_ID. */
  HUBSPOT_CLIENT_SECRET: z.string().min(1).optional(),
  /** Id of the OAuth client at Salesforce. It has the same redirect URI as HUBSPOT_CLIENT_ID. */
  SALESFORCE_CLIENT_ID: z.string().min(1).optional(),
  /** Secret of SALESFORCE_CLIENT_ID. */
  SALESFORCE_CLIENT_SECRET: z.string().min(1).optional(),
  /** Id of the OAuth client at Pipedrive. It has the same redirect URI as HUBSPOT_CLIENT_ID. */
  PIPEDRIVE_CLIENT_ID: z.string().min(1).optional(),
  /** Secret of PIPEDRIVE_CLIENT_ID. */
  PIPEDRIVE_CLIENT_SECRET: z.string().min(1).optional(),
  /** Id of the OAuth client at Slack. It has the same redirect URI as HUBSPOT_CLIENT_ID. */
  SLACK_CLIENT_ID: z.string().min(1).optional(),
  /** Secret of SLACK_CLIENT_ID. */
  SLACK_CLIENT_SECRET: z.string().min(1).optional(),
  /** Id of the OAuth client at Google for Google Sheets. It has the same redirect URI as HUBSPOT_CLIENT_ID. */
  GOOGLE_SHEETS_CLIENT_ID: z.string().min(1).optional(),
  /** Secret of GOOGLE_SHEETS_CLIENT_ID. */
  GOOGLE_SHEETS_CLIENT_SECRET: z.string().min(1).optional(),
  /**
   * Replaces addresses of integration providers, as JSON by provider: `{"hubspot": {"api": …, "authorize": …, "token":
   * …, "revoke": …}}`. Private addresses need ALLOW_UNSAFE_WEBHOOK_URLS.
   */
  INTEGRATION_ENDPOINTS: providerEndpoints.optional(),
  /**
   * Timeout (ms) of one request to an integration provider. Deliveries of a dead worker are taken over after six times
   * this timeout, but not before 20 seconds.
   */
  INTEGRATION_TIMEOUT_MS: count.min(1).default(15_000),
  /**
   * Maximum number of attempts of a delivery to a provider before it becomes a dead letter. Waits requested by the
   * provider do not count as attempts.
   */
  INTEGRATION_MAX_ATTEMPTS: count.min(1).default(15),
  /** Wait (ms) after the first failed attempt. The wait doubles with each attempt, up to six hours. */
  INTEGRATION_RETRY_BASE_MS: count.min(1).default(30_000),
  /**
   * Days that deliveries to a provider wait for a person to reconnect the account. After that the deliveries are
   * dropped, and a dead letter states their number.
   */
  INTEGRATION_REAUTH_DAYS: count.min(1).default(30),
  /** Maximum number of concurrent deliveries of one worker to providers, over all connections. */
  WORKER_INTEGRATIONS_SLOTS: count.min(1).default(100),
  /**
   * Base URL of the provider of managed mailboxes (docs/guides/mailbox-orders.md). Without it no managed mailboxes can be
   * ordered.
   */
  PROVISIONING_URL: url.optional(),
  /** Signs every request to the provider of managed mailboxes. 32 characters or more. */
  PROVISIONING_SECRET: z.string().min(32, 'needs 32 characters or more').optional(),
  /** Timeout (ms) of one request to the provider of managed mailboxes. */
  PROVISIONING_TIMEOUT_MS: count.min(1).default(30_000),
  /**
   * Time (ms) that a step of a mailbox order may fail at the provider before the order fails. A failed order is undone
   * and refunded.
   */
  PROVISIONING_GIVE_UP_MS: count.min(1000).default(3_600_000),
  /** Time (ms) that an order waits for its payment. */
  PROVISIONING_PAYMENT_MS: count.min(1000).default(86_400_000),
  /**
   * Base URL of an AI provider with OpenAI's chat completions API, such as https://api.openai.com/v1. Without it only
   * rules judge email texts.
   */
  AI_BASE_URL: url.optional(),
  /** Name of the AI model. */
  AI_MODEL: z.string().min(1).max(200).optional(),
  /** API key of the AI provider, if it requires one. */
  AI_API_KEY: z.string().min(1).optional(),
  /** AI tokens that a workspace may use per UTC day. */
  AI_TOKENS_PER_DAY: count.default(200_000),
  /**
   * Secret key of the Stripe account that receives payments for managed mailboxes. Without it nothing can be bought.
   */
  STRIPE_SECRET_KEY: z.string().min(1).optional(),
  /**
   * Signing secret of the Stripe webhook that calls API_PUBLIC_URL/payments/stripe/events. Required with
   * STRIPE_SECRET_KEY.
   */
  STRIPE_WEBHOOK_SECRET: z.string().min(1).optional(),
  /**
   * Base URL of the Stripe API. Change it for a fake server in tests. A private address needs
   * ALLOW_UNSAFE_WEBHOOK_URLS.
   */
  STRIPE_API_BASE: url.default('https://api.stripe.com'),
  /** Payment processing fee added to the cost of a domain renewal, in hundredths of a percent. */
  PAYMENT_PROCESSING_BASIS_POINTS: count.max(10_000).default(290),
  /** Fixed payment processing fee (cents) added to the cost of a domain renewal. */
  PAYMENT_PROCESSING_FIXED_CENTS: count.default(30),
};
