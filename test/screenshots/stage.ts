import type { Page } from 'playwright-core';
import type { DashboardWorld } from '../harness/dashboard.ts';
import type { Tenant } from '../harness/factories.ts';
import type { StripeDouble } from '../harness/stripe.ts';

/** Pages to look at: name of the picture, address, whose workspace it is, and what is done there before it is looked at. */
export type PageToSee = [name: string, path: string, who?: 'empty' | undefined, act?: (page: Page) => Promise<void>];

/** A dashboard of an installation that sells mailboxes and has a prospect catalogue: every room has something to show. */
export interface SceneWorld extends DashboardWorld {
  stripe: StripeDouble;
}

/** What the scene of one room is made with. */
export interface Stage {
  world: SceneWorld;
  tenant: Tenant;
  /** A workspace in which nothing was done yet. */
  empty: Tenant;
  /** Calls the API as the owner of `tenant`; throws unless it succeeds. */
  post(path: string, body: unknown, method?: string): Promise<any>;
}

/** Whether the pictures are for the documents: then names are as one would wish them. */
export const IS_FOR_DOCS = process.argv.includes('--docs');
/** Names as they arrive: hostile, long, right to left. They are shown, and do nothing. */
export const HOSTILE = IS_FOR_DOCS
  ? 'Lamps for the bakery'
  : `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
export const WIDE = IS_FOR_DOCS ? 'Street lights, Lübeck' : `${'W'.repeat(90)} مرحبا 🦩`;
/** A word that has no end. */
export const ENDLESS = IS_FOR_DOCS ? 'Could you send me your price list?' : 'x'.repeat(10_000);
/** Who writes it. */
export const STRANGER = IS_FOR_DOCS ? 'miriam@harbour.example' : 'mallory@evil.example';
