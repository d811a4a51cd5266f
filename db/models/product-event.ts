import { orgEntity, OrgModel } from './model.ts';

/** Something a contact did in the customer's product (contract 3, "Product event"). Times in UTC. */
export class ProductEventRow extends OrgModel {
  static override tableName = 'product_events';
  static override jsonAttributes = ['data'];

  contact_id!: string;
  name!: string;
  data!: Record<string, unknown>;
  occurred_at!: Date;
  received_at!: Date;
}

export const ProductEvents = orgEntity(ProductEventRow);
