import { readdirSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { signal, signalOpen, start } from '../../temporal/dispatch.ts';
import { defineWorkflow, type WorkflowContract } from '../../workflows/contract.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';

const WORKFLOWS = new URL('../../workflows/', import.meta.url);
const readContract = (family: string): Promise<object> => import(`../../workflows/${family}/contract.ts`);
type AnyArgs = Readonly<Record<string, string>>;

const contracts: WorkflowContract<AnyArgs>[] = [];
for (const family of readdirSync(WORKFLOWS, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
  for (const value of Object.values(await readContract(family.name)))
    if (typeof value === 'object' && value !== null && 'partsOf' in value)
      contracts.push(value as WorkflowContract<AnyArgs>);

/**
 * Returns an arbitrary of a contract's arguments. It uses few values, so that equal ones occur often. The organization
 * follows from the row, so it is derived from the other parts.
 */
const argsFor = (contract: WorkflowContract<AnyArgs>): fc.Arbitrary<AnyArgs> =>
  fc
    .record(Object.fromEntries(contract.parts.map((part) => [part, fc.constantFrom('a', 'b', 'ab', 'a-b', '1')])))
    .map((parts) =>
      ofOrganization(contract) ? { organizationId: `org-of-${JSON.stringify(parts)}`, ...parts } : parts,
    );

const ofOrganization = (contract: WorkflowContract<AnyArgs>): boolean =>
  contract.searchAttributes({ organizationId: 'x' }).OrganizationId === 'x';

test('every workflow has a contract of its own type and prefix', (t) => {
  t.true(contracts.length >= 9);
  for (const name of ['type', 'prefix'] as const)
    t.is(new Set(contracts.map((contract) => contract[name])).size, contracts.length, name);
});

for (const contract of contracts) {
  test(`${contract.type}: arguments are a function of the id, and the id of the arguments`, (t) => {
    fc.assert(
      fc.property(argsFor(contract), argsFor(contract), (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        t.is(contract.id(one) === contract.id(other), same);
        const { organizationId: _, ...parts } = one;
        t.deepEqual(contract.partsOf(contract.id(one)), parts);
        // `start` drops properties that the contract does not name.
        const intent = start(contract, { ...one, enrollmentId: 'x', at: '1' });
        t.deepEqual(intent.kind === 'start' && intent.payload.args, one);
      }),
    );
  });
}

test('a part that could make two ids meet is refused, and the ids of other workflows are not read', (t) => {
  const args = { organizationId: 'o', campaignId: 'c', contactId: 'p' };
  t.is(enrollmentWorkflow.id(args), 'enrollment/c/p');
  t.throws(() => enrollmentWorkflow.id({ ...args, contactId: '' }), { instanceOf: RangeError });
  t.throws(() => enrollmentWorkflow.id({ ...args, contactId: 'p/q' }), { instanceOf: RangeError });
  for (const id of ['campaign/c', 'enrollment/c', 'enrollment/c/p/q', 'enrollment//p', 'webhook-batch/c/p'])
    t.is(enrollmentWorkflow.partsOf(id), undefined, id);
});

test('what a start, a signal and a signal without a start say', (t) => {
  const order = defineWorkflow<{ paid: { paymentId: string } }>()({
    type: 'order',
    kind: 'order',
    parts: ['orderId'],
    work: 'interactive',
    reuse: 'never',
    queue: 'apps',
    summary: ({ orderId }) => `Order ${orderId}`,
    cancel: 'Nothing follows.',
  });
  const args = { organizationId: 'o', orderId: '7' };
  const spec = {
    workflowType: 'order',
    args,
    kind: 'order',
    summary: 'Order 7',
    searchAttributes: { OrganizationId: 'o' },
    priority: { priorityKey: 1, fairnessKey: 'o' },
    reuse: 'never',
    queue: 'apps',
  };
  t.deepEqual(start(order, args, { memo: { plan: 'Small' } }) as unknown, {
    kind: 'start',
    workflowId: 'order/7',
    payload: { ...spec, memo: { plan: 'Small' } },
  });
  const paid = { signal: 'paid', payload: { paymentId: 'p' } };
  t.deepEqual(signal(order, args, 'paid', { paymentId: 'p' }) as unknown, {
    kind: 'signal',
    workflowId: 'order/7',
    payload: { ...spec, ...paid },
  });
  t.deepEqual(signalOpen(order, args, 'paid', { paymentId: 'p' }) as unknown, {
    kind: 'signal',
    workflowId: 'order/7',
    payload: paid,
  });

  // Refused by the compiler, each for its own reason.
  // @ts-expect-error no such signal
  signal(order, args, 'refunded', { paymentId: 'p' });
  // @ts-expect-error another payload
  signal(order, args, 'paid', { amount: 1 });
  // @ts-expect-error an argument that is no part of the id
  start(order, { ...args, at: '1' } satisfies Parameters<typeof order.id>[0]);
  // @ts-expect-error a contract made by hand
  const byHand: WorkflowContract<AnyArgs> = { ...order, id: () => 'order/7' } as Omit<typeof order, symbol>;
  t.truthy(byHand);
});
