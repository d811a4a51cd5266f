import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient, type AnswerOf, type RowOf } from './api.ts';
import { forgetAccess } from './session.ts';

type Person = AnswerOf<'/v1/auth/me'>;
type Workspace = RowOf<'/v1/organizations'>;

/** What the shell needs before anything is shown: who is signed in, and their workspaces with what they may do there. */
export const personQuery = {
  queryKey: ['person'],
  queryFn: async (): Promise<{ person: Person; workspaces: Workspace[] }> => {
    const [person, { data }] = await Promise.all([
      dataOf(heron.GET('/v1/auth/me')),
      dataOf(heron.GET('/v1/organizations')),
    ]);
    return { person, workspaces: data };
  },
  staleTime: 5 * 60_000,
} as const;

/** The signed-in person with the selected workspace; undefined when none is selected. */
export function usePerson(): { person: Person; workspaces: Workspace[]; workspace: Workspace | undefined } {
  const { data } = useSuspenseQuery(personQuery);
  return { ...data, workspace: data.workspaces.find(({ current }) => current) };
}

/** Whether the role of the person allows something. The API decides; this says what is worth showing. */
export function useCan(permission: string): boolean {
  const { data } = useQuery(personQuery);
  return data?.workspaces.find(({ current }) => current)?.permissions.includes(permission) ?? false;
}

/** Selects another workspace: nothing of the one before stays in memory. */
export async function selectWorkspace(id: string): Promise<void> {
  await dataOf(heron.POST('/v1/organizations/{id}/select', { params: { path: { id } } }));
  forgetAccess();
  window.location.assign('/');
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await heron.POST('/v1/auth/logout');
  queryClient.clear();
  window.location.assign('/account/sign-in');
}
