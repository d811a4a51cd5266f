/**
 * Returns SQL of the files attached to a step's email, oldest first, as a JSON list of `StoredAttachment`.
 * @param campaign SQL of the campaign's id
 * @param step SQL of the step's id
 */
export function attachedTo(campaign: string, step: string): string {
  return `coalesce((select jsonb_agg(jsonb_build_object('blob_id', f.blob_id, 'filename', f.filename, 'content_type', f.content_type,
         'size_bytes', f.size_bytes, 'sha256', f.sha256) order by f.id)
       from campaign_attachments f where f.campaign_id = ${campaign} and (f.step_id is null or f.step_id = ${step})), '[]')`;
}
