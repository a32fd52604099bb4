/** An XML element with attributes and child elements; CSDL knows no other content. */
export interface XmlElement {
  readonly name: string;
  /** Undefined ones are left out. */
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly children?: readonly XmlElement[];
}

/** An XML document in UTF-8 without a byte order mark. Texts hold no character that XML 1.0 excludes. */
export function writeXml(root: XmlElement): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>'];
  writeElement(root, '', lines);
  return `${lines.join('\n')}\n`;
}

function writeElement(
  { name, attributes, children = [] }: XmlElement,
  indent: string,
  lines: string[],
): void {
  let start = `${indent}<${name}`;
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined) start += ` ${attribute}="${escapeAttribute(String(value))}"`;
  }
  if (children.length === 0) {
    lines.push(`${start}/>`);
    return;
  }
  lines.push(`${start}>`);
  for (const child of children) writeElement(child, `${indent}  `, lines);
  lines.push(`${indent}</${name}>`);
}

function escapeAttribute(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
