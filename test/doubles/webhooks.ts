/** Shared parts of the stubs of Zapier, Make and n8n: they accept a webhook and record its content. */
import { Answer, jsonOf, type Heard } from './server.ts';

/** Accepted webhook. */
export interface TakenWebhook {
  body: any;
  raw: string;
  /** Headers of the request, names in lower case. */
  headers: Heard['headers'];
}

/** Records a webhook. Zapier, Make and n8n accept any JSON object. */
export function takeWebhook(heard: Heard, taken: TakenWebhook[], refusal: (problem: string) => Answer): void {
  taken.push({ body: jsonOf(heard, refusal), raw: heard.raw, headers: heard.headers });
}
