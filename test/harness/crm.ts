import { call, type World } from './world.ts';
import type { Tenant } from './factories.ts';

/** Creates a pipeline with these stages through the API. */
export async function createPipeline(
  world: World,
  tenant: Tenant,
  stages: readonly string[] = ['New', 'Talking', 'Closing'],
) {
  const { body } = await call(world, 'POST', '/v1/crm/pipelines', {
    token: tenant.apiKey,
    body: { name: 'Sales', stages: stages.map((name) => ({ name, color: '#0ea5e9' })) },
  });
  return { id: body.id as string, stageIds: body.stages.map(({ id }: { id: string }) => id) as string[] };
}
