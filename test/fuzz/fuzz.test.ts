import test from 'ava';
import { routes } from '../../api/routes.ts';
import { fuzz } from './run.ts';
import { reportText } from './text.ts';

/** Duration (s) of the test. CI uses 60. For a longer test: `npm run fuzz -- --minutes 10`. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 30);

/** Operations that no request of the suite completes, each with the reason. */
const NOT_REACHED: Record<string, string> = {
  'auth.deleteMe':
    'would end the account that makes the requests; api/identity/organizations/deletion.test.ts calls it',
  'auth.restoreMe': 'needs a scheduled deletion; api/identity/organizations/deletion.test.ts calls it',
  'organizations.delete':
    'would end the workspace of the requests; api/identity/organizations/deletion.test.ts calls it',
  'organizations.restore': 'needs a scheduled deletion; api/identity/organizations/deletion.test.ts calls it',
  'campaigns.verifyTrackingDomain':
    'asks the DNS for records of a domain; api/campaigns/tracking-domain.test.ts answers them',
  'mailboxes.refreshIdentity': 'asks Gmail for the addresses of an account that has consented',
  'templates.analyze': 'asks an AI provider; api/campaigns/reply-templates/routes.test.ts stands in for one',
};

test('every operation does what it is for, and hostile requests find no failure, status or body that the document does not know', async (t) => {
  t.timeout(240_000);
  const report = await fuzz({ seed: 20_261_122, forMs: SECONDS * 1_000 });
  t.log(reportText({ ...report, slow: [] }));
  t.deepEqual(report.finds, []);
  t.deepEqual(
    routes.map(({ operationId }) => operationId).filter((id) => !report.inside.has(id)),
    Object.keys(NOT_REACHED),
  );
});
