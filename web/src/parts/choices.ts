import { dataOf, heron } from '../app/api.ts';

/** What can be chosen: an id, and what it is called. */
export interface Choice {
  value: string;
  label: string;
}

/** Things with a name as choices. */
export function choicesOf(rows: readonly { id: string; name: string }[]): Choice[] {
  return rows.map(({ id, name }) => ({ value: id, label: name }));
}

/** The tags of the workspace. */
export async function askTags(): Promise<Choice[]> {
  const { data } = await dataOf(heron.GET('/v1/categories', {}));
  return data.map(({ id, title }) => ({ value: id, label: title }));
}

/** The automations of the workspace. */
export async function askAutomations(): Promise<Choice[]> {
  return choicesOf((await dataOf(heron.GET('/v1/automations', {}))).automations);
}
