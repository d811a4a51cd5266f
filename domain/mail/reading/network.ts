import { bucketsOf, rowOf, type Buckets } from './buckets.ts';
import { BUCKET_BITS, characterFeatures, wordFeatures, type Token } from './features.ts';

/** Header of a network's file: JSON, preceded by its length (4 bytes, little endian). */
interface NetworkHeader {
  /**
   * Number of values in an embedding. `filters` is the number of filters (a multiple of four), and `width` the number
   * of neighbouring embeddings that a filter reads.
   */
  size: number;
  filters: number;
  width: number;
  /** Factor that converts the stored integers to embeddings. */
  step: number;
}

/**
 * A small convolutional network. Each word has an embedding, the sum of the embeddings of its n-grams. In scripts
 * without spaces each character has one. Filters slide over the embeddings, and the output layer reads the highest
 * value of each filter and the mean of all embeddings.
 */
export interface Network extends NetworkHeader {
  /** Features that have an embedding. */
  known: Buckets;
  embeddings: Int8Array | Float32Array;
  /** Weights of each filter for `width` neighbouring embeddings, and one bias per filter. */
  convolution: Float32Array;
  convolutionBias: Float32Array;
  /** Weights of each label for all filters and the mean embedding, and one bias per label. */
  output: Float32Array;
  outputBias: Float32Array;
}

/** Maximum number of embeddings per text. If a text has more, those in its middle are ignored. */
const MOST_PLACES = 160;
const FROM_END = 40;

/** Values of the network's layers for one text. */
interface Activation {
  /** Embeddings in order, with zeros around them. */
  places: Float32Array;
  count: number;
  /** Highest value of each filter, followed by the mean of all embeddings. */
  pooled: Float32Array;
  /** Position at which each filter has its highest value; -1 if no value is above zero. */
  highest: Int32Array;
}

/** Layers after the embeddings, in the order of the file. */
const LAYERS = ['convolution', 'convolutionBias', 'output', 'outputBias'] as const;

/** Decodes a network's file ({@link encodeNetwork}). */
export function decodeNetwork(file: Buffer): Network {
  const length = file.readUInt32LE(0);
  const header = JSON.parse(file.toString('utf8', 4, 4 + length)) as NetworkHeader & { lengths: number[] };
  let at = 4 + length;
  const bytes = (count: number): ArrayBuffer => {
    at += count;
    return Uint8Array.from(file.subarray(at - count, at)).buffer;
  };
  const known = bucketsOf(new Uint32Array(bytes(2 ** BUCKET_BITS / 8)));
  const embeddings = new Int8Array(bytes(known.size * header.size));
  const [convolution, convolutionBias, output, outputBias] = header.lengths.map(
    (count) => new Float32Array(bytes(4 * count)),
  ) as [Float32Array, Float32Array, Float32Array, Float32Array];
  return { ...header, known, embeddings, convolution, convolutionBias, output, outputBias };
}

/** Encodes a network as an uncompressed file. */
export function encodeNetwork(network: Network): Buffer {
  const { size, filters, width, step, known, embeddings } = network;
  const layers = LAYERS.map((name) => network[name]);
  const json = Buffer.from(JSON.stringify({ size, filters, width, step, lengths: layers.map((one) => one.length) }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([
    length,
    json,
    ...[known.bits, embeddings, ...layers].map((one) => Buffer.from(one.buffer, one.byteOffset, one.byteLength)),
  ]);
}

/** Returns the known features of each word of a text, or of each character in scripts without spaces. */
export function placesOf(tokens: readonly Token[], known: Buckets): number[][] {
  const all = tokens.flatMap((token) => characterFeatures(token) ?? [wordFeatures(token)]);
  const read = all.length <= MOST_PLACES ? all : [...all.slice(0, MOST_PLACES - FROM_END), ...all.slice(-FROM_END)];
  return read.map((features) => features.map((feature) => rowOf(known, feature)).filter((row) => row >= 0));
}

/** Computes the values of the layers up to `pooled`. */
export function activate(network: Network, rows: readonly (readonly number[])[]): Activation {
  const { size, filters, width, step, embeddings, convolution, convolutionBias } = network;
  const count = rows.length;
  const before = width >> 1;
  const places = new Float32Array((count + width - 1) * size);
  const pooled = new Float32Array(filters + size);
  const highest = new Int32Array(filters).fill(-1);
  for (let place = 0; place < count; place += 1) {
    const known = rows[place]!;
    const scale = step / Math.sqrt(known.length || 1);
    const to = (place + before) * size;
    for (const row of known)
      for (let at = 0; at < size; at += 1) places[to + at]! += embeddings[row * size + at]! * scale;
    for (let at = 0; at < size; at += 1) pooled[filters + at]! += places[to + at]! / count;
  }
  const reach = width * size;
  // Computes four filters at a time, which is twice as fast as one filter at a time.
  for (let filter = 0; filter < filters; filter += 4) {
    const [w0, w1, w2, w3] = [filter * reach, (filter + 1) * reach, (filter + 2) * reach, (filter + 3) * reach];
    for (let place = 0; place < count; place += 1) {
      let sum0 = convolutionBias[filter]!;
      let sum1 = convolutionBias[filter + 1]!;
      let sum2 = convolutionBias[filter + 2]!;
      let sum3 = convolutionBias[filter + 3]!;
      const from = place * size;
      for (let at = 0; at < reach; at += 1) {
        const value = places[from + at]!;
        sum0 += value * convolution[w0 + at]!;
        sum1 += value * convolution[w1 + at]!;
        sum2 += value * convolution[w2 + at]!;
        sum3 += value * convolution[w3 + at]!;
      }
      keepHighest(pooled, highest, filter, sum0, place);
      keepHighest(pooled, highest, filter + 1, sum1, place);
      keepHighest(pooled, highest, filter + 2, sum2, place);
      keepHighest(pooled, highest, filter + 3, sum3, place);
    }
  }
  return { places, count, pooled, highest };
}

function keepHighest(pooled: Float32Array, highest: Int32Array, filter: number, value: number, place: number): void {
  if (value <= pooled[filter]!) return;
  pooled[filter] = value;
  highest[filter] = place;
}

/** Computes the score of each label. */
export function outputOf({ output, outputBias }: Network, pooled: Float32Array): Float64Array {
  return Float64Array.from(outputBias, (bias, label) => {
    let score = bias;
    const weights = label * pooled.length;
    for (let at = 0; at < pooled.length; at += 1) score += pooled[at]! * output[weights + at]!;
    return score;
  });
}
