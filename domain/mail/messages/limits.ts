/** Bounds that keep any author's text, however odd, cheap to process. Lengths are UTF-16 code units. */

/** Longest subject or body the message engine processes; a longer one is reported and left as it is. */
export const MAX_SOURCE_LENGTH = 256 * 1024;

/** Longest text one rendering may produce: values can be repeated, so a limit on the source is not enough. */
export const MAX_RENDERED_LENGTH = 1024 * 1024;

/**
 * Work that one rendering may do: about a unit per character that is read, changed or printed, more where a function
 * works harder. A usual letter takes some thousands; the whole budget is spent in about a tenth of a second.
 */
export const MAX_RENDER_WORK = 2_000_000;

/** Longest `{{…}}` action, braces included. */
export const MAX_ACTION_LENGTH = 2048;

/** Deepest nesting of `{{if}}` blocks, parentheses and spintax groups. */
export const MAX_NESTING = 32;

/** Errors listed per template; the rest of a hopeless source adds nothing. */
export const MAX_TEMPLATE_ERRORS = 20;

/** Total length of the sources whose parsed form one cache keeps: some hundred usual campaign steps. */
export const MAX_CACHED_LENGTH = 1024 * 1024;
