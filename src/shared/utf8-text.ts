/** Decodes text that comes from elsewhere, without replacing bytes that are not text. This module does not know what the text is. */

/**
 * Stands for bytes that are not UTF-8: half of a surrogate pair, which no text contains. A value with it can be rejected by itself,
 * whereas the usual replacement character may also have been sent.
 */
export const NOT_UTF8 = '\udcff';

const REPLACEMENT = '\ufffd';

const inLatin1 = (text: string): string => Buffer.from(text).toString('latin1');

/** @param contentType names the character set; UTF-8 if it names none, or an unknown one */
export function decodeText(bytes: Buffer, contentType = ''): string {
  const decoder = decoderOf(/;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1]);
  const text = decoder.decode(bytes);
  if (decoder.encoding !== 'utf-8' || !text.includes(REPLACEMENT)) return text;
  // Replacement characters that were sent are substituted while decoding, to distinguish them from those that the decoder inserts.
  const free = Array.from({ length: 32 }, (_, at) => String.fromCharCode(0xfdd0 + at));
  const other = free.find((character) => !text.includes(character)) ?? REPLACEMENT;
  const sent = bytes.toString('latin1').replaceAll(inLatin1(REPLACEMENT), inLatin1(other));
  return decoder
    .decode(Buffer.from(sent, 'latin1'))
    .replaceAll(REPLACEMENT, NOT_UTF8)
    .replaceAll(other, REPLACEMENT);
}

function decoderOf(label = 'utf-8'): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}
