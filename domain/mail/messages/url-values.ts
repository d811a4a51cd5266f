import { unfinishedUrl } from './text-links.ts';

/**
 * Returns a value as it is printed after the text `before`. If that text ends inside a URL, percent-encodes characters
 * of the value that would end or change the URL. After `?name=` the value is encoded completely. Elsewhere it may
 * contain several path segments or parameters.
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
