import type { ReactNode } from 'react';
import type { Area } from '../text/index.ts';
import { withTexts } from './lazy-part.ts';

/** Page of the dashboard with its URL pattern. */
export interface PageRoute<Path extends string = string> {
  path: Path;
  /** Loads the page's code and the texts of its area. Resolves immediately if they were loaded before. */
  load: () => Promise<{ default: () => ReactNode }>;
}

/** Returns a function that declares a page of an area. */
export const pagesOf =
  (area: Area) =>
  <Path extends string>(path: Path, load: PageRoute['load']): PageRoute<Path> => ({
    path,
    load: () => withTexts(area, load),
  });
