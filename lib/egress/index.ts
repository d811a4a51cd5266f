/** The only network exit of Heron: outbound HTTP requests, and address checks for mail clients. */
export { isPublicAddress } from './address.ts';
export { EgressError, type EgressErrorKind, type EgressPhase } from './errors.ts';
export { resolveMailHost } from './mail.ts';
export { createEgress, type Egress, type EgressRequest, type EgressResponse } from './request.ts';
export type { Lookup } from './resolve.ts';
export { checkOutboundUrl, hostMatchesDomains } from './url.ts';
