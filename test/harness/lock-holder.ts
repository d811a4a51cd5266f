/** A process that locks the folder of its argument, says so over IPC, and keeps it until it is killed. */
import { lockFolder } from '../../lib/folder-lock.ts';

await lockFolder(process.argv[2]!);
process.send!('locked');
setInterval(() => undefined, 1_000);
