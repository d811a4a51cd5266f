import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** Something a contact did in the customer's product. Times in UTC. */
export type ProductEventRow = Row<'product_events'>;

export const ProductEvents = orgEntity('product_events', ['data']);
