import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import { loadArea, type Area } from '../text/index.ts';

/** Loads a module and, in parallel, the texts of its area. */
export async function withTexts<Module>(area: Area, load: () => Promise<Module>): Promise<Module> {
  return (await Promise.all([load(), loadArea(area)]))[0];
}

/** Returns a component that is loaded with the texts of its area when it is first shown. */
export function lazyPart<Props>(
  area: Area,
  load: () => Promise<{ default: ComponentType<Props> }>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() => withTexts(area, load));
}
