/**
 * Process that locks the folder named by its argument and reports this over IPC. It keeps the lock until it is killed.
 */
import { lockFolder } from '../../lib/folder-lock.ts';

await lockFolder(process.argv[2]!);
process.send!('locked');
setInterval(() => undefined, 1_000);
