/** Keywords of further languages, by language; joined to the lists of `keywords.ts`. */

function words(lines: string): readonly string[] {
  return lines
    .trim()
    .split('\n')
    .flatMap((line) => line.replace(/^\w\w: /, '').split('|'));
}

export const MORE_POSITIVE = words(`
da: interesseret|lyder godt|lyder spændende|lyder interessant|meget gerne|gerne|fortæl mig mere|mere information|ring til mig|send mig|lad os tale|vil gerne høre mere
sv: intresserad|intresserade|låter bra|låter intressant|gärna|berätta mer|mer information|ring mig|skicka mer|vi hörs|vill veta mer
nb: interessert|høres bra ut|høres interessant ut|gjerne|fortell mer|mer informasjon|ring meg|send meg|vil gjerne vite mer
fi: kiinnostunut|kiinnostaa|kuulostaa hyvältä|mielellään|mielelläni|kertokaa lisää|kerro lisää|lisätietoja|soita minulle|soittakaa|sovitaan palaveri
cs: mám zájem|máme zájem|zní to dobře|zní zajímavě|rád bych|ráda bych|více informací|zavolejte mi|pošlete mi|zajímá mě
ru: интересно|мне интересно|нам интересно|заинтересован|заинтересована|заинтересованы|звучит хорошо|звучит интересно|расскажите подробнее|больше информации|позвоните мне|пришлите|давайте созвонимся|с удовольствием
uk: цікаво|мені цікаво|нам цікаво|зацікавлений|зацікавлена|зацікавлені|звучить добре|звучить цікаво|розкажіть більше|більше інформації|зателефонуйте мені|надішліть|давайте поговоримо|із задоволенням
tr: ilgileniyorum|ilgileniyoruz|ilgimi çekti|kulağa hoş geliyor|kulağa iyi geliyor|memnuniyetle|daha fazla bilgi|beni arayın|arayabilirsiniz|görüşelim|detayları gönderin
ja: 興味があります|興味がございます|関心があります|ぜひお願いします|ぜひ|詳しく教えて|詳細を教えて|資料を送って|資料をお送り|お電話ください|電話をください|打ち合わせ
zh: 感兴趣|感興趣|有兴趣|有興趣|听起来不错|聽起來不錯|请发资料|更多信息|更多資訊|给我打电话|請打電話|我们谈谈|期待合作
`);

export const MORE_NEGATIVE = words(`
da: ikke interesseret|ingen interesse|nej tak|har ikke brug for|ikke relevant|ikke behov|forkert person
sv: inte intresserad|inte intresserade|ej intresserad|inget intresse|nej tack|behöver inte|inte aktuellt|inget behov|fel person
nb: ikke interessert|ingen interesse|nei takk|trenger ikke|ikke aktuelt|ikke behov|feil person
fi: en ole kiinnostunut|emme ole kiinnostuneita|ei kiinnosta|ei kiitos|ei tarvetta|emme tarvitse|en tarvitse|väärä henkilö
cs: nemám zájem|nemáme zájem|ne, děkuji|ne děkuji|nezajímá|nepotřebujeme|nepotřebuji|bez zájmu
ru: не интересно|неинтересно|не интересует|не заинтересован|не заинтересованы|нет, спасибо|нет спасибо|не нужно|не актуально|неактуально|не надо
uk: не цікаво|нецікаво|не цікавить|не зацікавлений|не зацікавлені|ні, дякую|ні дякую|не потрібно|не актуально|неактуально|не треба
tr: ilgilenmiyorum|ilgilenmiyoruz|ilgimi çekmiyor|hayır teşekkürler|hayır, teşekkürler|teşekkürler ama hayır|ihtiyacımız yok|gerek yok|yanlış kişi
ja: 興味はありません|興味がありません|興味ありません|関心がありません|必要ありません|必要ございません|不要です|結構です|お断りします|遠慮します|見送らせて
zh: 不感兴趣|不感興趣|没有兴趣|沒有興趣|没兴趣|沒興趣|不需要|不用了|不考虑|不考慮|谢谢不用
`);

