/** Credentials of a mail account. Undefined if there is none. */
interface MailSecrets {
  username: string;
  password: string;
  accessToken?: string;
}

/**
 * Removes the password and the access token from a mail server's answer to a sign-in, in every encoding in which
 * clients send them. Some servers repeat the secret, and their text reaches logs, histories, events and responses.
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
