/** A set of hash buckets of features. The buckets in the set are numbered in ascending order. */
export interface Buckets {
  /** One bit per possible bucket, which is 1 if the set contains the bucket. */
  bits: Uint32Array;
  /** Number of buckets in the set before each 32-bit word of `bits`. */
  below: Uint32Array;
  size: number;
}

/** Creates the set from its bits. */
export function bucketsOf(bits: Uint32Array): Buckets {
  const below = new Uint32Array(bits.length);
  let size = 0;
  for (let at = 0; at < bits.length; at += 1) {
    below[at] = size;
    size += ones(bits[at]!);
  }
  return { bits, below, size };
}

/** Returns the number of a bucket within the set, or -1 if the set does not contain it. */
export function rowOf({ bits, below }: Buckets, bucket: number): number {
  const word = bits[bucket >>> 5]!;
  const bit = 1 << (bucket & 31);
  return (word & bit) === 0 ? -1 : below[bucket >>> 5]! + ones(word & (bit - 1));
}

/** Counts the bits that are set in 32 bits. */
function ones(word: number): number {
  let count = word - ((word >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
