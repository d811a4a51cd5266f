import { TokenizerMode, type Tokenizer } from 'parse5';

/** Elements whose content is always text, even if it looks like markup, with the tokenizer state for it. */
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
 * Sets the tokenizer's mode for the content of the element that was just opened, as HTML requires. parse5's tree
 * builder sets the mode itself, but a tokenizer without it reads all content as markup.
 */
export function setTokenizerMode(tokenizer: Tokenizer, tagName: string): void {
  const mode = RAW_TEXT_MODES.get(tagName);
  if (mode !== undefined) tokenizer.state = mode;
}
