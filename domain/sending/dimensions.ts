import { sha256 } from '../../lib/crypto.ts';
import type { ClaimRow } from './claimed.ts';

/** Hexadecimal digits of the hash that tell texts apart. */
const HASH_LENGTH = 32;

/** What an email was like when it left, as reports of acquisition group emails. Names are those of send_facts. */
interface SendDimensions {
  offer: string | null;
  angle: string | null;
  cta: string | null;
  copy_hash: string;
  audience_source: string | null;
  segment_id: string | null;
}

/**
 * The labels, the copy and the audience of an email that is claimed: what is stored with it stays when step, variant, lead and campaign
 * change or are deleted. A variant's label replaces its step's. The hash is of the copy before placeholders are filled in.
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
