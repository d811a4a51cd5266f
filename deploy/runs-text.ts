import type { FamilyReport } from '../domain/operations/system/reconcile.ts';
import type { ParkedIntent } from '../domain/operations/system/outbox.ts';

/** Formats parked intents as lines for a terminal. Times are UTC. */
export function parkedLines(parked: readonly ParkedIntent[]): string[] {
  if (parked.length === 0) return ['No intent is parked.'];
  return [
    'Parked intents (heron outbox retry [id...] | drop <id...>)',
    ...parked.flatMap(({ id, kind, workflowId, parkedAt, nextAttemptAt, attempts, reason, behind }) => [
      `  ${id}  ${kind} ${workflowId}`,
      `    ${parkedAt.toISOString()}, ${attempts} attempts: ${reason ?? 'no reason was recorded'}`,
      `    is tried again at ${nextAttemptAt.toISOString()}`,
      ...(behind > 0 ? [`    ${behind} later ${behind === 1 ? 'intent waits' : 'intents wait'} behind it`] : []),
    ]),
  ];
}

/** Formats the result of a search for missing workflows as lines for a terminal. */
export function reconcileLines(families: readonly FamilyReport[], { dryRun }: { dryRun: boolean }): string[] {
  const width = Math.max(...families.map(({ family }) => family.length));
  const missing = families.reduce((sum, each) => sum + each.missing, 0);
  return [
    ...families.map(
      ({ family, checked, missing: lost }) =>
        `${family.padEnd(width)}  ${checked} must be open, ${lost === 0 ? 'none' : lost} missing`,
    ),
    missing === 0
      ? 'No run is missing.'
      : `${missing} ${missing === 1 ? 'run is' : 'runs are'} missing${dryRun ? '; nothing was started (--dry-run).' : ', and will be started by the relay.'}`,
  ];
}
