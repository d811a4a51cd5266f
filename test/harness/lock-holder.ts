/** Process that locks the folder of its argument, reports it over IPC, and keeps the lock until it is killed. */
import { lockFolder } from '../../lib/folder-lock.ts';

await lockFolder(process.argv[2]!);
process.send!('locked');
setInterval(() => undefined, 1_000);
