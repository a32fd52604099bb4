import type { DocumentKind } from '../media-keys.ts';
import type { FieldValues } from '../values.ts';
import { amountOf, wordOf, wordsOf } from './facts.ts';

/** A line of text on a page: size in points, distance from the line above. */
interface Line {
  readonly text: string;
  readonly size: number;
  readonly skip: number;
}

const PAGE = { width: 612, height: 792, margin: 64 };

/** Text of a PDF string: ISO 32000, 7.3.4.2. What is outside ASCII is not used here. */
function pdfText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').replace(/[\\()]/g, '\\$&');
}

function contentOf(lines: readonly Line[]): string {
  let y = PAGE.height - PAGE.margin;
  const parts: string[] = [];
  for (const { text, size, skip } of lines) {
    y -= skip;
    parts.push(`BT /F1 ${size} Tf ${PAGE.margin} ${y} Td (${pdfText(text)}) Tj ET`);
  }
  return parts.join('\n');
}

/** A PDF of one page with one font that every reader has. */
function makePdf(content: string): string {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE.width} ${PAGE.height}] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${offset.toString().padStart(10, '0')} 00000 n \n`).join('');
  return `${body}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
}

function row(label: string, value: string): Line {
  return { text: `${label}: ${value === '' ? 'not known' : value}`, size: 11, skip: 20 };
}

const list = (listing: FieldValues, field: string): string => wordsOf(listing, field).join(', ');

function disclosure(listing: FieldValues): Line[] {
  const year = amountOf(listing, 'YearBuilt');
  return [
    { text: 'Seller disclosure', size: 22, skip: 0 },
    { text: `Listing ${wordOf(listing, 'ListingId')}`, size: 12, skip: 24 },
    row('Kind of property', wordOf(listing, 'PropertySubType')),
    row('Year built', year === 0 ? '' : year.toString()),
    row('Roof', list(listing, 'Roof')),
    row('Heating', list(listing, 'Heating')),
    row('Water', list(listing, 'WaterSource')),
    row('Sewer', list(listing, 'Sewer')),
    row('Built before 1978, lead paint possible', year > 0 && year < 1978 ? 'yes' : 'no'),
    { text: 'The seller has answered to the best of what the seller knows.', size: 11, skip: 40 },
    { text: 'This is no warranty and takes the place of no inspection.', size: 11, skip: 18 },
    { text: 'Seller: ______________________     Date: ____________', size: 11, skip: 60 },
    { text: 'Buyer:  ______________________     Date: ____________', size: 11, skip: 36 },
  ];
}

function survey(listing: FieldValues): Line[] {
  const acres = amountOf(listing, 'LotSizeAcres');
  return [
    { text: 'Survey notes', size: 22, skip: 0 },
    { text: `Listing ${wordOf(listing, 'ListingId')}`, size: 12, skip: 24 },
    row('Sides', wordOf(listing, 'LotSizeDimensions')),
    row('Area in acres', acres === 0 ? '' : acres.toString()),
    row('Lot', list(listing, 'LotFeatures')),
    { text: 'Corners were found or set with iron stakes. Sides are in feet.', size: 11, skip: 40 },
    { text: 'These notes do not replace a sealed survey.', size: 11, skip: 18 },
  ];
}

/** A document of a listing as a PDF. It names neither address nor owner. */
export function drawDocument(about: DocumentKind, listing: FieldValues): string {
  switch (about) {
    case 'disclosure':
      return makePdf(contentOf(disclosure(listing)));
    case 'survey':
      return makePdf(contentOf(survey(listing)));
  }
}
