export { resolveTemporalCli, type CliSource, type TemporalCli } from './cli.ts';
export { settleStateFile } from './state-file.ts';
export { startTemporalServer, type TemporalServer, type TemporalServerOptions } from './server.ts';
