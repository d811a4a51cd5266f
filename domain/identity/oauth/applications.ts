import { created, secretChanged } from '../../platform/changes.ts';
import { defined } from '../../../lib/defined.ts';
import { OAuthApplications, type OAuthApplicationRow } from '../../../db/models/oauth-application.ts';
import { newSecret, SECRET_PREFIX, sha256 } from '../../../lib/crypto.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { badRequest, notFound, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { maskOf, PRESETS } from '../../../lib/permissions.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { syncApplicationEndpoints } from '../../connect/webhooks/managed.ts';
import { checkAppWebhook } from '../../connect/webhooks/policy.ts';
import { revokeMadeByApplication } from '../api-keys/lineage.ts';
import { readHeld } from '../../platform/rights.ts';
import { assertActorGrants } from '../acting.ts';
import { nameProblem, webUrlProblem } from './input.ts';
import { redirectUriProblem } from './redirect-uris.ts';
import { readScopes, scopesOf } from '../scopes.ts';
import { message, type Message } from '../../../messages/index.ts';

export type { OAuthApplicationRow } from '../../../db/models/oauth-application.ts';

const LIST = 'oauth-applications';

/** Fields of an application that its owner sets. An absent field keeps its value or gets its default. */
interface ApplicationInput {
  name?: string | undefined;
  description?: string | undefined;
  /** URL of the logo. May be empty. */
  logo_url?: string | undefined;
  /** URL of the website. May be empty. */
  website_url?: string | undefined;
  redirect_uris?: string[] | undefined;
  /** Permission names in lower case. */
  scopes?: string[] | undefined;
  allowed_webhook_domains?: string[] | undefined;
  /** URL for the events of all workspaces that granted access. Empty if no events are delivered to the application. */
  webhook_url?: string | undefined;
  webhook_events?: string[] | undefined;
}

/** A confidential application with its plain secret, which is returned once and never again. */
interface IssuedApplication {
  application: OAuthApplicationRow;
  secret: string;
}

/** Lists the organization's applications, newest first. */
export async function listApplications(ctx: Ctx, page: PageRequest): Promise<Page<OAuthApplicationRow>> {
  const after = decodeIdCursor(LIST, null, page.cursor);
  const query = reader(ctx)
    .query(OAuthApplications)
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (after) void query.where('id', '<', after);
  return pageOf(await query, page.limit, (last) => encodeCursor(LIST, null, [last.id]));
}

/**
 * Returns one application of the organization.
 * @throws AppError not_found
 */
export async function readApplication(ctx: Ctx, id: string): Promise<OAuthApplicationRow> {
  const application = isUuid(id) ? await reader(ctx).query(OAuthApplications).findById(id) : undefined;
  if (!application) throw notFound('application');
  return application;
}

/**
 * Checks an application before creation (without an id) or change: every field, and the resulting webhook settings.
 * Call it outside of a transaction, because it may wait for DNS.
 * @throws AppError bad_request with all problems, not_found
 */
export async function checkApplication(ctx: Ctx, input: ApplicationInput, id?: string): Promise<void> {
  const problems = await applicationProblems(ctx, input, id);
  if (problems.length > 0) throw badRequest(message('application.invalid'), problems);
}

/**
 * Returns the problems of the given fields of an application, or of a change of it. May wait for DNS.
 * @throws AppError not_found
 */
export async function applicationProblems(ctx: Ctx, input: ApplicationInput, id?: string): Promise<Problem[]> {
  const before = id === undefined ? undefined : await readApplication(ctx, id);
  const problems = fieldProblems(input);
  if (
    input.webhook_url !== undefined ||
    input.allowed_webhook_domains !== undefined ||
    input.webhook_events !== undefined
  ) {
    problems.push(
      ...(await checkAppWebhook(ctx, {
        url: input.webhook_url ?? before?.webhook_url ?? '',
        domains: input.allowed_webhook_domains ?? before?.allowed_webhook_domains ?? [],
        events: input.webhook_events ?? before?.webhook_events ?? [],
      })),
    );
  }
  return problems;
}

/**
 * Creates a confidential application (POST /oauth/applications), after {@link checkApplication}. Without `scopes` the
 * application gets the caller's read scopes.
 * @throws AppError forbidden when a key or token would grant scopes that it lacks itself
 */
export async function createApplication(
  ctx: Ctx,
  input: ApplicationInput & { name: string; redirect_uris: string[] },
): Promise<IssuedApplication> {
  return transact(ctx, async (tx) => {
    const scopes = input.scopes
      ? readScopes(input.scopes).mask
      : PRESETS.read_only & (await readHeld(tx.org, ctx.actor)).scopes;
    const given = (input.scopes ? scopes : 0) | (input.webhook_url ? WEBHOOKS : 0);
    if (given !== 0) await assertActorGrants(tx, ctx.actor, { scopes: given });
    const secret = newSecret(SECRET_PREFIX.clientSecret);
    const application = await tx.org.create(OAuthApplications, {
      id: newId(),
      created_by: ctx.actor.userId,
      client_id: newSecret(SECRET_PREFIX.clientId),
      client_secret_hash: sha256(secret),
      ...stored(input),
      name: input.name,
      redirect_uris: [...new Set(input.redirect_uris)],
      scopes,
      created_at: tx.now,
      updated_at: tx.now,
    });
    await syncApplicationEndpoints(tx, application.id);
    tx.audit({
      action: 'create',
      entityType: 'oauth_application',
      entityId: application.id,
      changes: created({
        name: application.name,
        redirect_uris: application.redirect_uris,
        scopes: scopesOf(scopes),
        webhook_host: hostOf(application.webhook_url),
      }),
    });
    return { application, secret };
  });
}

