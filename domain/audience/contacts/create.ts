import { AppError, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { addLeads, type HeldLeads } from '../leads/add.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { soleCause, suppressedAmong } from '../../directory/suppression-check.ts';
import { announceUpdates } from '../../directory/announce-contact.ts';
import {
  cleanCustomFields,
  cleanText,
  customFieldsFit,
  CUSTOM_FIELD_LIMITS,
  type ContactDraft,
} from '../../directory/contact-fields.ts';
import { assertKnown, type NamedRecords } from '../../sending/leads/membership.ts';
import { addToCategories, upsertContacts, type UpsertOptions } from './upsert.ts';
import {
  refuseVerdicts,
  statedStatus,
  verdictProblems,
  type StatedVerdict,
} from '../../directory/verification-words.ts';
import { contactPayload, contactUpdate, viewContacts, type ContactView } from '../../directory/contact-view.ts';

/** Maximum number of contacts of one request; larger numbers need an import. */
const MAX_CONTACTS_PER_REQUEST = 1000;
/** Maximum number of contacts in a request for which contact.created is emitted for each contact. */
const BULK_ARRIVAL = 100;

interface ContactInput extends StatedVerdict {
  email: string;
  first_name?: string | undefined;
  last_name?: string | undefined;
  company?: string | undefined;
  phone?: string | undefined;
  campaigns?: readonly string[] | undefined;
  categories?: readonly string[] | undefined;
  custom_fields?: Readonly<Record<string, string>> | undefined;
  /** False stores an opt-out. True does not remove a stored opt-out. */
  subscribed?: boolean | undefined;
}

/** Lists the categories and campaigns named by new contacts. */
export function recordsOfContacts(
  inputs: readonly Partial<Pick<ContactInput, 'categories' | 'campaigns'>>[],
): NamedRecords {
  return {
    categories: inputs.map(({ categories = [] }, index) => ({ path: `body.${index}.categories`, ids: categories })),
    campaigns: inputs.map(({ campaigns = [] }, index) => ({ path: `body.${index}.campaigns`, ids: campaigns })),
  };
}

/**
 * Adds contacts, and updates contacts whose address is known with the non-empty fields of the request. An address
 * repeated in one request creates one contact, and its later fields win. Suppressed addresses are stored unsubscribed.
 * Returns each distinct contact once, in the order of the request.
 * @param origin source of the contacts, and the handling of known addresses; defaults to the API, which updates them
 * @throws AppError too_many_contacts, bad_request (empty, unknown category or campaign, too many custom fields for a
 * contact), unknown_verification_status, unknown_verification_provider
 */
export async function createContacts(
  ctx: Ctx,
  inputs: readonly ContactInput[],
  { onHeld }: HeldLeads = {},
  origin: UpsertOptions = { existing: 'update', source: 'api', sourceDetail: '' },
): Promise<ContactView[]> {
  if (inputs.length === 0) refuseProblems([{ path: 'body', message: message('field.list_shorter', { min: 1 }) }]);
  if (inputs.length > MAX_CONTACTS_PER_REQUEST) {
    throw new AppError('too_many_contacts', message('audience.too_many_contacts', { max: MAX_CONTACTS_PER_REQUEST }), {
      fix: message('audience.too_many_contacts.fix'),
    });
  }
  refuseVerdicts(statedProblems(inputs));
  return transact(ctx, async (tx) => {
    await assertKnown(tx.org, recordsOfContacts(inputs));
    const drafts = mergeByAddress(inputs);
    const suppressed = await suppressedAmong(tx.org, [...drafts.keys()], tx.now);
    for (const [email, hit] of suppressed)
      Object.assign(drafts.get(email)!, { subscribed: false, unsubscribedBy: soleCause(hit) });
    const stored = await upsertContacts(tx, [...drafts.values()], origin);
    const idOf = new Map(stored.map((row) => [row.email, row.id]));
    const isFull = (email: string) => !idOf.has(email) || !customFieldsFit(drafts.get(email)!.customFields);
    refuseProblems(
      inputs.flatMap(({ email }, index) =>
        isFull(email)
          ? [
              {
                path: `body.${index}.custom_fields`,
                message: message('directory.too_many_fields', CUSTOM_FIELD_LIMITS),
              },
            ]
          : [],
      ),
    );

    await storeVerdicts(tx, inputs, idOf);
    for (const [categoryId, ids] of idsBy(inputs, (input) => input.categories, idOf))
      await addToCategories(tx.org, ids, [categoryId]);
    for (const [campaignId, ids] of idsBy(inputs, (input) => input.campaigns, idOf)) {
      const { held } = await addLeads(tx, ctx.config, campaignId, ids);
      if (held) onHeld?.(held);
    }

    const views = await viewContacts(
      tx.org,
      [...drafts.keys()].map((email) => idOf.get(email)!),
    );
    const inserted = new Set(stored.filter((row) => row.inserted).map((row) => row.id));
    const updated = views.filter((view) => !inserted.has(view.id));
    if (inputs.length <= BULK_ARRIVAL) {
      for (const view of views) {
        if (inserted.has(view.id)) tx.emit('contact.created', contactPayload(view));
        else tx.emit('contact.updated', contactUpdate(view));
      }
    } else {
      announceUpdates(tx, updated.length);
    }
    const one = views.length === 1 ? views[0]! : undefined;
    tx.audit({
      action: one && !inserted.has(one.id) ? 'update' : 'create',
      entityType: 'contact',
      ...(one ? { entityId: one.id } : {}),
      metadata: { created: inserted.size, updated: updated.length },
    });
    return views;
  });
}

/** Returns problems of stated verdicts whose status or provider Heron does not know. */
export function statedProblems(inputs: readonly Partial<StatedVerdict>[]): Problem[] {
  return inputs.flatMap((input, index) => verdictProblems(input, `body.${index}`));
}

/** Stores the verdicts given in the request for contacts that have no verdict yet. */
async function storeVerdicts(tx: Tx, inputs: readonly ContactInput[], idOf: Map<string, string>): Promise<void> {
  const stated = new Map<string, string>();
  for (const input of inputs) {
    const status = statedStatus(input);
    if (status && status !== 'unknown') stated.set(idOf.get(input.email)!, status);
  }
  if (stated.size === 0) return;
  await tx.org.sql(
    `update contacts c set verification_status = s.status, verification_reason = 'stated', verification_checked_at = :now
     from unnest(cast(:ids as uuid[]), cast(:statuses as text[])) as s(id, status)
     where c.organization_id = :org and c.id = s.id and c.verification_status = 'unknown'`,
    { ids: [...stated.keys()], statuses: [...stated.values()], now: tx.now },
  );
}

function mergeByAddress(inputs: readonly ContactInput[]): Map<string, ContactDraft> {
  const drafts = new Map<string, ContactDraft>();
  for (const input of inputs) {
    const before = drafts.get(input.email);
    drafts.set(input.email, {
      email: input.email,
      firstName: cleanText(input.first_name ?? '') || (before?.firstName ?? ''),
      lastName: cleanText(input.last_name ?? '') || (before?.lastName ?? ''),
      company: cleanText(input.company ?? '') || (before?.company ?? ''),
      phone: cleanText(input.phone ?? '') || (before?.phone ?? ''),
      customFields: Object.assign(before?.customFields ?? {}, cleanCustomFields(input.custom_fields ?? {})),
      subscribed: input.subscribed !== false && (before?.subscribed ?? true),
    });
  }
  return drafts;
}

function idsBy(
  inputs: readonly ContactInput[],
  pick: (input: ContactInput) => readonly string[] | undefined,
  idOf: Map<string, string>,
): Map<string, string[]> {
  const groups = new Map<string, Set<string>>();
  for (const input of inputs) {
    for (const key of pick(input) ?? []) {
      const group = groups.get(key.toLowerCase()) ?? new Set();
      groups.set(key.toLowerCase(), group.add(idOf.get(input.email)!));
    }
  }
  return new Map([...groups].map(([key, ids]) => [key, [...ids]]));
}
