/**
 * API whose reads need no authentication. Each request is handled for the organization that the variable ORGANIZATION
 * names.
 */
import { assemble } from '../../deploy/assemble.ts';
import { loadConfig } from '../../lib/config/index.ts';
import { startOpenApi } from '../../test/harness/open-api.ts';

const { url } = await startOpenApi(assemble(loadConfig(), 'open-read').deps, process.env.ORGANIZATION!);
process.send!({ port: Number(new URL(url).port) });
