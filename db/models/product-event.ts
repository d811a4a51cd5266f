import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** An action of a contact in the customer's product. Times are UTC. */
export type ProductEventRow = Row<'product_events'>;

export const ProductEvents = orgEntity('product_events', ['data']);
