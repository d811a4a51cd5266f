/** Limits of a text that an author writes, so that rendering takes little time. Lengths are UTF-16 code units. */

/** Maximum length of a subject or body. A longer text is reported and not rendered. */
export const MAX_SOURCE_LENGTH = 256 * 1024;

/**
 * Maximum length of the output of one rendering. A limit on the source is not enough, because a value can be long and
 * can be printed often.
 */
export const MAX_RENDERED_LENGTH = 1024 * 1024;

/**
 * Maximum number of work units of one rendering: about one unit per character that is read, changed or printed, more
 * for expensive functions. A usual email needs some thousands. Rendering with the whole budget takes about a tenth of a
 * second.
 */
export const MAX_RENDER_WORK = 2_000_000;

/** Maximum length of a `{{…}}` action, braces included. */
export const MAX_ACTION_LENGTH = 2048;

/** Maximum depth of nested `{{if}}` blocks, parentheses and spintax groups. */
export const MAX_NESTING = 32;

/** Maximum number of errors listed per template. */
export const MAX_TEMPLATE_ERRORS = 20;

/** Maximum total length of sources in one cache of parsed templates: enough for some hundred campaign steps. */
export const MAX_CACHED_LENGTH = 1024 * 1024;
