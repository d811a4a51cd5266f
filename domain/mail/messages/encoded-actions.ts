import { MAX_ACTION_LENGTH } from './limits.ts';

const OPEN = '(?:\\{|%7B|&#123;|&#x7b;|&lbrace;|&lcub;)';
const CLOSE = '(?:\\}|%7D|&#125;|&#x7d;|&rbrace;|&rcub;)';
/** An action whose braces or content an editor has encoded. */
const ACTION = new RegExp(`(${OPEN}{2})((?:(?!${OPEN}|${CLOSE})[^\\n]){1,${MAX_ACTION_LENGTH}})${CLOSE}{2}`, 'gi');

/**
 * Decodes actions that an editor has encoded in an attribute or a URL. `%7B%7B.Email%7D%7D`, `{{%20.Email%20}}` and
 * `&#123;&#123;.Email&#125;&#125;` all become `{{.Email}}`. The parser decodes entities inside an action.
 */
export function decodeActions(source: string): string {
  if (!/%7B|&#123;|&#x7b;|&lbrace;|&lcub;/i.test(source) && !(source.includes('{{') && source.includes('%')))
    return source;
  return source.replace(ACTION, (whole, open: string, body: string) => {
    const isUrl = open.startsWith('%');
    // Keeps an action with quotes as it is, because an editor that encodes blanks would have encoded the quotes too.
    if (!isUrl && open === '{{' && (/["`]/.test(body) || !body.includes('%'))) return whole;
    try {
      return `{{${decodeURIComponent(isUrl ? body.replaceAll('+', ' ') : body)}}}`;
    } catch {
      return whole;
    }
  });
}
