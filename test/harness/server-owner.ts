/**
 * Process that starts a server (a shell script with one argument) and continues: `server-owner.ts <script> <argument>`.
 */
import { writeFile } from 'node:fs/promises';
import { spawnServer } from '../../local/servers.ts';

const [script, argument] = process.argv.slice(2) as [string, string];
await spawnServer('sh', ['-c', script, 'sh', argument], { stdio: 'ignore', stopSignal: 'SIGTERM', graceMs: 1_000 });
await writeFile(`${argument}.tied`, '');
