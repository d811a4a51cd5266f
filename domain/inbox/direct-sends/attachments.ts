import type { Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { fileProblems, type AttachedFile } from '../../platform/attachments.ts';
import { MAX_ATTACHMENT_BYTES, type AttachmentInput } from './input.ts';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Returns the problems of an email's attachments. */
export function attachmentProblems(files: readonly Partial<AttachmentInput>[] = []): Problem[] {
  const problems: Problem[] = [];
  let total = 0;
  for (const [index, { content, ...file }] of files.entries()) {
    const path = `body.attachments.${index}`;
    problems.push(...fileProblems(file, { filename: `${path}.filename`, type: `${path}.content_type` }));
    if (content === undefined) continue;
    if (content.length % 4 !== 0 || !BASE64.test(content))
      problems.push({ path: `${path}.content`, message: message('compose.not_base64') });
    total += Math.floor((content.length * 3) / 4);
  }
  if (total > MAX_ATTACHMENT_BYTES)
    problems.push({
      path: 'body.attachments',
      message: message('compose.files_too_large', { max: MAX_ATTACHMENT_BYTES }),
    });
  return problems;
}

/** Returns the files of a request with their bytes. */
export function decodedFiles(files: readonly AttachmentInput[] = []): AttachedFile[] {
  return files.map((file) => ({ ...file, content: Buffer.from(file.content, 'base64') }));
}