/** Fields that determine which events are delivered, and to which URL. */
const CHANGES_RECEIVER = ['webhook_url', 'webhook_events', 'allowed_webhook_domains'] as const;
const WEBHOOKS = maskOf(['WEBHOOKS']);

/**
 * Changes the sent fields of an application. Lists replace the stored lists. Existing tokens lose removed scopes within
 * a second. Added scopes have no effect on tokens until people approve again.
 * @throws AppError not_found; forbidden when the caller lacks a required scope. Adding scopes requires these scopes. A
 * redirect URI or a webhook field requires all scopes of the application. A webhook field also requires WEBHOOKS
 */
export async function updateApplication(ctx: Ctx, id: string, input: ApplicationInput): Promise<OAuthApplicationRow> {
  if (!isUuid(id)) throw notFound('application');
  return transact(ctx, async (tx) => {
    const before = await tx.org.query(OAuthApplications).findById(id).forNoKeyUpdate();
    if (!before) throw notFound('application');
    const sent = { ...stored(input), ...(input.scopes ? { scopes: readScopes(input.scopes).mask } : {}) };
    const names = Object.keys(sent) as (keyof typeof sent)[];
    if (names.length === 0) return before;
    if (sent.scopes !== undefined) await assertActorGrants(tx, ctx.actor, { scopes: sent.scopes & ~before.scopes });
    // Checks the rights of the caller, because whoever sets the URL for codes or events gets access to all data that
    // people of any workspace have granted.
    if (CHANGES_RECEIVER.some((name) => name in sent)) {
      await assertActorGrants(tx, ctx.actor, { scopes: (sent.scopes ?? before.scopes) | WEBHOOKS });
    }
    if (sent.redirect_uris) await assertActorGrants(tx, ctx.actor, { scopes: sent.scopes ?? before.scopes });
    await tx.org
      .query(OAuthApplications)
      .findById(id)
      .patch({ ...sent, updated_at: tx.now });
    await syncApplicationEndpoints(tx, id);
    const changes = Object.fromEntries(
      names.map((name) => [
        name === 'webhook_url' ? 'webhook_host' : name,
        { from: audited(name, before[name]), to: audited(name, sent[name]) },
      ]),
    );
    tx.audit({ action: 'update', entityType: 'oauth_application', entityId: id, changes });
    return tx.org.query(OAuthApplications).findById(id).throwIfNotFound();
  });
}

/**
 * Creates a new client secret for an application. The previous secret becomes invalid immediately. Tokens stay valid.
 * @throws AppError not_found; forbidden for a key or token that lacks a scope of the application
 */
export async function rotateClientSecret(ctx: Ctx, id: string): Promise<IssuedApplication> {
  if (!isUuid(id)) throw notFound('application');
  return transact(ctx, async (tx) => {
    const before = await tx.org.query(OAuthApplications).findById(id).forNoKeyUpdate();
    if (!before) throw notFound('application');
    await assertActorGrants(tx, ctx.actor, { scopes: before.scopes });
    const secret = newSecret(SECRET_PREFIX.clientSecret);
    await tx.org
      .query(OAuthApplications)
      .findById(id)
      .patch({ client_secret_hash: sha256(secret), updated_at: tx.now });
    tx.audit({
      action: 'rotate_secret',
      entityType: 'oauth_application',
      entityId: id,
      changes: secretChanged('client_secret'),
    });
    return { application: await tx.org.query(OAuthApplications).findById(id).throwIfNotFound(), secret };
  });
}

/**
 * Deletes an application with all its grants, codes, tokens and webhook endpoints, in every workspace. API keys created
 * with its tokens are revoked.
 * @throws AppError not_found
 */
export async function deleteApplication(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('application');
  await transact(ctx, async (tx) => {
    const application = await tx.org.query(OAuthApplications).findById(id).forUpdate();
    if (!application) throw notFound('application');
    await revokeMadeByApplication(tx, id);
    await tx.org.query(OAuthApplications).deleteById(id);
    tx.audit({
      action: 'delete',
      entityType: 'oauth_application',
      entityId: id,
      metadata: { name: application.name, client_id: application.client_id },
    });
  });
}

/**
 * Returns a field's value for the audit log. Omits paths and queries of webhook URLs, because they often contain a
 * receiver's secret.
 */
function audited(name: string, value: unknown): unknown {
  if (name === 'scopes') return scopesOf(value as number);
  return name === 'webhook_url' ? hostOf(value as string) : value;
}

function hostOf(webhookUrl: string): string {
  return webhookUrl === '' ? '' : new URL(webhookUrl).host;
}

/** Returns the sent fields as columns, except the scopes. */
function stored({ scopes: _scopes, ...input }: ApplicationInput): Partial<OAuthApplicationRow> {
  const lists = input.redirect_uris ? { redirect_uris: [...new Set(input.redirect_uris)] } : {};
  return {
    ...defined(input),
    ...lists,
  };
}

/** Returns the problems of an application's fields, each checked separately. */
function fieldProblems(input: ApplicationInput): Problem[] {
  const problems: Problem[] = [];
  const add = (field: string, fault: Message | undefined) => {
    if (fault) problems.push({ path: `body.${field}`, message: fault });
  };
  if (input.name !== undefined) add('name', nameProblem(input.name));
  if (input.logo_url) add('logo_url', webUrlProblem(input.logo_url));
  if (input.website_url) add('website_url', webUrlProblem(input.website_url));
  input.redirect_uris?.forEach((uri, index) =>
    add(`redirect_uris.${index}`, redirectUriProblem(uri, { privateUse: false })),
  );
  input.scopes?.forEach((name, index) => {
    if (readScopes([name]).unknown.length > 0) add(`scopes.${index}`, message('field.scope_unknown'));
  });
  return problems;
}
