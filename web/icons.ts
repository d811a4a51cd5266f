import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const PREFIX = 'tabler:';
const ICON = join(import.meta.dirname, 'src/components/icon.ts');

interface IconSet {
  icons: Record<string, { body: string }>;
}

/**
 * Vite plugin that makes `import IconMail from 'tabler:mail'` a module with that Tabler outline icon. The icon set is
 * one JSON file of 2 MB, whereas Tabler's React package has 87 MB and 18,000 files.
 * @throws Error when an icon is unknown, or contains elements other than strokes
 */
export function tablerIcons(): Plugin {
  let set: Promise<IconSet> | undefined;
  const load = async (): Promise<IconSet> =>
    JSON.parse(await readFile(createRequire(import.meta.url).resolve('@iconify-json/tabler/icons.json'), 'utf8'));
  return {
    name: 'tabler-icons',
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
    async load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return undefined;
      const name = id.slice(PREFIX.length + 1);
      const body = (await (set ??= load())).icons[name]?.body;
      if (!body) throw new Error(`Tabler has no icon ${name}`);
      if (/<(?!\/?g\b|path\b)|fill="(?!none")/.test(body)) throw new Error(`${name} is not an outline of paths`);
      const paths = [...body.matchAll(/ d="([^"]+)"/g)].map(([, d]) => d);
      return `import { outlineIcon } from ${JSON.stringify(ICON)};
        export default /* @__PURE__ */ outlineIcon(...${JSON.stringify(paths)});`;
    },
  };
}
