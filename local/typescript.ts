/** The options by which Node runs the sources of the project as they are, for a process that is started from them. */
export const TYPESCRIPT: readonly string[] = ['--import', new URL('loader/register.mjs', import.meta.url).href];