export const MORE_QUESTION = words(`
da: hvor meget koster|hvad koster|kan du|kan i|hvordan fungerer|spørgsmål
sv: hur mycket kostar|vad kostar|kan du|kan ni|hur fungerar|fråga
nb: hvor mye koster|hva koster|kan du|kan dere|hvordan fungerer|spørsmål
fi: mitä maksaa|paljonko|voitko|voitteko|miten toimii|kysymys
cs: kolik stojí|můžete|mohl byste|jak funguje|dotaz|otázka
ru: сколько стоит|какая цена|можете ли|не могли бы|как работает|вопрос
uk: скільки коштує|яка ціна|чи можете|як працює|питання|запитання
tr: ne kadar|fiyatı nedir|gönderebilir misiniz|nasıl çalışıyor|sorum var|soru
ja: いくらですか|おいくら|費用は|教えていただけ|質問が|でしょうか|ますか
zh: 多少钱|多少錢|价格|價格|费用|費用|能否|可以吗|可以嗎|请问|請問|怎么
`);

export const MORE_OUT_OF_OFFICE = words(`
da: på ferie|ikke på kontoret|på barsel
sv: på semester|inte på kontoret|föräldraledig|tjänstledig
nb: på ferie|ikke på kontoret|i permisjon
fi: lomalla|poissa toimistolta|vuosilomalla|perhevapaalla
cs: na dovolené|mimo kancelář
ru: в отпуске|не в офисе|нахожусь в отпуске
uk: у відпустці|в відпустці|не в офісі
tr: izindeyim|izinliyim|ofis dışındayım|tatildeyim
ja: 休暇中|休暇をいただ|不在に|不在です|夏季休業
zh: 休假|不在办公室|不在辦公室|外出
`);

export const MORE_UNSUBSCRIBE = words(`
da: afmeld mig|afmelde mig|frameld mig|framelde mig|slet mig|fjern mig|ikke flere mails|ikke flere e-mails|ikke kontakte mig|skriv ikke til mig|stop med at skrive
sv: avregistrera mig|avprenumerera|avsluta prenumerationen|ta bort mig|inga fler mejl|inga fler mail|kontakta mig inte|skriv inte till mig|sluta skicka|sluta mejla
nb: meld meg av|avmeld meg|fjern meg|slett meg|ingen flere e-poster|ingen flere mailer|ikke kontakt meg|slutt å sende|ikke skriv til meg
fi: poistakaa minut|poista minut|peruuta tilaus|peruuttakaa tilaus|älkää lähettäkö|älä lähetä|ei enää sähköposteja|älkää ottako yhteyttä|lopettakaa
cs: odhlaste mě|odhlásit mě|vyřaďte mě|odstraňte mě|vymažte mě|neposílejte|už mi nepište|nepište mi|nekontaktujte
ru: отпишите меня|отписаться|отписать|удалите меня|удалите мой адрес|исключите меня|не пишите мне|больше не пишите|не присылайте|прекратите рассылку|уберите меня
uk: відпишіть мене|відписатися|видаліть мене|видаліть мою адресу|виключіть мене|не пишіть мені|більше не пишіть|не надсилайте|припиніть розсилку
tr: listeden çıkarın|listenizden çıkarın|beni çıkarın|aboneliğimi iptal|aboneliği iptal|bir daha yazmayın|e-posta göndermeyin|mail göndermeyin|mail atmayın|bana yazmayın
ja: 配信停止|配信を停止|配信解除|送らないで|送信しないで|連絡しないで|ご連絡は不要|メールは不要|リストから削除|登録を解除|削除してください
zh: 退订|退訂|取消订阅|取消訂閱|不要再发|不要再發|别再发|別再發|不要再联系|不要再聯絡|请勿再发|請勿再寄|移除我|从名单中删除
`);
