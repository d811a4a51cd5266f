const INITIAL_SLOTS = 1 << 14;
const FILLED = 0.6;

/**
 * Set of the addresses in a file, stored as 64-bit hashes. Each address needs 8 bytes instead of about a hundred in a
 * Set of strings, so an import of millions needs little memory. The chance that two of ten million addresses have the
 * same hash is 1 in 300,000.
 */
export class AddressSet {
  #high = new Uint32Array(INITIAL_SLOTS);
  #low = new Uint32Array(INITIAL_SLOTS);
  #size = 0;

  /** Adds an address; returns false if the set already contains it. */
  add(address: string): boolean {
    let high = 0x811c9dc5;
    let low = 0x9747b28c;
    for (let i = 0; i < address.length; i += 1) {
      const code = address.charCodeAt(i);
      high = Math.imul(high ^ code, 0x01000193);
      low = Math.imul(low ^ code, 0x85ebca6b);
      low ^= low >>> 13;
    }
    // Replaces a hash of zero by one, because zero marks a free slot.
    if (!this.#insert(mix(high ^ address.length) || 1, mix(low))) return false;
    this.#size += 1;
    if (this.#size > this.#high.length * FILLED) this.#grow();
    return true;
  }

  #insert(high: number, low: number): boolean {
    const mask = this.#high.length - 1;
    let slot = low & mask;
    while (this.#high[slot] !== 0) {
      if (this.#high[slot] === high && this.#low[slot] === low) return false;
      slot = (slot + 1) & mask;
    }
    this.#high[slot] = high;
    this.#low[slot] = low;
    return true;
  }

  #grow(): void {
    const [high, low] = [this.#high, this.#low];
    this.#high = new Uint32Array(high.length * 2);
    this.#low = new Uint32Array(high.length * 2);
    for (let slot = 0; slot < high.length; slot += 1) if (high[slot] !== 0) this.#insert(high[slot]!, low[slot]!);
  }
}

/** Spreads a hash over all 32 bits (the finalizer of MurmurHash3). */
function mix(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
