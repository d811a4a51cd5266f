/** Returns a person's name, or their address if they have none. */
export function nameOf<Email>(person: {
  first_name: string | null;
  last_name: string | null;
  email: Email;
}): string | Email {
  return [person.first_name, person.last_name].filter(Boolean).join(' ') || person.email;
}
