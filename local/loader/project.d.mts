/** See project.mjs. */
export function joinProject(): Promise<{ folder: string; remove(): Promise<void> }>;
