import type { AnswerOf } from '../../app/api.ts';
import { DeleteWorkspace } from './delete-workspace.tsx';
import { Exports } from './exports.tsx';
import { Logo } from './logo.tsx';
import { NewWorkspace } from './new-workspace.tsx';
import { SignInRules } from './sign-in-rules.tsx';

/** Lower sections of the workspace page: logo, sign-in rules, exports, another workspace, and deletion. */
export default function Sections({
  workspace,
  mayChange,
}: {
  workspace: AnswerOf<'/v1/organizations/current'> | undefined;
  mayChange: boolean;
}) {
  return (
    <>
      {workspace && mayChange ? (
        <>
          <Logo workspace={workspace} />
          <SignInRules workspace={workspace} />
        </>
      ) : null}
      {workspace ? <Exports /> : null}
      <NewWorkspace />
      <DeleteWorkspace />
    </>
  );
}
