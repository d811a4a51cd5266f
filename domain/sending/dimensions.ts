import { sha256 } from '../../lib/crypto.ts';
import type { ClaimRow } from './claimed.ts';

/** Length (hexadecimal digits) of the copy hash. */
const HASH_LENGTH = 32;

/**
 * Attributes of an email at the time of sending, by which acquisition reports group emails. The names equal the columns
 * of `send_facts`.
 */
interface SendDimensions {
  offer: string | null;
  angle: string | null;
  cta: string | null;
  copy_hash: string;
  audience_source: string | null;
  segment_id: string | null;
}

/**
 * Returns the labels, the copy hash and the audience of a claimed email. The stored values do not change when step,
 * variant, lead or campaign are changed or deleted. A variant's label overrides its step's. The hash covers the copy
 * before placeholders are filled in.
 */
export function dimensionsOf({ step, variant, enrollment }: ClaimRow): SendDimensions {
  const copy = variant ?? step!;
  const label = (name: 'offer' | 'angle' | 'cta'): string | null => variant?.[name] || step![name] || null;
  return {
    offer: label('offer'),
    angle: label('angle'),
    cta: label('cta'),
    copy_hash: sha256(JSON.stringify([copy.subject || step!.subject, copy.body_plain, copy.body_html])).slice(
      0,
      HASH_LENGTH,
    ),
    audience_source: enrollment?.source ?? null,
    segment_id: enrollment?.segment_id ?? null,
  };
}
