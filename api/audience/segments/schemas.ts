import { z } from 'zod';
import { resource } from '../../http/schemas.ts';

const condition = resource('SegmentCondition', {
  field: z.string().max(100).meta({ description: 'From GET /v1/segments/fields; custom fields as custom.<key>' }),
  operator: z.string().max(40),
  values: z.array(z.string().max(500)).max(1000).default([]),
});
/** Conditions that select contacts, in a stored segment or a one-time query. */
export const conditions = z.array(condition).max(50);

/** `all`: every condition must hold. `any`: one condition is enough. */
export const match = z.enum(['all', 'any']);
