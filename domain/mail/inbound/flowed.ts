/**
 * Decodes format=flowed (RFC 3676). Joins a line that ends in a space with the next line if both have the same quote
 * depth (section 4.5), and removes stuffed spaces (4.4). The signature separator is never joined (4.3).
 * @param deletesSpaces the parameter DelSp: the space at the end of a line is deleted when lines are joined
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
