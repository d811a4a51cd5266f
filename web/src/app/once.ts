/** Makes something once for each set of texts it is made from, and keeps it. */
export function once<Of extends (string | undefined)[], Made>(make: (...of: Of) => Made): (...of: Of) => Made {
  const made = new Map<string, Made>();
  return (...of) => {
    const key = of.join(' ');
    if (!made.has(key)) made.set(key, make(...of));
    return made.get(key)!;
  };
}
