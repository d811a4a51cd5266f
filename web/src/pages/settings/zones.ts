/** Returns the time zones that the browser knows, `UTC` and the stored one included. */
export function zoneChoices(stored: string): string[] {
  return [...new Set(['UTC', stored, ...Intl.supportedValuesOf('timeZone')])];
}
