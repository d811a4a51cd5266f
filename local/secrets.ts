import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Secrets of a local installation. */
interface LocalSecrets {
  AUTH_SECRET: string;
  CREDENTIALS_ENCRYPTION_KEY: string;
}

/**
 * Returns the secrets of a data folder. They are created at the first start and readable only by their owner. If the
 * file is lost, stored mailbox passwords cannot be decrypted.
 */
export async function localSecrets(dataDir: string): Promise<LocalSecrets> {
  const file = join(dataDir, 'secrets.json');
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (kept !== undefined) return JSON.parse(kept) as LocalSecrets;
  const made: LocalSecrets = {
    AUTH_SECRET: randomBytes(32).toString('base64url'),
    CREDENTIALS_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  };
  // `wx` fails if the file exists, so that of two concurrent first starts only one stores its secrets.
  await writeFile(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  return made;
}
