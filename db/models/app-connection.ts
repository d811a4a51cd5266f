import { orgEntity, OrgModel } from './model.ts';

/** The customer's own app, which app_action steps call (contract 3, "App connection"). */
export class AppConnectionRow extends OrgModel {
  static override tableName = 'app_connections';

  name!: string;
  /** Without query, fragment and trailing slash. */
  base_url!: string;
  /** Sealed under `app_connections/<id>`. */
  secret!: Buffer;
}

export const AppConnections = orgEntity(AppConnectionRow);
