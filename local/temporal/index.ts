export { resolveTemporalCli, TEMPORAL_CLI_VERSION, type CliSource, type TemporalCli } from './cli.ts';
export { startTemporalServer, type TemporalServer, type TemporalServerOptions } from './server.ts';
