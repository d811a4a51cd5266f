export { resolveTemporalCli, type TemporalCli } from './cli.ts';
export { chooseStateFileServer } from './state-file.ts';
export { startTemporalServer, type TemporalServer } from './server.ts';
