import type { ExecutionContext } from 'ava';

interface Answer {
  status: number;
  body: any;
}

/**
 * Checks `expected_updated_at`: of two concurrent changes based on the same state, one is refused with the current
 * state. Changes that name the current state, or none, succeed.
 * @param seen the `updated_at` that both have read; null if there was nothing
 * @param edit sends a change; a second one of the same kind must change something too
 */
export async function assertConcurrentChangeRefused(
  t: ExecutionContext,
  seen: string | null,
  edit: (more: { expected_updated_at?: string | null }, attempt: number) => Promise<Answer>,
): Promise<void> {
  const answers = await Promise.all([1, 2].map((attempt) => edit({ expected_updated_at: seen }, attempt)));
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
  const refused = answers.find(({ status }) => status === 409)!.body;
  t.is(refused.code, 'conflict');
  t.regex(refused.fix, /expected_updated_at/);
  t.is((await edit({ expected_updated_at: refused.updated_at }, 3)).status, 200);
  t.is((await edit({}, 4)).status, 200);
}
