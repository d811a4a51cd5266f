export { resolveTemporalCli, TEMPORAL_CLI_VERSION, readVersions, type CliSource, type TemporalCli } from './cli.ts';
export { claimStateFile } from './state-file.ts';
export { startTemporalServer, type TemporalServer, type TemporalServerOptions } from './server.ts';
