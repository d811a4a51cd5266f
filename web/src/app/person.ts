import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient, type AnswerOf } from './api.ts';
import { forgetAccess } from './session.ts';

type Person = AnswerOf<'/v1/auth/me'>;
type Workspace = Person['workspaces'][number];

/** Query of the data that the shell needs first: the signed-in person and their workspaces with permissions. */
export const personQuery = {
  queryKey: ['person'],
  queryFn: async (): Promise<{ person: Person; workspaces: Workspace[] }> => {
    const person = await dataOf(heron.GET('/v1/auth/me'));
    return { person, workspaces: person.workspaces };
  },
  staleTime: 5 * 60_000,
} as const;

/** Returns the signed-in person with the selected workspace; undefined if none is selected. */
export function usePerson(): { person: Person; workspaces: Workspace[]; workspace: Workspace | undefined } {
  const { data } = useSuspenseQuery(personQuery);
  return { ...data, workspace: data.workspaces.find(({ current }) => current) };
}

/**
 * Returns true if the person's role has a permission. The API enforces the permission; this function only decides what
 * is shown.
 */
export function useCan(permission: string): boolean {
  const { data } = useQuery(personQuery);
  return data?.workspaces.find(({ current }) => current)?.permissions.includes(permission) ?? false;
}

/** Selects another workspace and clears all data of the previous one from memory. */
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
