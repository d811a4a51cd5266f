/** Memoizes a function by its text arguments. */
export function memoize<Of extends (string | undefined)[], Made>(make: (...of: Of) => Made): (...of: Of) => Made {
  const made = new Map<string, Made>();
  return (...of) => {
    const key = of.join(' ');
    if (!made.has(key)) made.set(key, make(...of));
    return made.get(key)!;
  };
}
