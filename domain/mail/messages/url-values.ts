import { unfinishedUrl } from './text-links.ts';

/**
 * A value as it is printed behind a text: where the text ends inside a URL, what would end or change the URL is percent-encoded.
 * The value of a parameter (`?name=`) is encoded as one; elsewhere a value may be several segments or parameters.
 */
export function valueInText(value: string, before: string): string {
  const url = unfinishedUrl(before);
  if (url === undefined) return value;
  const isParameter = /[?&;][^?&;=#/]*=[^&;#]*$/.test(url);
  return value
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(isParameter ? /%[0-9a-f]{2}|[^\w.~@/-]/giu : /%[0-9a-f]{2}|[^\x21-\x7e]|["'<>\\^`{|}]/giu, (part) =>
      part.length === 3 ? part : percentEncoded(part),
    );
}

function percentEncoded(character: string): string {
  return encodeURIComponent(character).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
