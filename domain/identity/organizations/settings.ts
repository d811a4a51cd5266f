import { Readable } from 'node:stream';
import { across } from '../../../db/across.ts';
import { asciiHost } from '../../../lib/address.ts';
import { defined } from '../../../lib/defined.ts';
import { notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { readImageFacts } from '../../../lib/image-size.ts';
import { message, type Language } from '../../../messages/index.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { deleteBlob, readBlob, storeBytes } from '../../platform/blobs.ts';
import { changed } from '../../platform/changes.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { isIanaZone } from '../../platform/scheduling/zone.ts';
import { readMyOrganization, type MyOrganization } from './organizations.ts';

/** Maximum size (bytes) of a logo. */
export const MAX_LOGO_BYTES = 200_000;
/** Maximum number of pixels of a logo, which is shown as a small square. */
const MAX_LOGO_PIXELS = 4_000_000;
const LOGO_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp'];

/** Changeable fields of an organization. */
interface OrganizationChange {
  name?: string | undefined;
  /** True if members who may see analytics receive an email with the figures of each week. */
  weekly_report?: boolean | undefined;
  /** IANA time zone. Determines when a week begins. */
  timezone?: string | undefined;
  /** Language of emails to people who have chosen none. */
  language?: Language | null | undefined;
  /** Logo in base64. Null removes it. */
  logo?: string | null | undefined;
  /** Domains of the email addresses that may join. Empty to allow all. */
  member_email_domains?: readonly string[] | undefined;
  /** Maximum age (hours) of a session that may act in the organization. Null for no limit. */
  session_max_hours?: number | null | undefined;
}

/** Returns problems of a change that its schema cannot detect. */
export function organizationProblems(changes: OrganizationChange): Problem[] {
  const { timezone, logo, member_email_domains: domains = [] } = changes;
  return [
    ...(timezone === undefined || isIanaZone(timezone)
      ? []
      : [{ path: 'body.timezone', message: message('field.time_zone') }]),
    ...domains.flatMap((domain, index) =>
      toDomain(domain) ? [] : [{ path: `body.member_email_domains.${index}`, message: message('field.mail_domain') }],
    ),
    ...(logo ? logoProblems(Buffer.from(logo, 'base64')) : []),
  ];
}

/**
 * Returns a domain in lower case and as A-labels, as addresses are stored. Returns undefined if the text is not a
 * domain.
 */
function toDomain(text: string): string | undefined {
  const host = asciiHost(text.trim().replace(/^@/, '').toLowerCase());
  return /^(?=.{3,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$/.test(host)
    ? host
    : undefined;
}

function logoProblems(bytes: Buffer): Problem[] {
  const path = 'body.logo';
  if (bytes.length > MAX_LOGO_BYTES)
    return [{ path, message: message('field.logo_size', { most: MAX_LOGO_BYTES / 1000 }) }];
  const facts = readImageFacts(bytes);
  return facts && LOGO_TYPES.includes(facts.type) && facts.pixels <= MAX_LOGO_PIXELS
    ? []
    : [{ path, message: message('field.logo_type') }];
}

/**
 * Changes settings of the organization. A new logo replaces the stored one. If the allowed domains change, members with
 * other domains keep their membership.
 * @throws AppError bad_request naming every problem; conflict when somebody else has changed the organization in the
 * meantime
 */
export async function updateOrganization(
  ctx: Ctx,
  { logo, ...changes }: OrganizationChange,
  expectedUpdatedAt?: Date,
): Promise<MyOrganization> {
  const id = organizationOf(ctx);
  refuseProblems(organizationProblems({ logo, ...changes }));
  const domains = changes.member_email_domains?.map((domain) => toDomain(domain)!);
  const given = defined({ ...changes, member_email_domains: domains && [...new Set(domains)].toSorted() });
  if (Object.keys(given).length === 0 && logo === undefined) return readMyOrganization(ctx, id);
  await transact(ctx, async (tx) => {
    const organization = () => across(tx.trx, 'person').table('organizations').where('id', id);
    const before = (await organization()
      .forUpdate()
      .first(
        'name',
        'weekly_report',
        'timezone',
        'language',
        'member_email_domains',
        'session_max_hours',
        'logo_blob_id',
        'updated_at',
      ))!;
    assertUnchanged('organization', before.updated_at, expectedUpdatedAt);
    const image = logo ? Buffer.from(logo, 'base64') : null;
    const stored =
      logo === undefined
        ? {}
        : {
            logo_blob_id: image && (await storeBytes(tx, image)),
            logo_type: image && readImageFacts(image)!.type,
          };
    await organization().update({ ...given, ...stored, updated_at: tx.now });
    if (logo !== undefined && before.logo_blob_id) await deleteBlob(tx.org, before.logo_blob_id);
    const had = { ...before, has_logo: before.logo_blob_id !== null };
    const has = logo === undefined ? given : { ...given, has_logo: image !== null };
    tx.audit({ action: 'update', entityType: 'organization', entityId: id, changes: changed(had, has) });
    const names = [...Object.keys(given), ...(logo === undefined ? [] : ['logo'])];
    tx.emit('settings.updated', { section: 'organization', changed: names });
  });
  return readMyOrganization(ctx, id);
}

/**
 * Returns the logo of the organization with its media type.
 * @throws AppError not_found without a logo
 */
export async function readLogo(ctx: Ctx): Promise<{ id: string; type: string; stream: Readable }> {
  const row = await across(ctx.db, 'person')
    .table('organizations')
    .where('id', organizationOf(ctx))
    .first('logo_blob_id', 'logo_type');
  if (!row?.logo_blob_id || !row.logo_type) throw notFound('logo');
  const bytes = readBlob(reader(ctx), ctx.blobs, row.logo_blob_id);
  return { id: row.logo_blob_id, type: row.logo_type, stream: Readable.from(bytes, { objectMode: false }) };
}

/** Returns true if an address (lower case) has one of the domains, or if the list of domains is empty. */
export function isAdmitted(email: string, domains: readonly string[]): boolean {
  return domains.length === 0 || domains.includes(email.slice(email.lastIndexOf('@') + 1));
}
