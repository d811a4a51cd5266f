/** `npm run rooms`: lists the rooms of domain/ and api/ that each room imports, and every upward import. */
import { circles, ORDER, roomImports, upwardImports } from './imports.ts';

const imports = await roomImports();
const width = Math.max(...ORDER.map(({ length }) => length));
for (const room of ORDER) {
  const needs = ORDER.filter((other) => imports.some(({ from, to }) => from === room && to === other));
  console.log(`${room.padEnd(width)}  ${needs.join(', ')}`);
}
for (const { file, target } of upwardImports(imports)) console.log(`up: ${file} imports ${target}`);
for (const circle of circles(imports)) console.log(`circle: ${circle.join(' -> ')}`);
console.log(`${upwardImports(imports).length} imports that point up, ${circles(imports).length} circles between rooms`);
