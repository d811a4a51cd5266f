/** The only way out of Heron to the network: outbound HTTP, and the addresses mail clients connect to. */
export { isPublicAddress } from './address.ts';
export { EgressError, type EgressErrorKind, type EgressPhase } from './errors.ts';
export { resolveMailHost } from './mail.ts';
export { createEgress, type Egress, type EgressRequest, type EgressResponse } from './request.ts';
export type { Lookup } from './resolve.ts';
export { checkOutboundUrl, hostMatchesDomains } from './url.ts';
