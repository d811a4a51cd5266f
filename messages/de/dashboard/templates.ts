export const templates = {
  'templates.review.title': 'Durchsicht',
  'templates.review.do': 'Mit KI durchsehen',
  'templates.review.again': 'Erneut durchsehen',
  'templates.review.why': 'Sendet den Text an den KI-Anbieter dieser Installation. Nichts wird gespeichert.',
  'templates.review.left':
    '{count, plural, one {Noch ein Token} other {Noch # Token}} für den Arbeitsbereich heute (UTC).',
  'templates.review.score': '{score} von 100',
  'templates.review.subject': 'Vorschlag für den Betreff: {subject}',
  'templates.review.take': 'Übernehmen',
  'templates.review.high': 'Wichtig',
  'templates.review.warn': 'Warnung',
  'templates.review.info': 'Hinweis',
};
