import type { AnswerOf } from '../../app/api.ts';
import { Exports } from './exports.tsx';
import { Logo } from './logo.tsx';
import { SignInRules } from './sign-in-rules.tsx';

/** Sections of the workspace page with the logo, the sign-in rules and the exports. */
export default function Sections({
  workspace,
  mayChange,
}: {
  workspace: AnswerOf<'/v1/organizations/current'>;
  mayChange: boolean;
}) {
  return (
    <>
      {mayChange ? (
        <>
          <Logo workspace={workspace} />
          <SignInRules workspace={workspace} />
        </>
      ) : null}
      <Exports />
    </>
  );
}
