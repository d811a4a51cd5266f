export const templates = {
  'templates.review.title': 'Review',
  'templates.review.do': 'Review with AI',
  'templates.review.again': 'Review again',
  'templates.review.why': 'Sends the text to the AI provider of this installation. Nothing is stored.',
  'templates.review.left': '{count, plural, one {One token left} other {# tokens left}} for the workspace today (UTC).',
  'templates.review.score': '{score} of 100',
  'templates.review.subject': 'Suggested subject: {subject}',
  'templates.review.take': 'Use it',
  'templates.review.high': 'Important',
  'templates.review.warn': 'Warning',
  'templates.review.info': 'Note',
} as const;
