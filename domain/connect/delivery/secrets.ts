import { across } from '../../../db/across.ts';
import type { Db, Trx } from '../../../db/connection.ts';
import { newSecret, SECRET_PREFIX } from '../../../lib/crypto.ts';
import { type Keyring } from '../../../lib/keyring.ts';
import { newId } from '../../../lib/ids.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';

/**
 * Minimum time (ms) for which a replaced secret is kept. It is far longer than the retries of a delivery signed with
 * it.
 */
const KEEP_REPLACED_MS = 7 * 24 * 3600_000;

/**
 * Owner of a signing secret. An endpoint of a workspace has its own; all endpoints of an application share the
 * application's.
 */
type SecretOwner = { endpointId: string } | { applicationId: string };

/** A signing secret as it is stored, encrypted. */
export interface SealedSecret {
  id: string;
  sealed: Buffer;
}

/** Returns the owner of the secret that signs the deliveries of an endpoint. */
export function secretOwner(endpoint: { id: string; application_id: string | null }): SecretOwner {
  return endpoint.application_id ? { applicationId: endpoint.application_id } : { endpointId: endpoint.id };
}

/** Decrypts a stored secret (`whsec_…`). Throws if the encrypted value was copied from another row. */
export function openWebhookSecret(keyring: Keyring, secret: SealedSecret): string {
  return keyring.open(secret.sealed, SEAL_PLACES.webhookSecret(secret.id)).toString();
}

/** Returns the newest secret of an owner, which signs first attempts. */
export async function newestSecret(db: Db | Trx, owner: SecretOwner): Promise<SealedSecret | undefined> {
  return across(db, 'engine')
    .table('webhook_secrets')
    .where(columnsOf(owner))
    .orderBy('id', 'desc')
    .first('id', 'sealed');
}

/**
 * Creates a new secret for an owner and returns it in plain text. The secret signs all deliveries that begin from then
 * on. Deliveries whose first attempt used an older secret keep that secret. Each call deletes secrets replaced more
 * than KEEP_REPLACED_MS ago. The owner's row must be locked, so that only one rotation is made at a time.
 */
export async function issueSecret(trx: Db | Trx, keyring: Keyring, owner: SecretOwner, now: Date): Promise<string> {
  const id = newId();
  const secret = newSecret(SECRET_PREFIX.webhook);
  // Finds the newest secret older than KEEP_REPLACED_MS. All secrets older than this one are deleted, because they were
  // replaced even earlier.
  const [successor] = await across(trx, 'engine')
    .table('webhook_secrets')
    .where(columnsOf(owner))
    .where('created_at', '<', new Date(now.getTime() - KEEP_REPLACED_MS))
    .orderBy('id', 'desc')
    .limit(1)
    .select('id');
  if (successor)
    await across(trx, 'engine')
      .table('webhook_secrets')
      .where(columnsOf(owner))
      .where('id', '<', successor.id)
      .delete();
  await across(trx, 'engine').insert('webhook_secrets', {
    id,
    ...columnsOf(owner),
    sealed: keyring.seal(secret, SEAL_PLACES.webhookSecret(id)),
    created_at: now,
  });
  return secret;
}

/**
 * Returns the owner's newest secret in plain text, and creates one if there is none yet. The owner's row must be
 * locked.
 */
export async function ensureSecret(trx: Db | Trx, keyring: Keyring, owner: SecretOwner, now: Date): Promise<string> {
  const stored = await newestSecret(trx, owner);
  return stored ? openWebhookSecret(keyring, stored) : issueSecret(trx, keyring, owner, now);
}

function columnsOf(owner: SecretOwner): Record<string, string> {
  return 'endpointId' in owner ? { endpoint_id: owner.endpointId } : { application_id: owner.applicationId };
}
