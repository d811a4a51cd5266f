/**
 * Loaded into each process of ava before its test file: notes the seconds (wall, processor) that the file took, where HERON_TEST_TIMES
 * names a file to append to. Children that the file waited for count as processor time, servers of the run do not.
 */
import { appendFileSync } from 'node:fs';
import test from 'ava';

const noted = process.env.HERON_TEST_TIMES;
if (noted)
  process.once('exit', () => {
    const { user, system } = process.cpuUsage();
    const line = { file: test.meta.file, wall: process.uptime(), cpu: (user + system) / 1e6 };
    appendFileSync(noted, `${JSON.stringify(line)}\n`);
  });
