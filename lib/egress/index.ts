/** The only way out of Heron to the network: outbound HTTP, and the addresses mail clients connect to. */
export { isPublicAddress } from './address.ts';
export { EgressError, type EgressErrorKind, type EgressPhase } from './errors.ts';
export { resolveMailHost, type MailHost, type ResolveMailHostOptions } from './mail.ts';
export {
  createEgress,
  type Egress,
  type EgressMeasurement,
  type EgressOptions,
  type EgressRequest,
  type EgressResponse,
  type EgressTimings,
} from './request.ts';
export { createDnsLookup, lookupBySystem, type Lookup } from './resolve.ts';
export { checkOutboundUrl, hostMatchesDomains, type OutboundUrlCheck, type OutboundUrlPolicy } from './url.ts';
