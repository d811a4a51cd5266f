/**
 * Process that starts a server and continues. The server is a shell script with one argument: `server-owner.ts <script>
 * <argument>`.
 */
import { writeFile } from 'node:fs/promises';
import { spawnServer } from '../../local/servers.ts';

const [script, argument] = process.argv.slice(2) as [string, string];
await spawnServer('sh', ['-c', script, 'sh', argument], { stdio: 'ignore', stopSignal: 'SIGTERM', graceMs: 1_000 });
await writeFile(`${argument}.tied`, '');
