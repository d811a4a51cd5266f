import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface DocumentedAnswer {
  content?: Record<string, { schema: object }>;
}
interface Operation {
  operationId: string;
  responses: Record<string, DocumentedAnswer | { $ref: string }>;
}

/** Parts of a response that the document describes. */
interface Received {
  status: number;
  contentType: string;
  text: string;
}

/** Compares responses with an OpenAPI document, by means of a third-party validator. */
export class DocumentCheck {
  readonly #responses: Record<string, DocumentedAnswer>;
  readonly #operations = new Map<string, Operation>();
  readonly #validators = new Map<object, ValidateFunction>();
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: true, allErrors: false });

  constructor(document: object) {
    const { paths, components } = document as {
      paths: Record<string, Record<string, Operation>>;
      components: { schemas: Record<string, object>; responses: Record<string, DocumentedAnswer> };
    };
    this.#responses = components.responses;
    (formats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    for (const [name, schema] of Object.entries(components.schemas))
      this.#ajv.addSchema(schema, `#/components/schemas/${name}`);
    for (const methods of Object.values(paths))
      for (const operation of Object.values(methods)) this.#operations.set(operation.operationId, operation);
  }

  /** Returns the differences between a response and the document; empty if there are none. */
  faultsOf(operationId: string, { status, contentType, text }: Received): string[] {
    const documented = this.#operations.get(operationId)?.responses[status];
    if (!documented) return [`status ${status} is not documented`];
    const { content } = '$ref' in documented ? this.#responses[documented.$ref.split('/').at(-1)!]! : documented;
    if (!content) return text === '' ? [] : [`${status} has a body that is not documented`];
    const media = content[contentType.split(';')[0]!.trim()];
    // For pages, pictures and files the document names only the usual content type.
    if (!media)
      return contentType.startsWith('image/')
        ? []
        : [`${status} is ${contentType || 'without a type'}, not ${Object.keys(content).join(', ')}`];
    if (!contentType.includes('json')) return [];
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return [`${status} is not JSON`];
    }
    const validate = this.#validatorOf(media.schema);
    return validate(body) ? [] : [`${status} does not fit its schema: ${this.#ajv.errorsText(validate.errors)}`];
  }

  #validatorOf(schema: object): ValidateFunction {
    const known = this.#validators.get(schema) ?? this.#ajv.compile(schema);
    this.#validators.set(schema, known);
    return known;
  }
}
