import { writeFile } from 'node:fs/promises';

/**
 * Writes a country database in MaxMind's format. @param countries countries by IPv4 range, such as `127.0.0.0/8`;
 * ranges must not overlap
 */
export async function writeCountries(path: string, countries: Record<string, string>): Promise<void> {
  type Node = [Branch, Branch];
  type Branch = Node | string | null;
  const root: Node = [null, null];
  for (const [range, country] of Object.entries(countries)) {
    const [address, length] = range.split('/') as [string, string];
    const bits = address
      .split('.')
      .map((byte) => Number(byte).toString(2).padStart(8, '0'))
      .join('');
    let node = root;
    for (let at = 0; at < Number(length) - 1; at += 1) node = (node[Number(bits[at])] ??= [null, null]) as Node;
    node[Number(bits[Number(length) - 1])] = country;
  }
  const nodes: Node[] = [];
  const number = (node: Node): void => {
    nodes.push(node);
    for (const branch of node) if (Array.isArray(branch)) number(branch);
  };
  number(root);
  const data: Buffer[] = [];
  const offsets = new Map<string, number>();
  for (const country of new Set(Object.values(countries))) {
    offsets.set(
      country,
      data.reduce((sum, { length }) => sum + length, 0),
    );
    data.push(encode({ country: { iso_code: country } }));
  }
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [index, node] of nodes.entries())
    for (const [side, branch] of node.entries()) {
      const value =
        branch === null
          ? nodes.length
          : typeof branch === 'string'
            ? nodes.length + 16 + offsets.get(branch)!
            : nodes.indexOf(branch);
      tree.writeUIntBE(value, index * 6 + side * 3, 3);
    }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: 'Test-Country',
    description: { en: 'Countries of a test' },
    ip_version: 4,
    node_count: nodes.length,
    record_size: 24,
  });
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  await writeFile(path, Buffer.concat([tree, Buffer.alloc(16), ...data, marker, metadata]));
}

type Value = string | number | { [key: string]: Value };

/** Encodes short strings, 32-bit unsigned numbers and small maps in MaxMind's format. */
function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([Buffer.from([(2 << 5) | value.length]), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(5);
    bytes[0] = (6 << 5) | 4;
    bytes.writeUInt32BE(value, 1);
    return bytes;
  }
  const entries = Object.entries(value);
  return Buffer.concat([
    Buffer.from([(7 << 5) | entries.length]),
    ...entries.flatMap(([key, of]) => [encode(key), encode(of)]),
  ]);
}
