/** What a person decides about, read from the frozen content of an approval. */
export interface Content {
  recipientCount: number;
  recipients: string[];
  senders: string[];
  samples: { subject: string; text: string }[];
}

/** Reads the content as far as it has the shape that is shown; the whole is on the approval's own page. */
export function readContent(payload: object): Content {
  const { recipients, senders, samples } = payload as Record<string, unknown>;
  const people = isObject(recipients) ? recipients : {};
  return {
    recipientCount: typeof people.count === 'number' ? people.count : 0,
    recipients: listOf(people.addresses).flatMap((one) => (typeof one === 'string' ? [one] : [])),
    senders: listOf(senders).map((one) => fieldOf(one, 'email')),
    samples: listOf(samples).map((one) => ({ subject: fieldOf(one, 'subject'), text: fieldOf(one, 'text') })),
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function fieldOf(value: unknown, field: string): string {
  const found = isObject(value) ? value[field] : undefined;
  return typeof found === 'string' ? found : '';
}
