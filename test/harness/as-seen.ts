import type { ExecutionContext } from 'ava';

interface Answer {
  status: number;
  body: any;
}

/**
 * Two change the same at once, and each names the state that they have read: one of them is refused, and told the state that there is now.
 * Who names that one, or none, is not.
 * @param seen the `updated_at` that both have read; null where there was nothing
 * @param edit sends a change; a second one of the same kind must change something too
 */
export async function refusesTheUnseen(
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
