import type { Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { refuseProblems, type Problem } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { openAccount } from './account.ts';
import { asAppErrors, requireConnection, readConnection } from './connections.ts';
import { CUSTOM_PREFIX, SOURCE_FIELDS } from './mapped.ts';
import type { ExternalField } from './providers/provider.ts';
import { findProvider } from './registry.ts';

type FieldMapping = Row<'integration_field_mappings'>;

/** The mappings of a connection, which are always replaced together. */
export interface Mappings {
  mappings: FieldMapping[];
  /** Time of the last replacement. For the provider's default mappings: creation time of the connection. */
  updatedAt: Date;
}

/** Assigns a value to one field of the provider. */
interface MappingInput {
  external_field: string;
  sendsets_field?: string | undefined;
  transform?: '' | FieldMapping['transform'] | undefined;
  static_value?: string | undefined;
}

/** Lists the mappings of a connection in order: its own, or the provider's defaults. @throws AppError not_found */
export async function listMappings(ctx: Ctx, connectionId: string): Promise<Mappings> {
  const connection = await readConnection(ctx, connectionId);
  const own = await ownMappings(reader(ctx), connection.id);
  if (own.length > 0) return { mappings: own, updatedAt: own[0]!.created_at };
  const push = findProvider(connection.provider)?.push;
  const defaults = (push?.defaults ?? []).map(({ from, to }, position): FieldMapping => ({
    // Default mappings are not stored, so they get the connection's id. They apply until the connection has its own
    // mappings.
    id: connection.id,
    organization_id: connection.organization_id,
    connection_id: connection.id,
    subscription_id: null,
    direction: 'push',
    object_name: push!.object,
    source_field: from,
    external_field: to,
    transform: 'none',
    static_value: '',
    is_default: true,
    position,
    created_at: connection.created_at,
  }));
  return { mappings: defaults, updatedAt: connection.created_at };
}

/** Returns a connection's own mappings in order. They are always stored together, so all have the same time. */
function ownMappings(org: OrgScope, connectionId: string): Promise<FieldMapping[]> {
  return org.sql<FieldMapping>(
    'select * from integration_field_mappings where organization_id = :org and connection_id = :id order by position',
    { id: connectionId },
  );
}

/** Lists the problems of mappings that can be found without the provider. */
export function mappingProblems(mappings: readonly Partial<MappingInput>[] | undefined): Problem[] {
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const [index, mapping] of (mappings ?? []).entries()) {
    const path = `body.mappings.${index}`;
    const isStatic = mapping.transform === 'static';
    if (!isStatic && !mapping.sendsets_field)
      problems.push({ path: `${path}.sendsets_field`, message: message('connect.required_unless_static') });
    if (!isStatic && mapping.sendsets_field && !isSource(mapping.sendsets_field))
      problems.push({
        path: `${path}.sendsets_field`,
        message: message('connect.unknown_source', { fields: SOURCE_FIELDS, prefix: CUSTOM_PREFIX }),
      });
    if (isStatic && !mapping.static_value)
      problems.push({ path: `${path}.static_value`, message: message('connect.required_with_static') });
    if (mapping.external_field && seen.has(mapping.external_field))
      problems.push({ path: `${path}.external_field`, message: message('connect.mapped_twice') });
    if (mapping.external_field) seen.add(mapping.external_field);
  }
  return problems;
}

function isSource(field: string): boolean {
  return (
    SOURCE_FIELDS.some((known) => known === field) ||
    (field.startsWith(CUSTOM_PREFIX) && field.length > CUSTOM_PREFIX.length)
  );
}

/**
 * Checks mappings against the provider's schema, if the provider offers one: unknown fields, read-only fields, and
 * values outside a closed list.
 * @throws AppError not_found, service_unavailable when the provider does not answer
 */
export async function schemaProblems(
  ctx: Ctx,
  connectionId: string,
  mappings: readonly MappingInput[],
): Promise<Problem[]> {
  const connection = await readConnection(ctx, connectionId);
  const { provider, call } = openAccount(ctx, connection);
  if (!provider.push?.readFields || mappings.length === 0) return [];
  const fields = await asAppErrors(provider, 'body.mappings', () => provider.push!.readFields!(call));
  const byName = new Map(fields.map((field) => [field.name, field]));
  return mappings.flatMap((mapping, index) => {
    const problem = problemOf(mapping, byName.get(mapping.external_field), provider.name);
    return problem ? [{ path: `body.mappings.${index}.${problem.field}`, message: problem.fault }] : [];
  });
}

function problemOf(
  { transform, static_value: fixed }: MappingInput,
  field: ExternalField | undefined,
  provider: string,
): { field: string; fault: Message } | undefined {
  if (!field) return { field: 'external_field', fault: message('connect.unknown_external_field', { provider }) };
  if (field.readOnly) return { field: 'external_field', fault: message('connect.read_only_field', { provider }) };
  if (transform === 'static' && field.options && field.options.length > 0 && !field.options.includes(fixed ?? ''))
    return {
      field: 'static_value',
      fault: message('connect.unknown_option', { provider, options: field.options.slice(0, 20) }),
    };
  return undefined;
}

/**
 * Replaces all mappings of a connection. An empty list restores the provider's defaults.
 * @param options.found problems by the provider's schema, see {@link schemaProblems}
 * @param options.expectedUpdatedAt the `updated_at` of the mappings that the caller has seen
 * @throws AppError not_found, bad_request, conflict if `updated_at` has changed
 */
export async function replaceMappings(
  ctx: Ctx,
  connectionId: string,
  input: { object?: string | undefined; mappings: readonly MappingInput[] },
  { found, expectedUpdatedAt }: { found: readonly Problem[]; expectedUpdatedAt?: Date | undefined },
): Promise<Mappings> {
  refuseProblems([...mappingProblems(input.mappings), ...found]);
  await transact(ctx, async (tx) => {
    const connection = await requireConnection(tx.org, connectionId, 'for update');
    const [before] = await ownMappings(tx.org, connection.id);
    assertUnchanged('field_mapping', (before ?? connection).created_at, expectedUpdatedAt);
    await tx.org.table('integration_field_mappings').where({ connection_id: connection.id }).delete();
    const object = input.object ?? findProvider(connection.provider)?.push?.object ?? 'contact';
    if (input.mappings.length > 0)
      await tx.org.insert(
        'integration_field_mappings',
        input.mappings.map((mapping, position) => ({
          id: newId(),
          connection_id: connection.id,
          subscription_id: null,
          direction: 'push' as const,
          object_name: object,
          source_field: mapping.transform === 'static' ? '' : (mapping.sendsets_field ?? ''),
          external_field: mapping.external_field,
          transform: mapping.transform || 'none',
          static_value: mapping.static_value ?? '',
          position,
          created_at: tx.now,
        })),
      );
    tx.audit({
      action: 'integration.fields_mapped',
      entityType: 'integration_connection',
      entityId: connection.id,
      metadata: { fields: input.mappings.map(({ external_field: field }) => field) },
    });
  });
  return listMappings(ctx, connectionId);
}
