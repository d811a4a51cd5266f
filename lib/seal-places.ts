/**
 * Kinds of sealed values, each with the text that it is bound to and the columns that store it. Add every new kind
 * here, so that `heron rotate-keys` finds it.
 */
export const SEAL_PLACES = {
  mailbox: (id: string) => `mailboxes/${id}`,
  mailboxToken: (mailboxId: string) => `mailbox_tokens/${mailboxId}`,
  mailboxConsent: (id: string) => `mailbox_consents/${id}`,
  mailboxCheck: (id: string) => `mailbox_checks/${id}`,
  orderMailbox: (orderId: string, position: number | string) => `order_mailboxes/${orderId}/${position}`,
  appConnection: (id: string) => `app_connections/${id}`,
  integration: (connectionId: string) => `integration_connections/${connectionId}`,
  integrationSigning: (connectionId: string) => `integration_connections/${connectionId}/signing`,
  integrationState: (id: string) => `integration_oauth_states/${id}`,
  webhookSecret: (id: string) => `webhook_secrets/${id}`,
  answer: (organizationId: string, actorId: string, operation: string, key: string) =>
    `idempotency_keys/${organizationId}/${actorId}/${operation}/${key}`,
} as const;
