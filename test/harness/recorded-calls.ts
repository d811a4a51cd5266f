import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** Environment variable that names the folder for recorded calls. Nothing is recorded without it. */
export const RECORD_SETTING = 'HERON_RECORD_CALLS';
const MAX_BYTES = 20_000;

/** Request to the API under test with its answer. */
export interface RecordedCall {
  method: string;
  path: string;
  sent: unknown;
  status: number;
  answer: unknown;
  /** True for a call that was made as an example for the API reference. */
  shown?: boolean;
}

/** Header that marks a call as an example; the API ignores it. */
export const SHOWN = { 'x-heron-example': '1' };

/** Records a call for `npm run record-examples`: one line of JSON per call, in a file per process. */
export function recordCall({ sent, ...call }: RecordedCall): void {
  const folder = process.env[RECORD_SETTING];
  if (!folder) return;
  const fields = sent instanceof URLSearchParams ? Object.fromEntries(sent) : sent;
  const line = JSON.stringify({ ...call, ...(isPlain(fields) ? { sent: fields } : {}) });
  if (line.length < MAX_BYTES) appendFileSync(join(folder, `${process.pid}.jsonl`), `${line}\n`);
}

function isPlain(value: unknown): boolean {
  return Array.isArray(value) || (typeof value === 'object' && value?.constructor === Object);
}
