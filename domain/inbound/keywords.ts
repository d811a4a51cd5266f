/** Built-in keyword lists of reply intent, used where the workspace has none of its own. */

export const POSITIVE_KEYWORDS: readonly string[] = [
  'interested', 'sounds good', 'sounds great', 'sounds interesting', "let's talk", "let's chat",
  "let's schedule", "let's connect", "let's meet", 'love to', 'happy to chat', 'happy to talk',
  'happy to meet', 'tell me more', 'more information', 'more details', 'more info', 'send me details',
  'send over', 'book a call', 'schedule a call', 'set up a call', 'set up a meeting', 'give me a call',
  'call me', 'works for me', 'looking forward', 'sign me up', 'count me in', 'yes please', 'absolutely',
  'definitely', 'great idea', 'perfect timing', 'calendar link', 'demo', 'interessiert', 'klingt gut',
  'klingt interessant', 'gerne', 'mehr informationen', 'rufen sie mich an', 'interesse', 'intéressé',
  'intéressée', 'intéressant', 'avec plaisir', 'volontiers', "plus d'informations", 'interesado',
  'interesada', 'me interesa', 'suena bien', 'más información', 'con gusto', 'interessato', 'interessata',
  'mi interessa', 'volentieri', 'più informazioni', 'interessado', 'interessada', 'tenho interesse',
  'mais informações', 'com prazer', 'geïnteresseerd', 'klinkt goed', 'graag', 'meer informatie',
  'zainteresowany', 'zainteresowana', 'jestem zainteresowany', 'brzmi dobrze', 'chętnie',
  'więcej informacji', 'érdekel', 'érdeklődöm', 'jól hangzik', 'szívesen', 'több információ',
];

export const NEGATIVE_KEYWORDS: readonly string[] = [
  'not interested', 'no interest', 'no thanks', 'no thank you', 'not for us', 'not for me', 'not a fit',
  'not a good fit', 'not relevant', 'no need', 'not needed', 'not at this time', 'not right now', 'not now',
  'no budget', 'pass on this', "we'll pass", "i'll pass", 'we will pass', 'already have a', 'already use',
  'already using', 'already work with', 'wrong person', 'not the right person', 'leave me alone',
  'do not contact', "don't contact", 'go away', 'spam', 'kein interesse', 'nicht interessiert',
  'kein bedarf', 'keinen bedarf', 'nein danke', 'falsche person', 'pas intéressé', 'pas intéressée',
  'pas intéressés', 'non merci', 'pas besoin', "ça ne m'intéresse pas", 'no me interesa', 'no nos interesa',
  'no estoy interesado', 'no estamos interesados', 'no gracias', 'non mi interessa', 'non sono interessato',
  'non siamo interessati', 'no grazie', 'não tenho interesse', 'sem interesse', 'não me interessa',
  'não obrigado', 'não, obrigado', 'geen interesse', 'niet geïnteresseerd', 'nee bedankt', 'geen behoefte',
  'nie jestem zainteresowany', 'nie jestem zainteresowana', 'nie dziękuję', 'brak zainteresowania',
  'nem érdekel', 'nem érdeklődöm', 'köszönöm nem', 'nincs szükségünk',
];

export const QUESTION_KEYWORDS: readonly string[] = [
  'how much', 'how does', 'how do', 'how long', 'what is', 'what does', 'what are', 'can you', 'could you',
  'do you', 'where did you', 'who are you', 'which', 'pricing', 'price list', 'quote', 'question',
  'wie viel', 'wie funktioniert', 'was kostet', 'können sie', 'frage', 'combien', 'pouvez-vous', 'quel est',
  'cuánto', 'puede enviar', 'pregunta', 'quanto costa', 'potete', 'domanda', 'quanto custa', 'pode enviar',
  'pergunta', 'hoeveel', 'kunt u', 'vraag', 'ile kosztuje', 'czy możesz', 'pytanie', 'mennyibe kerül',
  'kérdés',
];

export const OUT_OF_OFFICE_KEYWORDS: readonly string[] = [
  'out of office', 'out of the office', 'ooo', 'on vacation', 'on holiday', 'on annual leave', 'on leave',
  'on parental leave', 'on maternity leave', 'im urlaub', 'abwesend', 'nicht im büro', 'en congé',
  'en congés', 'en vacances', 'absent du bureau', 'fuera de la oficina', 'de vacaciones', 'fuori ufficio',
  'in ferie', 'fora do escritório', 'de férias', 'afwezig', 'op vakantie', 'met vakantie', 'poza biurem',
  'na urlopie', 'szabadságon', 'irodán kívül',
];

/** Phrases that ask to be left out of further mail. Not configurable: the request has legal weight. */
export const UNSUBSCRIBE_KEYWORDS: readonly string[] = [
  'unsubscribe', 'unsubscribe me', 'opt out', 'opt-out', 'opt me out', 'remove me', 'remove my email',
  'remove my address', 'remove us', 'take me off', 'take us off', 'stop emailing', 'stop mailing',
  'stop contacting', 'stop sending', 'stop writing', 'stop messaging', 'stop spamming', 'do not email',
  "don't email", 'do not contact', "don't contact", 'do not write', 'no more emails', 'no further emails',
  'delete my data', 'delete my email', 'off your list', 'off this list', 'from your list',
  'from your mailing list', 'never contact', 'never email', 'abmelden', 'abbestellen', 'austragen',
  'keine weiteren e-mails', 'keine weiteren mails', 'keine mails mehr', 'keine e-mails mehr',
  'aus dem verteiler', 'aus ihrem verteiler', 'aus ihrer liste', 'löschen sie meine', 'désabonner',
  'désinscrire', 'désinscription', 'me retirer de', 'retirez-moi', 'supprimez mon adresse',
  'ne plus recevoir', 'ne me contactez plus', 'darme de baja', 'dar de baja', 'deme de baja',
  'no me contacte', 'no me escriba', 'no enviar más', 'elimíneme', 'cancellami', 'cancellatemi',
  'cancellarmi', 'disiscrivermi', 'rimuovetemi', 'non contattatemi', 'non scrivetemi', 'descadastrar',
  'remova meu', 'remover meu', 'cancelar inscrição', 'não me contacte', 'não envie mais', 'uitschrijven',
  'afmelden', 'verwijder mij', 'geen e-mails meer', 'geen mails meer', 'wypisz mnie', 'wypisać',
  'proszę o usunięcie', 'usuńcie mój', 'nie wysyłajcie', 'proszę nie pisać', 'leiratkozás', 'leiratkozom',
  'iratkoztasson le', 'töröljenek', 'ne írjanak',
];

/** Whole replies that are a request to be left out, as subscribers to lists have always written them. */
export const UNSUBSCRIBE_REPLIES: readonly string[] = [
  'stop', 'remove', 'unsubscribe', 'stopp', 'baja', 'cancel', 'quit', 'no more',
];
