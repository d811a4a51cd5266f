import type { DashboardWorld } from '../harness/dashboard.ts';
import type { Tenant } from '../harness/factories.ts';

/** Pages to look at: name of the picture, address, and whose workspace it is. */
export type PageToSee = [name: string, path: string, who?: 'empty'];

/** What the scene of one room is made with. */
export interface Stage {
  world: DashboardWorld;
  tenant: Tenant;
  /** A workspace in which nothing was done yet. */
  empty: Tenant;
  /** Calls the API as the owner of `tenant`; throws unless it succeeds. */
  post(path: string, body: unknown, method?: string): Promise<any>;
}

/** Names as they arrive: hostile, long, right to left. They are shown, and do nothing. */
export const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
export const WIDE = `${'W'.repeat(90)} مرحبا 🦩`;
