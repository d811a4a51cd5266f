/** What a person is called: their name, or their address where they have given none. */
export function nameOf<Email>(person: {
  first_name: string | null;
  last_name: string | null;
  email: Email;
}): string | Email {
  return [person.first_name, person.last_name].filter(Boolean).join(' ') || person.email;
}
