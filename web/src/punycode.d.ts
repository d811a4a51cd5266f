declare module 'punycode.js' {
  const punycode: {
    /** A domain or an address with its A-labels in Unicode. @throws RangeError for labels that are none */
    toUnicode(input: string): string;
  };
  export default punycode;
}
