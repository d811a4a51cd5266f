declare module 'punycode.js' {
  const punycode: {
    /** Converts the A-labels of a domain or address to Unicode. @throws RangeError for invalid labels */
    toUnicode(input: string): string;
  };
  export default punycode;
}
