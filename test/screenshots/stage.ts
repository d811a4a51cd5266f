import type { Page } from 'playwright-core';
import type { DashboardWorld } from '../harness/dashboard.ts';
import type { Tenant } from '../harness/factories.ts';
import type { StripeDouble } from '../harness/stripe.ts';

/** Page of a screenshot: file name, path, owner of the workspace, and the actions before the screenshot. */
export type PageToSee = [name: string, path: string, who?: 'empty' | undefined, act?: (page: Page) => Promise<void>];

/** Dashboard of an installation that sells mailboxes and has a prospect catalogue, so that every page has data. */
export interface SceneWorld extends DashboardWorld {
  stripe: StripeDouble;
}

/** Objects with which each scene is created. */
export interface Stage {
  world: SceneWorld;
  tenant: Tenant;
  /** Workspace without data. */
  empty: Tenant;
  /** Calls the API as the owner of `tenant`; throws if the call fails. */
  post(path: string, body: unknown, method?: string): Promise<any>;
}

/** True if the images are for the documents, which show harmless names. */
export const IS_FOR_DOCS = process.argv.includes('--docs');
/** Hostile, long and right-to-left names. Pages must show them as text, without an effect. */
export const HOSTILE = IS_FOR_DOCS
  ? 'Lamps for the bakery'
  : `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
export const WIDE = IS_FOR_DOCS ? 'Street lights, Lübeck' : `${'W'.repeat(90)} مرحبا 🦩`;
/** Text with a very long word. */
export const ENDLESS = IS_FOR_DOCS ? 'Could you send me your price list?' : 'x'.repeat(10_000);
/** Sender of a message with hostile content. */
export const STRANGER = IS_FOR_DOCS ? 'miriam@harbour.example' : 'mallory@evil.example';
