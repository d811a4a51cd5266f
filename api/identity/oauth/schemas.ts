import { z } from 'zod';
import { paged, pageQuery, resource, timestamp, uuid } from '../../http/schemas.ts';

const MAX_LIST = 50;

/**
 * Form field. An empty value counts as omitted (RFC 6749, section 3.2). A field sent twice is a list and is refused.
 */
const field = z
  .string()
  .max(4096)
  .transform((value) => (value === '' ? undefined : value))
  .optional();
const clientFields = {
  client_id: field.meta({ description: 'Required without HTTP Basic' }),
  client_secret: field.meta({ description: 'Secret of a confidential client, here or by HTTP Basic' }),
};

export const tokenForm = z
  .object({
    grant_type: field.meta({ description: '`authorization_code` or `refresh_token`' }),
    code: field,
    redirect_uri: field.meta({ description: 'Redirect URI that the code was sent to' }),
    code_verifier: field.meta({ description: 'Required if a code_challenge was sent' }),
    refresh_token: field,
    scope: field.meta({ description: 'With a refresh token: a subset of the granted scopes, separated by spaces' }),
    resource: z
      .union([field, z.array(z.string().max(4096))])
      .optional()
      .meta({ description: 'This API or its MCP endpoint (RFC 8707)' }),
    ...clientFields,
  })
  .catchall(z.string());
export const revokeForm = z
  .object({
    token: field.meta({ description: 'An access or refresh token' }),
    token_type_hint: field,
    ...clientFields,
  })
  .catchall(z.string());
export const tokens = resource('OAuthTokens', {
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().meta({ description: 'Seconds' }),
  refresh_token: z.string().meta({ description: 'Works once; the answer contains the next one' }),
  scope: z.string().meta({ description: 'Scopes of the access token, separated by spaces' }),
});

/** RFC 7591 requires unknown metadata to be ignored. */
export const registration = z.looseObject({
  client_name: z.string().nullish().meta({ description: 'Shown on the consent page, without control characters' }),
  redirect_uris: z.array(z.string()).min(1).max(MAX_LIST).meta({
    description:
      'https, http on a loopback host, or a scheme of the application, such as com.example.app:/callback or cursor://',
  }),
  token_endpoint_auth_method: z.string().nullish().meta({ description: 'Always registered as `none`' }),
  grant_types: z
    .array(z.string())
    .max(MAX_LIST)
    .nullish()
    .meta({ description: 'Registered as `authorization_code` and `refresh_token`' }),
  response_types: z.array(z.string()).max(MAX_LIST).nullish().meta({ description: 'Registered as `code`' }),
  scope: z
    .string()
    .max(4096)
    .nullish()
    .meta({ description: 'Maximum scopes; others are left out. Default: all that such a client can have' }),
  client_uri: z.string().nullish().meta({ description: 'Left out unless https' }),
  logo_uri: z.string().nullish().meta({ description: 'Left out unless https' }),
});
export const registered = resource('OAuthClient', {
  client_id: z.string(),
  client_id_issued_at: z.int().meta({ description: 'Unix seconds' }),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  token_endpoint_auth_method: z.literal('none'),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  scope: z.string(),
  client_uri: z.string().optional(),
  logo_uri: z.string().optional(),
});

export const serverMetadata = resource('OAuthServerMetadata', {
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  revocation_endpoint: z.string(),
  registration_endpoint: z.string(),
  scopes_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  response_modes_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  revocation_endpoint_auth_methods_supported: z.array(z.string()),
  authorization_response_iss_parameter_supported: z.boolean(),
  service_documentation: z.string(),
});
export const resourceMetadata = resource('OAuthResourceMetadata', {
  resource: z.string(),
  authorization_servers: z.array(z.string()),
  scopes_supported: z.array(z.string()).meta({ description: 'Scopes that any client may request' }),
  bearer_methods_supported: z.array(z.string()),
  resource_name: z.string(),
  resource_documentation: z.string(),
});

const name = z.string().trim().min(1).max(255);
const redirectUris = z
  .array(z.string())
  .min(1)
  .max(MAX_LIST)
  .meta({ description: 'https, or http on 127.0.0.1, localhost or [::1], which matches on any port' });
const optionalFields = {
  description: z.string().max(2000).optional(),
  logo_url: z.string().optional().meta({ description: 'https; empty for none' }),
  website_url: z.string().optional().meta({ description: 'https; empty for none' }),
  allowed_webhook_domains: z
    .array(z.string().max(255))
    .max(MAX_LIST)
    .optional()
    .meta({ description: 'Hosts, or domains with a leading dot that include all subdomains; empty forbids webhooks' }),
  webhook_url: z
    .string()
    .optional()
    .meta({ description: 'URL for the events of all workspaces that grant access; empty for none' }),
  webhook_events: z
    .array(z.string())
    .max(100)
    .optional()
    .meta({ description: 'Event types; empty for every event that is not firehose' }),
};
const createScopes = z.array(z.string()).min(1).max(MAX_LIST).optional();

export const createBody = z.strictObject({
  name,
  redirect_uris: redirectUris,
  scopes: createScopes.meta({
    description: 'Maximum scopes of its tokens, as permission names in lower case. Default: the reading scopes',
  }),
  ...optionalFields,
});
export const updateBody = z.strictObject({
  name: name.optional(),
  redirect_uris: redirectUris.optional(),
  scopes: createScopes,
  ...optionalFields,
});
export const listQuery = z.object(pageQuery());

const fields = {
  id: uuid,
  organization_id: uuid,
  client_id: z.string(),
  name: z.string(),
  description: z.string(),
  logo_url: z.string(),
  website_url: z.string(),
  redirect_uris: z.array(z.string()),
  scopes: z.array(z.string()),
  allowed_webhook_domains: z.array(z.string()),
  webhook_url: z.string(),
  webhook_events: z.array(z.string()),
  created_at: timestamp,
  updated_at: timestamp,
};
export const application = resource('OAuthApplication', fields);
export const applicationWithSecret = resource('OAuthApplicationWithSecret', {
  ...fields,
  client_secret: z.string().meta({ description: 'Shown only in this answer' }),
});
export const applicationPage = paged(application).extend({
  applications: z.array(application).meta({ description: 'The same rows, under the name that some clients read' }),
});
