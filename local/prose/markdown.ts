import { messagesFor, sentencesIn, type Finding } from './rules.ts';

const MAX_COLUMNS = 120;
/** Maximum number of sentences in a paragraph. */
const MAX_SENTENCES = 5;
const MADE = /makes this page from the sources/;
const FENCE = /^\s*(?:```|~~~)/;
const BEGINS_BLOCK = /^\s*(?:[-*] |\d+\. |#|\||>)/;

interface Block {
  text: string;
  /** First line of the finding, from 1. */
  line: number;
}

/**
 * Returns the findings in a document, in order. Skips code, tables and headings; generated pages are checked in their
 * sources.
 * @param isPage true for a page of docs/, whose first paragraph must name its readers
 */
export function findingsInMarkdown(text: string, isPage: boolean): Finding[] {
  if (MADE.test(text)) return [];
  const findings: Finding[] = [];
  const blocks: Block[] = [];
  let isFenced = false;
  let block: Block | undefined;
  text.split('\n').forEach((raw, index) => {
    const line = index + 1;
    if (FENCE.test(raw)) isFenced = !isFenced;
    const isProse = !isFenced && !FENCE.test(raw) && raw.trim() !== '' && !/^\s*[#|]/.test(raw);
    if (!isFenced && raw.length > MAX_COLUMNS)
      findings.push({ line, message: `${raw.length} columns: at most ${MAX_COLUMNS}` });
    if (!isProse) block = undefined;
    else if (block && !BEGINS_BLOCK.test(raw)) block.text += `\n${raw}`;
    else blocks.push((block = { text: raw.replace(/^\s*(?:[-*] |\d+\. |> )/, ''), line }));
  });
  if (isPage && !blocks[0]?.text.startsWith('For '))
    findings.push({ line: 1, message: 'the first paragraph does not begin with "For", and whom the page is for' });
  for (const { text: written, line } of blocks) {
    const plain = written.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('*', '');
    const sentences = sentencesIn(plain).length;
    if (sentences > MAX_SENTENCES)
      findings.push({ line, message: `a paragraph of ${sentences} sentences: at most ${MAX_SENTENCES}` });
    // A paragraph that begins with a link is assumed to begin with the title of a page.
    const isTitled = written.startsWith('[');
    const messages = messagesFor(plain).filter((message) => !(isTitled && message.startsWith('opens with')));
    findings.push(...messages.map((message) => ({ line, message })));
  }
  return findings.toSorted((a, b) => a.line - b.line);
}
