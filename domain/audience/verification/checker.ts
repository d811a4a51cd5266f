import type { Deps } from '../../platform/kernel/context.ts';
import { checkByProbe } from './by-probe.ts';
import { checkByRecords, ACCEPTS_MAIL } from './by-records.ts';
import type { Verdict } from './verdict.ts';
import { checkByZeroBounce } from './zerobounce.ts';

/** Checks one address. Never throws. `later`: no result; the check must be repeated. */
export type AddressChecker = (deps: Deps, email: string) => Promise<Verdict | 'later'>;

const CHECKERS: Record<Exclude<Deps['config']['EMAIL_VERIFICATION'], 'off'>, AddressChecker> = {
  builtin: async (deps, email) => {
    const found = await checkByRecords(deps, email);
    const isOpen = found !== 'later' && found.reason === ACCEPTS_MAIL;
    return isOpen && deps.config.EMAIL_VERIFICATION_PROBE_FROM ? checkByProbe(deps, email) : found;
  },
  zerobounce: checkByZeroBounce,
};

/** Returns the checker that the settings select; undefined if verification is off. */
export function addressChecker({ config }: Pick<Deps, 'config'>): AddressChecker | undefined {
  return config.EMAIL_VERIFICATION === 'off' ? undefined : CHECKERS[config.EMAIL_VERIFICATION];
}
