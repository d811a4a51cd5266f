/** Program that writes the browser bundle of the API reference to the folder of its page, where builds need it. */
import { ensureReference } from './reference.ts';

try {
  await ensureReference(console.log);
} catch (error) {
  console.error(`The API reference could not be fetched: ${(error as Error).message}`);
  process.exitCode = 1;
}
