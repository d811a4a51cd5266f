import type { z } from 'zod';
import type { ConnectionRow } from '../../../domain/connect/integrations/account.ts';
import type { IntegrationRun } from '../../../domain/connect/integrations/connections.ts';
import type { Mappings } from '../../../domain/connect/integrations/mappings.ts';
import type { Provider } from '../../../domain/connect/integrations/providers/provider.ts';
import { actionNames } from '../../../domain/connect/integrations/registry.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import type { Language, MessageCode } from '../../../messages/index.ts';
import type { Subscription } from '../../../domain/connect/integrations/subscriptions.ts';
import { presentBlocked, reasonIn } from '../../http/stored-message.ts';
import { iso } from '../../http/schemas.ts';
import type * as schemas from './schemas.ts';
import { render } from '../../../messages/render.ts';

/**
 * Returns a provider of the catalogue with its triggers, actions and scopes. `configured` is true if the operator has
 * configured the provider.
 */
export function presentProvider({
  provider,
  configured,
  language,
}: {
  provider: Provider;
  configured: boolean;
  language: Language | undefined;
}): z.input<typeof schemas.catalogueEntry> {
  const words = (code: MessageCode) => render({ code, values: {} }, language);
  return {
    provider: provider.id,
    name: provider.name,
    tagline: words(provider.tagline),
    category: provider.category,
    docs_url: provider.docsUrl,
    auth_method: provider.authMethod,
    badge_color: provider.badgeColor,
    beta: provider.beta ?? false,
    webhook_hint: provider.webhookHint ? words(provider.webhookHint) : '',
    highlights: provider.highlights.map(words),
    scopes: [...(provider.oauth?.scopes ?? [])],
    events: [...provider.events],
    action_types: actionNames(provider),
    supports_push: provider.push !== undefined,
    capability: provider.capability ? { ...provider.capability } : null,
    configured,
  };
}

/**
 * Returns a connection to a provider with its health, never its keys or tokens. `inbound_webhook_url` is shown only
 * once, at creation.
 */
export function presentConnection(
  row: ConnectionRow,
  { language }: Pick<Ctx, 'language'>,
  inboundUrl: string | null = null,
): z.input<typeof schemas.connection> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    provider: row.provider,
    label: row.label,
    status: row.status,
    auth_method: row.auth_method,
    display_fields: row.display_fields,
    config_capabilities: row.config_capabilities,
    sync_direction: row.sync_direction,
    connected_by_user_id: row.connected_by,
    external_account_id: row.external_account_id,
    external_account_name: row.external_account_name,
    granted_scopes: row.granted_scopes,
    token_expires_at: iso(row.token_expires_at),
    health: row.health,
    health_detail: reasonIn(row.health_detail, language),
    health_checked_at: iso(row.health_checked_at),
    last_synced_at: iso(row.last_synced_at),
    last_error: reasonIn(row.last_error, language),
    last_error_at: iso(row.last_error_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    ...(inboundUrl ? { inbound_webhook_url: inboundUrl } : {}),
    ...presentBlocked(row, language),
  };
}

/** Returns a subscription: a trigger of a connection and the action that it starts. */
export function presentSubscription(row: Subscription): z.input<typeof schemas.subscription> {
  return { ...row, created_at: iso(row.created_at), updated_at: iso(row.updated_at) };
}

/** Returns the mapping of contact fields to the fields of the provider's records. */
export function presentMappings({ mappings, updatedAt }: Mappings): z.input<typeof schemas.mappings> {
  return {
    mappings: mappings.map(({ source_field: field, position: _position, ...rest }) => ({
      ...rest,
      sendsets_field: field,
      created_at: iso(rest.created_at),
    })),
    updated_at: iso(updatedAt),
  };
}

/** Returns an entry of a connection's log: an action at the provider that succeeded or failed. */
export function presentRun(row: IntegrationRun, { language }: Pick<Ctx, 'language'>): z.input<typeof schemas.run> {
  return {
    ...row,
    detail: reasonIn(row.detail, language) ?? '',
    started_at: iso(row.started_at),
    finished_at: iso(row.finished_at),
  };
}
