/**
 * Undoes format=flowed (RFC 3676): joins lines that end in a space with the next one, where both are quoted equally deep
 * (section 4.5), and removes the stuffed spaces (4.4). The separator of a signature is never joined (4.3).
 *
 * @param deletesSpaces the parameter DelSp: the space at the end of a line belongs to no word
 */
export function unflowed(text: string, deletesSpaces: boolean): string {
  const paragraphs: string[] = [];
  let depth = 0;
  let words: string | null = null;
  const end = (): void => {
    if (words !== null) paragraphs.push(depth > 0 ? `${'>'.repeat(depth)} ${words}` : words);
    words = null;
  };
  for (const line of text.split('\n')) {
    const marks = /^>*/.exec(line)![0].length;
    const content = line.slice(marks).replace(/^ /, '');
    if (words !== null && (marks !== depth || content === '-- ')) end();
    depth = marks;
    words = (words ?? '') + content;
    if (content.endsWith(' ') && content !== '-- ') words = deletesSpaces ? words.slice(0, -1) : words;
    else end();
  }
  end();
  return paragraphs.join('\n');
}
