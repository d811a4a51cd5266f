/** What a mail account signs in with; one of the two secrets is empty. */
interface MailSecrets {
  username: string;
  password: string;
  accessToken?: string;
}

/**
 * What a mail server says to a sign-in, without the password or the access token in the forms in which clients send them: some servers repeat what they
 * were given, and their words stand in logs, histories, events and answers.
 */
export function withoutSecrets(text: string, { username, password, accessToken = '' }: MailSecrets): string {
  const sent = [
    password,
    `\0${username}\0${password}`,
    ...(accessToken ? [`user=${username}\u0001auth=Bearer ${accessToken}\u0001\u0001`] : []),
  ];
  const encoded = sent.map((secret) => Buffer.from(secret).toString('base64').replace(/=+$/, ''));
  return [password, accessToken, ...encoded].reduce(
    (clean, form) => (form === '' ? clean : clean.replaceAll(form, '[redacted]')),
    text,
  );
}
