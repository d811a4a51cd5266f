import { z } from 'zod';
import {
  createLabel,
  deleteLabel,
  listLabels,
  moveLabel,
  newPositionProblems,
  updateLabel,
  type LabelRegistry,
  type LabelRow,
} from '../../../domain/audience/labels/labels.ts';
import type { OrgPermission, Permission } from '../../../lib/permissions.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso, resource, timestamp, uuid } from '../../http/schemas.ts';

const title = z.string().trim().min(1).max(50);
const color = z
  .string()
  .regex(/^#[0-9a-f]{6}$/i, ruleMessage('directory.color'))
  .toLowerCase();
const label = resource('Label', {
  id: uuid,
  title: z.string(),
  color: z.string(),
  position: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
});
const order = z.array(z.strictObject({ id: uuid, position: z.int() }));

function present(row: LabelRow): z.input<typeof label> {
  const { id, title: name, color: shade, position } = row;
  return { id, title: name, color: shade, position, created_at: iso(row.created_at), updated_at: iso(row.updated_at) };
}

interface Registry {
  registry: LabelRegistry;
  plural: string;
  /** Kind of record that these labels are for. It determines who may see and change the labels. */
  files: string;
  read: { scope: readonly Permission[]; permission: OrgPermission };
  write: { scope: readonly Permission[]; permission: OrgPermission };
}

const REGISTRIES: readonly Registry[] = [
  {
    registry: 'folder',
    plural: 'folders',
    files: 'campaigns',
    read: { scope: ['READ_CAMPAIGNS'], permission: 'view_campaigns' },
    write: { scope: ['WRITE_CAMPAIGNS'], permission: 'manage_campaigns' },
  },
  {
    registry: 'tag',
    plural: 'tags',
    files: 'mailboxes',
    read: { scope: ['READ_EMAILS'], permission: 'view_campaigns' },
    write: { scope: ['WRITE_EMAILS'], permission: 'manage_campaigns' },
  },
  {
    registry: 'category',
    plural: 'categories',
    files: 'contacts',
    read: { scope: ['READ_CONTACTS'], permission: 'view_contacts' },
    write: { scope: ['WRITE_CONTACTS'], permission: 'manage_contacts' },
  },
];

/** Routes of folders, tags and categories: three registries of the same shape. */
export const labelRoutes = REGISTRIES.flatMap(registryRoutes);

function registryRoutes({ registry, plural, files, read, write }: Registry): AnyRoute[] {
  const area = 'labels';
  return [
    route({
      ...read,
      area,
      operationId: `${plural}.list`,
      method: 'get',
      path: `/${plural}`,
      summary: `List ${plural} of ${files} in their order`,
      success: { status: 200, body: z.strictObject({ data: z.array(label) }) },
      handler: async (ctx) => ({ data: (await listLabels(ctx, registry)).map(present) }),
    }),
    route({
      ...write,
      area,
      operationId: `${plural}.create`,
      method: 'post',
      path: `/${plural}`,
      summary: `Append a ${registry}`,
      description: 'At most 100. Without a colour one is chosen.',
      body: z.strictObject({ title, color: color.optional() }),
      success: { status: 200, body: label },
      handler: async (ctx, { body }) => present(await createLabel(ctx, registry, body)),
    }),
    route({
      ...write,
      area,
      operationId: `${plural}.update`,
      method: 'patch',
      path: `/${plural}/:id`,
      summary: `Rename or recolour a ${registry}`,
      params: idParams,
      body: z.strictObject({ title: title.optional(), color: color.optional() }),
      success: { status: 200, body: label },
      handler: async (ctx, { params, body }) => present(await updateLabel(ctx, registry, params.id, body)),
    }),
    route({
      ...write,
      area,
      operationId: `${plural}.delete`,
      method: 'delete',
      path: `/${plural}/:id`,
      summary: `Delete a ${registry}; its ${files} are kept`,
      params: idParams,
      ...(registry === 'tag'
        ? {
            errors: ['conflict'] as const,
            description: "Refused for a tag that is the only definition of a campaign's senders.",
          }
        : {}),
      success: { status: 204 },
      handler: async (ctx, { params }) => {
        await deleteLabel(ctx, registry, params.id);
      },
    }),
    route({
      ...write,
      area,
      operationId: `${plural}.move`,
      method: 'patch',
      path: `/${plural}/:id/move`,
      summary: `Move a ${registry} to a position`,
      params: idParams,
      body: z.strictObject({ position: z.int().min(0).meta({ description: '0-based' }) }),
      furtherProblems: (ctx, { position }) => newPositionProblems(ctx, registry, position),
      success: { status: 200, body: order, description: 'All ids in their new order' },
      handler: async (ctx, { params, body }) => moveLabel(ctx, registry, params.id, body.position),
    }),
  ];
}
