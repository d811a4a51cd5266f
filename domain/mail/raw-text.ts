import { TokenizerMode, type Tokenizer } from 'parse5';

/** Elements whose content is text even where it looks like markup. */
const RAW_TEXT_MODES = new Map<string, Tokenizer['state']>([
  ['title', TokenizerMode.RCDATA],
  ['textarea', TokenizerMode.RCDATA],
  ['style', TokenizerMode.RAWTEXT],
  ['xmp', TokenizerMode.RAWTEXT],
  ['iframe', TokenizerMode.RAWTEXT],
  ['noembed', TokenizerMode.RAWTEXT],
  ['noframes', TokenizerMode.RAWTEXT],
  ['script', TokenizerMode.SCRIPT_DATA],
  ['plaintext', TokenizerMode.PLAINTEXT],
]);

/**
 * Makes a tokenizer read the content of the element that has just been opened as HTML says. The tree builder of parse5
 * does this; a tokenizer that runs by itself takes everything for markup.
 */
export function setTokenizerMode(tokenizer: Tokenizer, tagName: string): void {
  const mode = RAW_TEXT_MODES.get(tagName);
  if (mode !== undefined) tokenizer.state = mode;
}
