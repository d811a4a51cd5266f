/** Returns the time zones that the browser knows, and in addition `UTC` and the stored zone. */
export function zoneChoices(stored: string): string[] {
  return [...new Set(['UTC', stored, ...Intl.supportedValuesOf('timeZone')])];
}
