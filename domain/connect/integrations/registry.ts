import type { z } from 'zod';
import { issueMessage } from '../../../lib/issue-message.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Provider, ProviderAction } from './providers/provider.ts';
import { PROVIDERS } from './catalogue.ts';

/** Prefix of native actions, in place of a provider's id: `sendsets.add_tag`. */
export const NATIVE = 'sendsets';

/** Finds a provider by its id. Returns undefined for an unknown id. */
export function findProvider(id: string): Provider | undefined {
  return PROVIDERS.find((provider) => provider.id === id);
}

/** Returns the provider of a stored connection. Throws if this build does not support the provider. */
export function providerOf({ provider: id }: { provider: string }): Provider {
  const provider = findProvider(id);
  if (!provider) throw new AppError('conflict', message('connect.unknown_provider_here', { provider: id }));
  return provider;
}

/** Splits an action's name into the provider, or {@link NATIVE}, and the verb. */
export function partsOfAction(action: string): { provider: string; verb: string } {
  const dot = action.indexOf('.');
  return dot < 0 ? { provider: '', verb: action } : { provider: action.slice(0, dot), verb: action.slice(dot + 1) };
}

/** Finds an action of a provider by its full name, such as `slack.notify`. Returns undefined for an unknown name. */
export function findAction(provider: Provider, action: string): ProviderAction | undefined {
  const { provider: id, verb } = partsOfAction(action);
  return id === provider.id && Object.hasOwn(provider.actions, verb) ? provider.actions[verb] : undefined;
}

/** Names of a provider's actions, for the catalogue. */
export function actionNames({ id, actions }: Provider): string[] {
  return Object.keys(actions).map((verb) => `${id}.${verb}`);
}

/** Lists problems of a config by its schema. `path` is the location of the config in the caller's input. */
export function schemaFaults(schema: z.ZodType, config: unknown, path: string): Problem[] {
  const checked = schema.safeParse(config);
  if (checked.success) return [];
  return checked.error.issues.map((issue) => ({
    path: [path, ...issue.path.map(String)].join('.'),
    message: issueMessage(issue),
  }));
}
